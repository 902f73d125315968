package store_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

func TestWritesAreValidated(t *testing.T) {
	s := storetest.Open(t, balls(), matches())
	long := func(n int) string { return strings.Repeat("k", n) }
	puts := map[string]struct {
		item attr.Item
		says string
	}{
		"no key":         {item("match", "final"), "Missing the key ball in the item"},
		"wrong type":     {item("match", "final", "ball", "one"), "Type mismatch for key ball expected: N actual: S"},
		"empty key":      {ball("", 1), "cannot contain an empty string value. Key: match"},
		"long partition": {ball(long(2049), 1), "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		"index type":     {ball("final", 1, "bowler", 7), "Type mismatch for Index Key bowler Expected: S Actual: N IndexName: bowler-index"},
		"index empty":    {ball("final", 1, "bowler", ""), "IndexName: bowler-index, IndexKey: bowler"},
		"index long":     {ball("final", 1, "bowler", long(2049)), "Size of hashkey"},
		"too large":      {ball("final", 1, "text", long(409_600)), "Item size has exceeded the maximum allowed size"},
		"absent value":   {ball("final", 1, "text", attr.Value{}), "Supplied AttributeValue is empty"},
	}
	for name, c := range puts {
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "balls", Item: c.item})
			return err
		})
		wantFault(t, err, fault.Invalid, "validation")
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	seq := s.Seq()
	put(t, s, "balls", ball(long(2048), 1, "bowler", long(2048)), ball("final", 1, "wicket", "bowled"))
	if s.Seq() != seq+2 {
		t.Error("the largest keys were refused")
	}
	keys := map[string]attr.Item{
		"half":       item("match", "final"),
		"more":       ball("final", 1, "runs", 1),
		"wrong type": item("match", "final", "ball", "one"),
		"other name": item("match", "final", "over", 1),
		"none":       nil,
	}
	for name, key := range keys {
		update(t, s, func(tx *store.Tx) error {
			_, err := tx.Get("balls", key)
			_, err2 := tx.Delete(store.DeleteItem{Table: "balls", Key: key})
			_, err3 := tx.Update(store.UpdateItem{Table: "balls", Key: key, Update: "REMOVE runs"})
			for _, err := range []error{err, err2, err3} {
				wantFault(t, err, fault.Invalid, "validation")
				if err == nil || err.Error() != "The provided key element does not match the schema" {
					t.Errorf("%s: %v", name, err)
				}
			}
			return nil
		})
	}
}

func TestUnknownTablesAndExpressions(t *testing.T) {
	s := storetest.Open(t, balls())
	key := ball("final", 1)
	update(t, s, func(tx *store.Tx) error {
		_, get := tx.Get("bowls", key)
		_, put := tx.Put(store.PutItem{Table: "bowls", Item: key})
		_, upd := tx.Update(store.UpdateItem{Table: "bowls", Key: key})
		_, del := tx.Delete(store.DeleteItem{Table: "bowls", Key: key})
		_, query := tx.Query(store.Query{Table: "bowls", KeyCondition: "a = :b", Params: values(":b", 1)})
		_, scan := tx.Scan(store.Scan{Table: "bowls"})
		for _, err := range []error{get, put, upd, del, query, scan} {
			wantFault(t, err, fault.NotFound, "table_not_found")
		}
		_, put = tx.Put(store.PutItem{Table: "balls", Item: key, Condition: "runs = :r"})
		_, upd = tx.Update(store.UpdateItem{Table: "balls", Key: key, Update: "SET #m = :r", Params: values(":r", 1)})
		_, del = tx.Delete(store.DeleteItem{Table: "balls", Key: key, Params: values(":unused", 1)})
		_, query = tx.Query(store.Query{Table: "balls"})
		_, scan = tx.Scan(store.Scan{Table: "balls", Index: "no-index"})
		_, typed := tx.Query(store.Query{Table: "balls", Index: "bowler-index", KeyCondition: "bowler = :b", Params: values(":b", 1)})
		_, limit := tx.Scan(store.Scan{Table: "balls", Limit: -1})
		for _, err := range []error{put, upd, del, query, scan, typed, limit} {
			wantFault(t, err, fault.Invalid, "validation")
		}
		return nil
	})
}

