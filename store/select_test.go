package store_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// scores has an index of each kind and projection.
func scores() store.TableSpec {
	byGame := store.KeySpec{Partition: storetest.Str("game"), Sort: storetest.Num("at")}
	return store.TableSpec{
		Name: "scores", Key: store.KeySpec{Partition: storetest.Str("player"), Sort: storetest.Str("id")}, TTL: "ttl",
		Indexes: []store.IndexSpec{
			{Name: "all", Key: byGame},
			{Name: "keys", Key: byGame, Projection: store.ProjectKeysOnly},
			{Name: "some", Key: byGame, Projection: store.ProjectInclude, Include: []string{"points"}},
			{
				Name: "local", Local: true, Key: store.KeySpec{Partition: storetest.Str("player"), Sort: storetest.Num("at")},
				Projection: store.ProjectKeysOnly,
			},
		},
	}
}

func TestSelect(t *testing.T) {
	s := storetest.Open(t, scores())
	storetest.Put(t, s, "scores", storetest.Item("player", "ann", "id", "1", "game", "g", "at", 1, "points", 7, "note", "x"))
	for name, c := range map[string]struct {
		index      string
		sel        store.Select
		projection string
		want       []string // attributes; nil: refused
		err        string
	}{
		"table": {want: []string{"at", "game", "id", "note", "player", "points"}},
		"table, all": {
			sel: store.SelectAll, want: []string{"at", "game", "id", "note", "player", "points"},
		},
		"table, specific":           {sel: store.SelectSpecific, projection: "points, id", want: []string{"id", "points"}},
		"table, projection":         {projection: "note", want: []string{"note"}},
		"table, count":              {sel: store.SelectCount, want: []string{}},
		"table, projected":          {sel: store.SelectProjected, err: "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"},
		"all":                       {index: "all", want: []string{"at", "game", "id", "note", "player", "points"}},
		"all, all":                  {index: "all", sel: store.SelectAll, want: []string{"at", "game", "id", "note", "player", "points"}},
		"keys":                      {index: "keys", want: []string{"at", "game", "id", "player"}},
		"keys, projected":           {index: "keys", sel: store.SelectProjected, want: []string{"at", "game", "id", "player"}},
		"keys, projection":          {index: "keys", projection: "id", want: []string{"id"}},
		"keys, count":               {index: "keys", sel: store.SelectCount, want: []string{}},
		"some":                      {index: "some", want: []string{"at", "game", "id", "player", "points"}},
		"some, projection":          {index: "some", projection: "points", want: []string{"points"}},
		"local":                     {index: "local", want: []string{"at", "id", "player"}},
		"local, all":                {index: "local", sel: store.SelectAll, want: []string{"at", "game", "id", "note", "player", "points"}},
		"local, fetched projection": {index: "local", projection: "note", want: []string{"note"}},
		"keys, all": {index: "keys", sel: store.SelectAll, err: "One or more parameter values were invalid: Select type " +
			"ALL_ATTRIBUTES is not supported for global secondary index keys because its projection type is not ALL"},
		"some, other projection": {index: "some", projection: "note, points", err: "One or more parameter values were " +
			"invalid: Global secondary index some does not project [note]"},
		"specific without projection": {sel: store.SelectSpecific, err: "Must specify the AttributesToGet or " +
			"ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"},
		"count with projection": {sel: store.SelectCount, projection: "id", err: "Cannot specify the ProjectionExpression " +
			"when choosing to get only the Count"},
		"all with projection": {sel: store.SelectAll, projection: "id", err: "Cannot specify the ProjectionExpression " +
			"when choosing to get ALL_ATTRIBUTES"},
	} {
		t.Run(name, func(t *testing.T) {
			q := store.Query{
				Table: "scores", Index: c.index, Select: c.sel, Projection: c.projection,
				KeyCondition: "player = :k", Params: storetest.Values(":k", "ann"),
			}
			if c.index != "" && c.index != "local" {
				q.KeyCondition, q.Params = "game = :k", storetest.Values(":k", "g")
			}
			storetest.View(t, s, func(tx *store.Tx) error {
				p, err := tx.Query(q)
				if c.err != "" {
					storetest.WantFault(t, err, fault.Invalid, "validation")
					if err == nil || err.Error() != c.err {
						t.Errorf("got %v, want %s", err, c.err)
					}
					return nil
				}
				if err != nil {
					return err
				}
				wantPage(t, p, c.want)
				var encoded []attr.Item
				again, err := tx.QueryEncoded(q, func(e attr.Encoded) error {
					it, err := e.Decode()
					encoded = append(encoded, it)
					return err
				})
				again.Items = encoded
				wantPage(t, again, c.want)
				return err
			})
		})
	}
}

