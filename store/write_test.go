package store_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

func TestWritesAreValidated(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	long := func(n int) string { return strings.Repeat("k", n) }
	puts := map[string]struct {
		item attr.Item
		says string
	}{
		"no key":         {storetest.Item("match", "final"), "Missing the key ball in the item"},
		"wrong type":     {storetest.Item("match", "final", "ball", "one"), "Type mismatch for key ball expected: N actual: S"},
		"empty key":      {storetest.Ball("", 1), "cannot contain an empty string value. Key: match"},
		"long partition": {storetest.Ball(long(2049), 1), "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		"index type":     {storetest.Ball("final", 1, "bowler", 7), "Type mismatch for Index Key bowler Expected: S Actual: N IndexName: bowler-index"},
		"index empty":    {storetest.Ball("final", 1, "bowler", ""), "IndexName: bowler-index, IndexKey: bowler"},
		"index long":     {storetest.Ball("final", 1, "bowler", long(2049)), "Size of hashkey"},
		"too large":      {storetest.Ball("final", 1, "text", long(409_600)), "Item size has exceeded the maximum allowed size"},
		"absent value":   {storetest.Ball("final", 1, "text", attr.Value{}), "Supplied AttributeValue is empty"},
	}
	for name, c := range puts {
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "balls", Item: c.item})
			return err
		})
		storetest.WantFault(t, err, fault.Invalid, "validation")
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "absent value" {
			continue // it has no encoding
		}
		encoded := s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.PutEncoded(store.PutItem{Table: "balls"}, attr.Encode(nil, c.item))
			return err
		})
		if encoded == nil || err == nil || encoded.Error() != err.Error() {
			t.Errorf("%s: encoded %v, not %v", name, encoded, err)
		}
	}
	seq := s.Seq()
	storetest.Put(t, s, "balls", storetest.Ball(long(2048), 1, "bowler", long(2048)), storetest.Ball("final", 1, "wicket", "bowled"))
	if s.Seq() != seq+2 {
		t.Error("the largest keys were refused")
	}
	keys := map[string]attr.Item{
		"half":       storetest.Item("match", "final"),
		"more":       storetest.Ball("final", 1, "runs", 1),
		"wrong type": storetest.Item("match", "final", "ball", "one"),
		"other name": storetest.Item("match", "final", "over", 1),
		"none":       nil,
	}
	for name, key := range keys {
		storetest.Update(t, s, func(tx *store.Tx) error {
			_, err := tx.Get("balls", key)
			_, err2 := tx.Delete(store.DeleteItem{Table: "balls", Key: key})
			_, err3 := tx.Update(store.UpdateItem{Table: "balls", Key: key, Update: "REMOVE runs"})
			for _, err := range []error{err, err2, err3} {
				storetest.WantFault(t, err, fault.Invalid, "validation")
				if err == nil || err.Error() != "The provided key element does not match the schema" {
					t.Errorf("%s: %v", name, err)
				}
			}
			return nil
		})
	}
}

func TestUnknownTablesAndExpressions(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	key := storetest.Ball("final", 1)
	storetest.Update(t, s, func(tx *store.Tx) error {
		_, get := tx.Get("bowls", key)
		_, put := tx.Put(store.PutItem{Table: "bowls", Item: key})
		_, upd := tx.Update(store.UpdateItem{Table: "bowls", Key: key})
		_, del := tx.Delete(store.DeleteItem{Table: "bowls", Key: key})
		_, query := tx.Query(store.Query{Table: "bowls", KeyCondition: "a = :b", Params: storetest.Values(":b", 1)})
		_, scan := tx.Scan(store.Scan{Table: "bowls"})
		for _, err := range []error{get, put, upd, del, query, scan} {
			storetest.WantFault(t, err, fault.NotFound, "table_not_found")
		}
		_, put = tx.Put(store.PutItem{Table: "balls", Item: key, Condition: "runs = :r"})
		_, upd = tx.Update(store.UpdateItem{Table: "balls", Key: key, Update: "SET #m = :r", Params: storetest.Values(":r", 1)})
		_, del = tx.Delete(store.DeleteItem{Table: "balls", Key: key, Params: storetest.Values(":unused", 1)})
		_, query = tx.Query(store.Query{Table: "balls"})
		_, scan = tx.Scan(store.Scan{Table: "balls", Index: "no-index"})
		_, typed := tx.Query(store.Query{Table: "balls", Index: "bowler-index", KeyCondition: "bowler = :b", Params: storetest.Values(":b", 1)})
		_, limit := tx.Scan(store.Scan{Table: "balls", Limit: -1})
		for _, err := range []error{put, upd, del, query, scan, typed, limit} {
			storetest.WantFault(t, err, fault.Invalid, "validation")
		}
		return nil
	})
}

