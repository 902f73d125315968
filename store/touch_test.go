package store_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// touchesOf returns what fn touches.
func touchesOf(t testing.TB, s *store.Store, fn func(*store.Tx) error) (out []store.Touch) {
	t.Helper()
	storetest.Update(t, s, func(tx *store.Tx) error {
		tx.OnTouch(func(touch store.Touch) { out = append(out, touch) })
		return fn(tx)
	})
	return out
}

func wantTouches(t testing.TB, what string, got []store.Touch, want ...store.Touch) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}

func TestTouchedByWrites(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	first := storetest.Ball("a", 1, "bowler", "anna", "wicket", "lbw", "runs", 4, "text", "long")
	shown := storetest.Item("match", "a", "ball", 1, "wicket", "lbw", "runs", 4) // in wicket-index
	size, small := attr.Size(first), attr.Size(shown)
	noOld := func(it attr.Item) func(tx *store.Tx) error {
		return func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "balls", Item: it, NoOld: true})
			return err
		}
	}
	wantTouches(t, "a new item", touchesOf(t, s, noOld(first)), store.Touch{
		Table: "balls", Op: store.OpPut, New: size,
		Indexes: []store.IndexTouch{{Index: "bowler-index", New: size}, {Index: "wicket-index", New: small}},
	})
	second := storetest.Ball("a", 1, "bowler", "anna", "wicket", "lbw", "runs", 4, "text", "longer")
	bigger := attr.Size(second)
	wantTouches(t, "an attribute that one index shows", touchesOf(t, s, noOld(second)), store.Touch{
		Table: "balls", Op: store.OpPut, Old: size, New: bigger,
		Indexes: []store.IndexTouch{{Index: "bowler-index", Old: size, New: bigger}},
	})
	var images store.Images
	got := touchesOf(t, s, func(tx *store.Tx) (err error) {
		images, err = tx.Update(store.UpdateItem{
			Table: "balls", Key: storetest.Ball("a", 1), Update: "SET runs = :r REMOVE bowler", Params: storetest.Values(":r", 6),
		})
		return err
	})
	after := bigger - len("bowler"+"anna")
	wantTouches(t, "keys of both indexes", got, store.Touch{
		Table: "balls", Op: store.OpUpdate, Old: bigger, New: after,
		Indexes: []store.IndexTouch{{Index: "bowler-index", Old: bigger}, {Index: "wicket-index", Old: small, New: small, Moved: true}},
	})
	if images.OldSize != bigger || images.NewSize != after || images.OnlyUpdated().NewSize != after {
		t.Errorf("sizes %d and %d, want %d and %d", images.OldSize, images.NewSize, bigger, after)
	}
	wantTouches(t, "nothing new", touchesOf(t, s, func(tx *store.Tx) error {
		_, err := tx.Update(store.UpdateItem{Table: "balls", Key: storetest.Ball("a", 1)})
		return err
	}), store.Touch{Table: "balls", Op: store.OpUpdate, Old: after, New: after})
	other := storetest.Ball("b", 1)
	wantTouches(t, "a transaction", touchesOf(t, s, func(tx *store.Tx) error {
		return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
			{Check: &store.ConditionCheck{Table: "balls", Key: storetest.Ball("a", 1), Condition: "attribute_exists(runs)"}},
			{Put: &store.PutItem{Table: "balls", Item: other}},
			{Delete: &store.DeleteItem{Table: "balls", Key: storetest.Ball("c", 1)}},
		}})
	}),
		store.Touch{Table: "balls", Old: after},
		store.Touch{Table: "balls", Op: store.OpPut, New: attr.Size(other)},
		store.Touch{Table: "balls", Op: store.OpDelete})
	wantTouches(t, "a batch", touchesOf(t, s, func(tx *store.Tx) error {
		return tx.BatchWrite(store.BatchWrite{"balls": {{Delete: storetest.Ball("b", 1)}}})
	}), store.Touch{Table: "balls", Op: store.OpDelete, Old: attr.Size(other)})
}