// wantPage fails the test unless a page has one item read, with these attributes, or none returned.
func wantPage(t *testing.T, p store.Page, want []string) {
	t.Helper()
	if p.Count != 1 || p.Scanned != 1 {
		t.Errorf("count %d, scanned %d", p.Count, p.Scanned)
	}
	if len(want) == 0 && len(p.Items) == 0 {
		return
	}
	if len(p.Items) != 1 || !slices.Equal(slices.Sorted(maps.Keys(p.Items[0])), want) {
		t.Errorf("got %v, want %v", p.Items, want)
	}
}

func TestFilterOnKeysIsRefusedInAQuery(t *testing.T) {
	s := storetest.Open(t, scores())
	storetest.Put(t, s, "scores", storetest.Item("player", "ann", "id", "1", "game", "g", "at", 1))
	storetest.View(t, s, func(tx *store.Tx) error {
		q := store.Query{
			Table: "scores", KeyCondition: "player = :k", Filter: "points = :k OR NOT begins_with(id, :k)",
			Params: storetest.Values(":k", "ann"),
		}
		_, err := tx.Query(q)
		const want = "Filter Expression can only contain non-primary key attributes: Primary key attribute: id"
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		q.Index, q.KeyCondition = "all", "game = :k" // there the table's keys are ordinary attributes
		if _, err := tx.Query(q); err != nil {
			t.Error(err)
		}
		p, err := tx.Scan(store.Scan{Table: "scores", Filter: "id = :id", Params: storetest.Values(":id", "1")})
		if p.Count != 1 {
			t.Errorf("a scan filters on keys: %d, %v", p.Count, err)
		}
		return err
	})
}

// TestSegments: every item is in one segment, in all its pages together, and stays there.
func TestSegments(t *testing.T) {
	s := storetest.Open(t, scores(), storetest.Balls())
	want := map[string]bool{}
	for i := range 60 {
		id := string(rune('a'+i%26)) + string(rune('a'+i/26))
		storetest.Put(t, s, "scores", storetest.Item("player", "p"+id, "id", id, "game", id, "at", i))
		storetest.Put(t, s, "balls", storetest.Ball("m"+id, i, "bowler", id))
		want[id] = true
	}
	for _, c := range []store.Scan{
		{Table: "scores", TotalSegments: 1}, {Table: "scores", TotalSegments: 4}, {Table: "scores", TotalSegments: 7, Limit: 2},
		{Table: "scores", Index: "keys", TotalSegments: 3, Limit: 3}, {Table: "balls", Index: "bowler-index", TotalSegments: 5},
	} {
		got, used := map[string]bool{}, 0
		for c.Segment = range c.TotalSegments {
			before := len(got)
			for _, it := range scanAll(t, s, c) {
				id := it["id"].Str() + it["bowler"].Str()
				if got[id] {
					t.Errorf("%+v: %s again", c, id)
				}
				got[id] = true
			}
			if len(got) > before {
				used++
			}
		}
		if !maps.Equal(got, want) || used != c.TotalSegments {
			t.Errorf("%s %s: %d items of %d in %d of %d segments", c.Table, c.Index, len(got), len(want), used, c.TotalSegments)
		}
	}
}

func TestSegmentsAreChecked(t *testing.T) {
	s := storetest.Open(t, scores())
	storetest.View(t, s, func(tx *store.Tx) error {
		for _, q := range []store.Scan{{Segment: 1}, {Segment: -1, TotalSegments: 2}, {Segment: 2, TotalSegments: 2}, {TotalSegments: 1_000_001}} {
			q.Table = "scores"
			_, err := tx.Scan(q)
			storetest.WantFault(t, err, fault.Invalid, "validation")
		}
		return nil
	})
}