func TestKeysCannotBeUpdated(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	for _, text := range []string{"SET ball = :n", "REMOVE ball", "ADD ball :n"} {
		u := store.UpdateItem{Table: "balls", Key: storetest.Ball("final", 1), Update: text}
		if strings.Contains(text, ":n") {
			u.Params = storetest.Values(":n", 1)
		}
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Update(u)
			return err
		})
		storetest.WantFault(t, err, fault.Invalid, "validation")
		if err == nil || !strings.Contains(err.Error(), "Cannot update attribute ball. This attribute is part of the key") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestConditionFailedCarriesTheItem(t *testing.T) {
	s := storetest.Open(t, storetest.Matches())
	storetest.Put(t, s, "matches", storetest.Item("match", "final", "status", "live"))
	key, idle := storetest.Item("match", "final"), storetest.Values(":idle", "idle")
	idle.Names = map[string]string{"#s": "status"}
	storetest.Update(t, s, func(tx *store.Tx) error {
		_, put := tx.Put(store.PutItem{Table: "matches", Item: key, Condition: "#s = :idle", Params: idle})
		_, upd := tx.Update(store.UpdateItem{Table: "matches", Key: key, Condition: "#s = :idle", Params: idle})
		_, del := tx.Delete(store.DeleteItem{Table: "matches", Key: key, Condition: "#s = :idle", Params: idle})
		for _, err := range []error{put, upd, del} {
			storetest.WantFault(t, err, fault.Conflict, "condition_failed")
			failed, ok := errors.AsType[*store.ConditionFailedError](err)
			if !ok || failed.Table != "matches" {
				t.Fatalf("got %#v", err)
			}
			storetest.WantItem(t, "old", failed.Old, storetest.Item("match", "final", "status", "live"))
		}
		_, del = tx.Delete(store.DeleteItem{Table: "matches", Key: storetest.Item("match", "semi"), Condition: "#s = :idle", Params: idle})
		if failed, ok := errors.AsType[*store.ConditionFailedError](del); !ok || failed.Old != nil {
			t.Errorf("delete of nothing: %#v", del)
		}
		return nil // failed writes have changed nothing
	})
	storetest.WantItem(t, "item", storetest.Get(t, s, "matches", key), storetest.Item("match", "final", "status", "live"))
}

func TestImagesOfWrites(t *testing.T) {
	s := storetest.Open(t, storetest.Matches())
	storetest.Update(t, s, func(tx *store.Tx) error {
		key := storetest.Item("match", "final")
		up := store.UpdateItem{Table: "matches", Key: key, Update: "ADD runs :n", Params: storetest.Values(":n", 4)}
		images, err := tx.Update(up)
		storetest.WantItem(t, "old", images.Old, nil)
		storetest.WantItem(t, "upsert", images.New, storetest.Item("match", "final", "runs", 4))
		images, err2 := tx.Update(up)
		storetest.WantItem(t, "old", images.Old, storetest.Item("match", "final", "runs", 4))
		storetest.WantItem(t, "update", images.New, storetest.Item("match", "final", "runs", 8))
		images, err3 := tx.Update(store.UpdateItem{Table: "matches", Key: key})
		storetest.WantItem(t, "no expression", images.New, storetest.Item("match", "final", "runs", 8))
		images.New["runs"] = attr.Int(0) // the caller may change it
		old, err4 := tx.Put(store.PutItem{Table: "matches", Item: storetest.Item("match", "final", "x", 1)})
		storetest.WantItem(t, "put", old, storetest.Item("match", "final", "runs", 8))
		old, err7 := tx.Put(store.PutItem{Table: "matches", Item: storetest.Item("match", "final", "x", 1), NoOld: true})
		storetest.WantItem(t, "put, old not wanted", old, nil)
		old, err5 := tx.Delete(store.DeleteItem{Table: "matches", Key: key})
		storetest.WantItem(t, "delete", old, storetest.Item("match", "final", "x", 1))
		images, err6 := tx.Update(store.UpdateItem{Table: "matches", Key: key})
		storetest.WantItem(t, "upsert of a key", images.New, key)
		return errors.Join(err, err2, err3, err4, err5, err6, err7)
	})
}

// TestUpdateMovesIndexEntries: entries follow the attributes, and none is left behind (the check at the end).
func TestUpdateMovesIndexEntries(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	count := func(index, condition string, v any) (n int) {
		storetest.View(t, s, func(tx *store.Tx) error {
			p, err := tx.Query(store.Query{Table: "balls", Index: index, KeyCondition: condition, Params: storetest.Values(":v", v)})
			n = len(p.Items)
			return err
		})
		return n
	}
	change := func(text string, pairs ...any) {
		storetest.Update(t, s, func(tx *store.Tx) error {
			_, err := tx.Update(store.UpdateItem{Table: "balls", Key: storetest.Ball("final", 1), Update: text, Params: storetest.Values(pairs...)})
			return err
		})
	}
	steps := []struct {
		text   string
		pairs  []any
		archer int
		bowled int
	}{
		{"SET bowler = :b", []any{":b", "archer"}, 1, 0},
		{"SET wicket = :w", []any{":w", "bowled"}, 1, 0}, // no runs yet: not in the index
		{"SET runs = :r", []any{":r", 0}, 1, 1},
		{"SET runs = :r", []any{":r", 4}, 1, 1},
		{"SET bowler = :b REMOVE wicket", []any{":b", "wood"}, 0, 0},
	}
	for _, step := range steps {
		change(step.text, step.pairs...)
		if a, b := count("bowler-index", "bowler = :v", "archer"), count("wicket-index", "wicket = :v", "bowled"); a != step.archer || b != step.bowled {
			t.Errorf("%s: %d and %d entries", step.text, a, b)
		}
	}
}