// A transaction that was done before reports the items as they are now, and no writes.
func TestTouchedByARepeatedTransaction(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	it, bigger := storetest.Ball("a", 1, "text", "long"), storetest.Ball("a", 1, "text", "longer")
	write := store.TransactWrite{Token: "once", Items: []store.WriteItem{
		{Put: &store.PutItem{Table: "balls", Item: it}},
		{Delete: &store.DeleteItem{Table: "balls", Key: storetest.Ball("a", 2)}},
		{Put: &store.PutItem{Table: "matches", Item: storetest.Item("match", "m")}},
		{Check: &store.ConditionCheck{Table: "balls", Key: storetest.Ball("a", 3), Condition: "attribute_not_exists(ball)"}},
	}}
	var again []store.Touch
	write.Repeated = func(touch store.Touch) { again = append(again, touch) }
	do := func() []store.Touch {
		return touchesOf(t, s, func(tx *store.Tx) error { return tx.TransactWrite(write) })
	}
	if got := do(); len(got) != 4 {
		t.Errorf("%d touches at first", len(got))
	}
	wantTouches(t, "done for the first time", again)
	storetest.Put(t, s, "balls", bigger)
	if err := s.DropTable(t.Context(), "matches"); err != nil {
		t.Fatal(err)
	}
	wantTouches(t, "written by the repetition", do())
	gone := store.Touch{Table: "balls"}
	wantTouches(t, "repeated", again, store.Touch{Table: "balls", Old: attr.Size(bigger)}, gone, store.Touch{Table: "matches"}, gone)
	write.Repeated = nil
	wantTouches(t, "nobody asks", do())
}

func TestTouchedByReads(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	it := storetest.Ball("a", 1, "text", "long")
	storetest.Put(t, s, "balls", it)
	there, gone := store.Touch{Table: "balls", Old: attr.Size(it)}, store.Touch{Table: "balls"}
	keys := []attr.Item{storetest.Ball("a", 2), storetest.Ball("a", 1)}
	wantTouches(t, "Get", touchesOf(t, s, func(tx *store.Tx) error {
		for _, key := range keys {
			if _, err := tx.GetItem(store.GetItem{Table: "balls", Key: key, Projection: "ball"}); err != nil {
				return err
			}
		}
		return nil
	}), gone, there)
	wantTouches(t, "BatchGet", touchesOf(t, s, func(tx *store.Tx) error {
		_, err := tx.BatchGet(store.BatchGet{"balls": {Keys: keys, Projection: "ball"}})
		return err
	}), gone, there)
	wantTouches(t, "TransactGet", touchesOf(t, s, func(tx *store.Tx) error {
		_, err := tx.TransactGet([]store.GetItem{{Table: "balls", Key: keys[0]}, {Table: "balls", Key: keys[1], Projection: "ball"}})
		return err
	}), gone, there)
	wantTouches(t, "after nil", touchesOf(t, s, func(tx *store.Tx) error {
		tx.OnTouch(nil)
		_, err := tx.Get("balls", keys[1])
		return err
	}))
}

