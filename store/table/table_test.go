package table_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/table"
)

const rows = "rows"

func open(t *testing.T) *store.Store {
	t.Helper()
	spec := store.TableSpec{Name: rows, Key: store.KeySpec{
		Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}, Sort: store.KeyAttr{Name: "sk", Type: store.KeyString},
	}}
	return storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, spec)
}

func row(sk, state string) attr.Item {
	return attr.Item{"pk": attr.S("a"), "sk": attr.S(sk), "state": attr.S(state)}
}

func key(sk string) attr.Item { return attr.Item{"pk": attr.S("a"), "sk": attr.S(sk)} }

// Each action is done if its condition holds, and otherwise not. state is a reserved word.
func TestActions(t *testing.T) {
	is := func(state string) table.If { return table.When("#state = :is", attr.Item{":is": attr.S(state)}) }
	to := func(state string) table.If {
		return table.When("#state = :is", attr.Item{":is": attr.S(state), ":to": attr.S("new")})
	}
	old := row("1", "on")
	for name, tt := range map[string]struct {
		do    store.WriteItem
		state string // afterwards; empty: no row
		held  bool
	}{
		"put over what was read":          {table.Put(rows, row("1", "new"), table.Same(old, "pk", "state")), "new", true},
		"put over something else":         {table.Put(rows, row("1", "new"), table.Same(row("1", "off"), "pk", "state")), "on", false},
		"put where nothing was":           {table.Put(rows, row("1", "new"), table.Same(nil, "pk")), "on", false},
		"put whatever is there":           {table.Put(rows, row("1", "new"), table.If{}), "new", true},
		"what was not there is there now": {table.Put(rows, row("1", "new"), table.Same(key("1"), "pk", "state")), "on", false},
		"what was not there is not there": {table.Put(rows, row("1", "new"), table.Same(old, "pk", "other_name")), "new", true},
		"update":                          {table.Update(rows, key("1"), "SET #state = :to", to("on")), "new", true},
		"update of another":               {table.Update(rows, key("1"), "SET #state = :to", to("off")), "on", false},
		"update that names alone":         {table.Update(rows, key("1"), "SET #state = :to", table.When("", attr.Item{":to": attr.S("new")})), "new", true},
		"delete":                          {table.Delete(rows, key("1"), is("on")), "", true},
		"delete of another":               {table.Delete(rows, key("1"), is("off")), "on", false},
		"check":                           {table.Check(rows, key("1"), is("on")), "on", true},
		"check of another":                {table.Check(rows, key("1"), is("off")), "on", false},
	} {
		s := open(t)
		if err := s.Update(t.Context(), func(tx *store.Tx) error {
			if _, err := tx.Put(store.PutItem{Table: rows, Item: old}); err != nil {
				return err
			}
			err := tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{tt.do, table.Put(rows, row("2", "beside"), table.If{})}})
			if fault.Is(err, fault.Conflict) == tt.held {
				t.Errorf("%s: %v", name, err)
			}
			now, err := tx.Get(rows, key("1"))
			if now["state"].Str() != tt.state {
				t.Errorf("%s: %v", name, now)
			}
			return err
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Rows for which take reports false are left out; its error ends the list like one of the store; without rows the list is empty, not nil.
func TestCollect(t *testing.T) {
	bad := errors.New("a row that cannot be read")
	s := open(t)
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		collect := func(in, stop string) ([]string, error) {
			q := store.Query{Table: in, KeyCondition: "pk = :pk", Params: expr.Params{Values: attr.Item{":pk": attr.S("a")}}}
			return table.Collect(tx.QueryAll(q), func(row attr.Item) (string, bool, error) {
				if row["state"].Str() == stop {
					return "", true, bad
				}
				return row["sk"].Str(), row["state"].Str() != "off", nil
			})
		}
		if all, err := collect(rows, ""); all == nil || len(all) > 0 || err != nil {
			t.Errorf("of no rows: %v, %v", all, err)
		}
		for _, one := range []attr.Item{row("1", "on"), row("2", "off"), row("3", "on")} {
			if _, err := tx.Put(store.PutItem{Table: rows, Item: one}); err != nil {
				return err
			}
		}
		if all, err := collect(rows, ""); !slices.Equal(all, []string{"1", "3"}) || err != nil {
			t.Errorf("%v, %v", all, err)
		}
		if all, err := collect(rows, "off"); all != nil || !errors.Is(err, bad) {
			t.Errorf("with a bad row: %v, %v", all, err)
		}
		if all, err := collect("no table", ""); all != nil || !fault.Is(err, fault.NotFound) {
			t.Errorf("of no table: %v, %v", all, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