func scanAll(t *testing.T, s *store.Store, q store.Scan) (all []attr.Item) {
	t.Helper()
	storetest.View(t, s, func(tx *store.Tx) error {
		for {
			p, err := tx.Scan(q)
			if err != nil {
				return err
			}
			all = append(all, p.Items...)
			if q.StartKey = p.LastKey; p.LastKey == nil {
				return nil
			}
		}
	})
	return all
}

// TestAPageEndsOverWhatIsHidden: a page over expired items only ends, and says where to continue.
func TestAPageEndsOverWhatIsHidden(t *testing.T) {
	s := storetest.Open(t, scores())
	const many = 10_001
	past := time.Now().Unix() - 60
	for n := 0; n < many; {
		storetest.Update(t, s, func(tx *store.Tx) error {
			for range 1000 {
				n++
				it := storetest.Item("player", "ann", "id", fmt.Sprintf("%06d", n), "ttl", attr.Int(past))
				if n == many {
					delete(it, "ttl")
				}
				if _, err := tx.Put(store.PutItem{Table: "scores", Item: it}); err != nil || n == many {
					return err
				}
			}
			return nil
		})
	}
	storetest.View(t, s, func(tx *store.Tx) error {
		p, err := tx.Scan(store.Scan{Table: "scores"})
		if err != nil || p.Scanned != 0 || p.LastKey == nil {
			t.Fatalf("%d items, last key %v, %v", p.Scanned, p.LastKey, err)
		}
		p, err = tx.Scan(store.Scan{Table: "scores", StartKey: p.LastKey})
		if p.Scanned != 1 || p.LastKey != nil {
			t.Errorf("then %d items, last key %v", p.Scanned, p.LastKey)
		}
		return err
	})
}

func TestShowExpired(t *testing.T) {
	s := storetest.Open(t, scores())
	old := storetest.Item("player", "ann", "id", "1", "ttl", attr.Int(time.Now().Unix()-60))
	storetest.Put(t, s, "scores", old)
	storetest.View(t, s, func(tx *store.Tx) error {
		key := storetest.Item("player", "ann", "id", "1")
		hidden, err := tx.Get("scores", key)
		if hidden != nil || err != nil {
			t.Errorf("shown: %v, %v", hidden, err)
		}
		tx.ShowExpired()
		shown, err := tx.GetItem(store.GetItem{
			Table: "scores", Key: key, Projection: "#t", Params: expr.Params{Names: map[string]string{"#t": "ttl"}},
		})
		storetest.WantItem(t, "shown", shown, storetest.Item("ttl", old["ttl"]))
		p, err2 := tx.Scan(store.Scan{Table: "scores"})
		if p.Count != 1 || err2 != nil {
			t.Errorf("scan: %d, %v", p.Count, err2)
		}
		return err
	})
}

// TestManyTinyItemsAreOnePage: a page is limited by its size, not by a number of items.
func TestManyTinyItemsAreOnePage(t *testing.T) {
	s := storetest.Open(t, scores())
	const many = 10_500
	for n := 0; n < many; {
		storetest.Update(t, s, func(tx *store.Tx) error {
			for range 1500 {
				n++
				if _, err := tx.Put(store.PutItem{Table: "scores", Item: storetest.Item("player", "a", "id", strconv.Itoa(n))}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	storetest.View(t, s, func(tx *store.Tx) error {
		p, err := tx.Query(store.Query{Table: "scores", KeyCondition: "player = :a", Params: storetest.Values(":a", "a")})
		if p.Count != many || p.LastKey != nil {
			t.Errorf("%d items, last key %v", p.Count, p.LastKey)
		}
		return err
	})
}

func TestALentItemIsNotTheTransaction(t *testing.T) {
	s := storetest.Open(t, scores())
	storetest.Put(t, s, "scores", storetest.Item("player", "ann", "id", "1"))
	key := storetest.Item("player", "ann", "id", "1")
	storetest.View(t, s, func(tx *store.Tx) error {
		err := tx.GetEncoded("scores", key, func(attr.Encoded) error {
			_, err := tx.Get("scores", key)
			return err
		})
		storetest.WantFault(t, err, fault.Internal, "tx_lent")
		it, err := tx.Get("scores", key)
		storetest.WantItem(t, "behind it", it, key)
		return err
	})
}