// A page reports what was read; for an index, what it shows, whatever filter, projection and Select leave of it.
func TestBytesOfAPage(t *testing.T) {
	spec := storetest.Balls()
	spec.Indexes = append(spec.Indexes, store.IndexSpec{
		Name: "local", Local: true, Key: store.KeySpec{Partition: storetest.Str("match"), Sort: storetest.Num("runs")}, Projection: store.ProjectKeysOnly,
	})
	s := storetest.Open(t, spec)
	var whole, shown, local int
	for i := range 3 {
		it := storetest.Ball("a", i, "bowler", "anna", "wicket", "lbw", "runs", 4, "text", strings.Repeat("x", 5000*i))
		storetest.Put(t, s, "balls", it)
		whole += attr.Size(it)
		shown += attr.Size(storetest.Item("match", "a", "ball", i, "wicket", "lbw", "runs", 4))
		local += attr.Size(storetest.Item("match", "a", "ball", i, "runs", 4))
	}
	match, bowler, wicket := storetest.Values(":v", "a"), storetest.Values(":v", "anna"), storetest.Values(":v", "lbw")
	for _, c := range []struct {
		name           string
		q              store.Query
		bytes, fetched int
	}{
		{"table", store.Query{KeyCondition: "#m = :v", Params: match}, whole, 0},
		{"nothing passes", store.Query{KeyCondition: "#m = :v", Params: match, Filter: "attribute_exists(nothing)"}, whole, 0},
		{"counted", store.Query{KeyCondition: "#m = :v", Params: match, Select: store.SelectCount}, whole, 0},
		{"all of an index", store.Query{Index: "bowler-index", KeyCondition: "bowler = :v", Params: bowler}, whole, 0},
		{"keys of an index", store.Query{Index: "wicket-index", KeyCondition: "wicket = :v", Params: wicket}, shown, 0},
		{"local", store.Query{Index: "local", KeyCondition: "#m = :v", Params: match}, local, 0},
		{"local, all", store.Query{Index: "local", KeyCondition: "#m = :v", Params: match, Select: store.SelectAll}, local, 1 + 2 + 3},
		{"local, more", store.Query{Index: "local", KeyCondition: "#m = :v", Params: match, Projection: "bowler"}, local, 1 + 2 + 3},
	} {
		c.q.Table = "balls"
		if strings.Contains(c.q.KeyCondition, "#m") {
			c.q.Names = map[string]string{"#m": "match"}
		}
		storetest.View(t, s, func(tx *store.Tx) error {
			page, err := tx.Query(c.q)
			if err != nil || page.Bytes != c.bytes || page.Fetched != c.fetched {
				t.Errorf("%s: %d bytes, %d fetched, want %d and %d: %v", c.name, page.Bytes, page.Fetched, c.bytes, c.fetched, err)
			}
			return nil
		})
	}
	storetest.View(t, s, func(tx *store.Tx) error {
		page, err := tx.Scan(store.Scan{Table: "balls", Index: "wicket-index"})
		if err != nil || page.Bytes != shown {
			t.Errorf("scan: %d bytes, want %d: %v", page.Bytes, shown, err)
		}
		return nil
	})
}

// A transaction reports the items that it looked for in vain, and the partitions that it queried, of tables that send.
func TestOnAbsent(t *testing.T) {
	sends, stays := storetest.Balls(), storetest.Balls()
	stays.Name, stays.Policy = "local", store.PolicyLocal
	s := storetest.Open(t, sends, stays)
	storetest.Update(t, s, func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("a", 1)})
		return err
	})
	get := func(table, match string, ball int) func(tx *store.Tx) error {
		return func(tx *store.Tx) error {
			_, err := tx.Get(table, storetest.Ball(match, ball))
			return err
		}
	}
	query := func(table, index, of string) func(tx *store.Tx) error {
		return func(tx *store.Tx) error {
			q := store.Query{Table: table, Index: index, KeyCondition: "#k = :v"}
			q.Names, q.Values = map[string]string{"#k": of}, attr.Item{":v": attr.S("a")}
			_, err := tx.Query(q)
			return err
		}
	}
	update := func(match string) func(tx *store.Tx) error {
		return func(tx *store.Tx) error {
			u := store.UpdateItem{Table: "balls", Key: storetest.Ball(match, 1), Update: "SET runs = :v", Condition: "attribute_exists(ball) AND ball > :v"}
			u.Values = attr.Item{":v": attr.Int(5)}
			if _, err := tx.Update(u); !fault.Is(err, fault.Conflict) {
				t.Errorf("the condition of %s: %v", match, err)
			}
			return nil
		}
	}
	for _, tt := range []struct {
		name string
		do   func(tx *store.Tx) error
		want string
	}{
		{"an item that is here", get("balls", "a", 1), ""},
		{"an item that is not here", get("balls", "a", 2), `balls {"ball":{"N":"2"},"match":{"S":"a"}}`},
		{"in a table that does not send", get("local", "a", 2), ""},
		{"a partition", query("balls", "", "match"), `balls {"match":{"S":"a"}}`},
		{"a partition of a table that does not send", query("local", "", "match"), ""},
		{"an index", query("balls", "bowler-index", "bowler"), ""},
		{"a condition on an item that is here", update("a"), ""},
		{"a condition on an item that is not here", update("b"), `balls {"ball":{"N":"1"},"match":{"S":"b"}}`},
	} {
		var got []string
		storetest.Update(t, s, func(tx *store.Tx) error {
			tx.OnAbsent(func(table string, key attr.Item) { got = append(got, table+" "+string(attr.AppendJSON(nil, key))) })
			return tt.do(tx)
		})
		if strings.Join(slices.Compact(got), "; ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