func TestKeysCannotBeUpdated(t *testing.T) {
	s := storetest.Open(t, balls())
	for _, text := range []string{"SET ball = :n", "REMOVE ball", "ADD ball :n"} {
		u := store.UpdateItem{Table: "balls", Key: ball("final", 1), Update: text}
		if strings.Contains(text, ":n") {
			u.Params = values(":n", 1)
		}
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Update(u)
			return err
		})
		wantFault(t, err, fault.Invalid, "validation")
		if err == nil || !strings.Contains(err.Error(), "Cannot update attribute ball. This attribute is part of the key") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestConditionFailedCarriesTheItem(t *testing.T) {
	s := storetest.Open(t, matches())
	put(t, s, "matches", item("match", "final", "status", "live"))
	key, idle := item("match", "final"), values(":idle", "idle")
	idle.Names = map[string]string{"#s": "status"}
	update(t, s, func(tx *store.Tx) error {
		_, put := tx.Put(store.PutItem{Table: "matches", Item: key, Condition: "#s = :idle", Params: idle})
		_, upd := tx.Update(store.UpdateItem{Table: "matches", Key: key, Condition: "#s = :idle", Params: idle})
		_, del := tx.Delete(store.DeleteItem{Table: "matches", Key: key, Condition: "#s = :idle", Params: idle})
		for _, err := range []error{put, upd, del} {
			wantFault(t, err, fault.Conflict, "condition_failed")
			failed, ok := errors.AsType[*store.ConditionFailedError](err)
			if !ok || failed.Table != "matches" {
				t.Fatalf("got %#v", err)
			}
			wantItem(t, "old", failed.Old, item("match", "final", "status", "live"))
		}
		_, del = tx.Delete(store.DeleteItem{Table: "matches", Key: item("match", "semi"), Condition: "#s = :idle", Params: idle})
		if failed, ok := errors.AsType[*store.ConditionFailedError](del); !ok || failed.Old != nil {
			t.Errorf("delete of nothing: %#v", del)
		}
		return nil // what failed has changed nothing
	})
	wantItem(t, "item", get(t, s, "matches", key), item("match", "final", "status", "live"))
}

func TestImagesOfWrites(t *testing.T) {
	s := storetest.Open(t, matches())
	update(t, s, func(tx *store.Tx) error {
		key := item("match", "final")
		up := store.UpdateItem{Table: "matches", Key: key, Update: "ADD runs :n", Params: values(":n", 4)}
		images, err := tx.Update(up)
		wantItem(t, "old", images.Old, nil)
		wantItem(t, "upsert", images.New, item("match", "final", "runs", 4))
		images, err2 := tx.Update(up)
		wantItem(t, "old", images.Old, item("match", "final", "runs", 4))
		wantItem(t, "update", images.New, item("match", "final", "runs", 8))
		images, err3 := tx.Update(store.UpdateItem{Table: "matches", Key: key})
		wantItem(t, "no expression", images.New, item("match", "final", "runs", 8))
		images.New["runs"] = attr.Int(0) // the caller's to change
		old, err4 := tx.Put(store.PutItem{Table: "matches", Item: item("match", "final", "x", 1)})
		wantItem(t, "put", old, item("match", "final", "runs", 8))
		old, err7 := tx.Put(store.PutItem{Table: "matches", Item: item("match", "final", "x", 1), NoOld: true})
		wantItem(t, "put, old not wanted", old, nil)
		old, err5 := tx.Delete(store.DeleteItem{Table: "matches", Key: key})
		wantItem(t, "delete", old, item("match", "final", "x", 1))
		images, err6 := tx.Update(store.UpdateItem{Table: "matches", Key: key})
		wantItem(t, "upsert of a key", images.New, key)
		return errors.Join(err, err2, err3, err4, err5, err6, err7)
	})
}

// TestUpdateMovesIndexEntries: entries go with the attributes, and none is left behind (the check at the end).
func TestUpdateMovesIndexEntries(t *testing.T) {
	s := storetest.Open(t, balls())
	count := func(index, condition string, v any) (n int) {
		view(t, s, func(tx *store.Tx) error {
			p, err := tx.Query(store.Query{Table: "balls", Index: index, KeyCondition: condition, Params: values(":v", v)})
			n = len(p.Items)
			return err
		})
		return n
	}
	change := func(text string, pairs ...any) {
		update(t, s, func(tx *store.Tx) error {
			_, err := tx.Update(store.UpdateItem{Table: "balls", Key: ball("final", 1), Update: text, Params: values(pairs...)})
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

// An update that only removes and deletes leaves no item where there is none: no row, no record, no image. Its condition is
// judged all the same.
func TestRemovingFromNoItemLeavesNone(t *testing.T) {
	s := storetest.Open(t, balls(), matches())
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
		u.Table, u.Key = "balls", ball("final", 1)
		update(t, s, func(tx *store.Tx) error {
			images, err := tx.Update(u)
			if images.Old != nil || images.New != nil || images.NewSize != 0 || images.Updated().New != nil {
				t.Errorf("%s: the images are %+v", u.Update, images)
			}
			return err
		})
		update(t, s, func(tx *store.Tx) error {
			return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{{Update: &u}}, Token: "removing" + strconv.Itoa(i)})
		})
	}
	refused := store.UpdateItem{Table: "balls", Key: ball("final", 1), Update: "REMOVE runs", Condition: "attribute_exists(runs)"}
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
	update(t, s, func(tx *store.Tx) error {
		got, err := tx.Get("balls", ball("final", 1))
		if got != nil {
			t.Errorf("the item is %v", got)
		}
		return err
	})
	for _, creates := range []string{"", "SET tags = :s", "ADD tags :s", "REMOVE a SET tags = :s"} {
		u := store.UpdateItem{Table: "balls", Key: ball("final", 2), Update: creates}
		if creates != "" {
			u.Params = params.Params
		}
		update(t, s, func(tx *store.Tx) error {
			images, err := tx.Update(u)
			if images.New == nil {
				t.Errorf("%q creates no item", creates)
			}
			return err
		})
		update(t, s, func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: ball("final", 2)})
			return err
		})
	}
}