// An update that only removes and deletes does not create a missing item: no row, no record, no image. Its condition is still judged.
func TestRemovingFromNoItemLeavesNone(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	letters, err := attr.SS("a", "b")
	if err != nil {
		t.Fatal(err)
	}
	params := store.UpdateItem{}
	params.Values = attr.Item{":s": letters}
	updates := []store.UpdateItem{
		{Update: "REMOVE runs"},
		{Update: "REMOVE runs, bowler"},
		{Update: "REMOVE a.b"},
		{Update: "REMOVE a[0], c[1].d"},
		{Update: "DELETE tags :s", Params: params.Params},
		{Update: "DELETE a.b :s REMOVE c", Params: params.Params},
		{Update: "REMOVE runs", Condition: "attribute_not_exists(runs)"},
	}
	seq := s.Seq()
	for i, u := range updates {
		u.Table, u.Key = "balls", storetest.Ball("final", 1)
		storetest.Update(t, s, func(tx *store.Tx) error {
			images, err := tx.Update(u)
			if images.Old != nil || images.New != nil || images.NewSize != 0 || images.OnlyUpdated().New != nil {
				t.Errorf("%s: the images are %+v", u.Update, images)
			}
			return err
		})
		storetest.Update(t, s, func(tx *store.Tx) error {
			return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{{Update: &u}}, Token: "removing" + strconv.Itoa(i)})
		})
	}
	refused := store.UpdateItem{Table: "balls", Key: storetest.Ball("final", 1), Update: "REMOVE runs", Condition: "attribute_exists(runs)"}
	err = s.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Update(refused)
		return err
	})
	if _, ok := err.(*store.ConditionFailedError); !ok { //nolint:errorlint // the store gives it as it is
		t.Errorf("a condition that does not hold: %v", err)
	}
	if s.Seq() != seq {
		t.Errorf("%d journal records of updates that changed nothing", s.Seq()-seq)
	}
	storetest.Update(t, s, func(tx *store.Tx) error {
		got, err := tx.Get("balls", storetest.Ball("final", 1))
		if got != nil {
			t.Errorf("the item is %v", got)
		}
		return err
	})
	for _, creates := range []string{"", "SET tags = :s", "ADD tags :s", "REMOVE a SET tags = :s"} {
		u := store.UpdateItem{Table: "balls", Key: storetest.Ball("final", 2), Update: creates}
		if creates != "" {
			u.Params = params.Params
		}
		storetest.Update(t, s, func(tx *store.Tx) error {
			images, err := tx.Update(u)
			if images.New == nil {
				t.Errorf("%q creates no item", creates)
			}
			return err
		})
		storetest.Update(t, s, func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 2)})
			return err
		})
	}
}

// TestPutEncodedIsPut: row, index entries, old item and condition are the same as for the item.
func TestPutEncodedIsPut(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	first := storetest.Ball("final", 1, "bowler", "anna", "runs", 4, "tags", attr.L(attr.S("a"), attr.Int(1)))
	second := storetest.Ball("final", 1, "bowler", "bea", "runs", 6)
	storetest.Put(t, s, "balls", first)
	put := func(p store.PutItem) (old attr.Item, err error) {
		p.Table = "balls"
		updated := s.Update(t.Context(), func(tx *store.Tx) error {
			old, err = tx.PutEncoded(p, attr.Encode(nil, second))
			return err
		})
		return old, updated
	}
	if _, err := put(store.PutItem{Condition: "attribute_not_exists(ball)"}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the condition does not hold: %v", err)
	}
	old, err := put(store.PutItem{Condition: "runs = :four", Params: expr.Params{Values: attr.Item{":four": attr.Int(4)}}})
	if err != nil {
		t.Fatal(err)
	}
	storetest.WantItem(t, "old", old, first)
	storetest.WantItem(t, "new", storetest.Get(t, s, "balls", storetest.Item("match", "final", "ball", 1)), second)
	for bowler, want := range map[string]int{"anna": 0, "bea": 1} {
		storetest.View(t, s, func(tx *store.Tx) error {
			page, err := tx.Query(store.Query{Table: "balls", Index: "bowler-index", KeyCondition: "bowler = :b", Params: expr.Params{
				Values: attr.Item{":b": attr.S(bowler)},
			}})
			if len(page.Items) != want {
				t.Errorf("%s: %d entries, want %d", bowler, len(page.Items), want)
			}
			return err
		})
	}
	counts, err := s.Count(t.Context(), "balls")
	if err != nil || counts.Items != 1 || counts.Bytes != int64(attr.Size(second)) {
		t.Errorf("%+v, %v; want one item of %d bytes", counts, err, attr.Size(second))
	}
}
