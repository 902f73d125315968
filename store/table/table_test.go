package table_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/table"
)

var rows = table.Handle{Table: "rows", PK: "pk", SK: "sk"}

func open(t *testing.T) *store.Store {
	t.Helper()
	spec := store.TableSpec{Name: rows.Table, Key: table.Keys("pk", "sk"), Indexes: []store.IndexSpec{
		{Name: "by-kind", Key: table.Keys("kind", "sk"), Projection: store.ProjectAll},
	}}
	return storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, spec)
}

func row(sk, state string) attr.Item {
	return attr.Item{"pk": attr.S("a"), "sk": attr.S(sk), "state": attr.S(state)}
}

func key(sk string) attr.Item { return attr.Item{"pk": attr.S("a"), "sk": attr.S(sk)} }

// Each action is done if its condition holds, and otherwise not. state is a reserved word.
func TestActions(t *testing.T) {
	is := func(state string) table.If { return table.IfTrue("#state = :is", attr.Item{":is": attr.S(state)}) }
	to := func(state string) table.If {
		return table.IfTrue("#state = :is", attr.Item{":is": attr.S(state), ":to": attr.S("new")})
	}
	old := row("1", "on")
	for name, tt := range map[string]struct {
		do    store.WriteItem
		state string // afterwards; empty: no row
		held  bool
	}{
		"put over what was read":          {rows.Replace(row("1", "new"), old, "state"), "new", true},
		"put over something else":         {rows.Replace(row("1", "new"), row("1", "off"), "state"), "on", false},
		"put where nothing was":           {rows.Create(row("1", "new")), "on", false},
		"put whatever is there":           {rows.Put(row("1", "new"), table.If{}), "new", true},
		"what was not there is there now": {rows.Replace(row("1", "new"), key("1"), "state"), "on", false},
		"what was not there is not there": {rows.Replace(row("1", "new"), old, "other_name"), "new", true},
		"update":                          {rows.Update(key("1"), "SET #state = :to", to("on")), "new", true},
		"update of another":               {rows.Update(key("1"), "SET #state = :to", to("off")), "on", false},
		"update that names alone":         {rows.Update(key("1"), "SET #state = :to", table.IfTrue("", attr.Item{":to": attr.S("new")})), "new", true},
		"delete":                          {rows.Delete(key("1"), is("on")), "", true},
		"delete of another":               {rows.Delete(key("1"), is("off")), "on", false},
		"removal of what was read":        {rows.Remove(old, "state"), "", true},
		"removal of something else":       {rows.Remove(row("1", "off"), "state"), "on", false},
		"removal, whatever is there":      {rows.Drop(row("1", "off")), "", true},
		"check":                           {rows.Check(key("1"), is("on")), "on", true},
		"check of another":                {rows.Check(key("1"), is("off")), "on", false},
	} {
		s := open(t)
		if err := s.Update(t.Context(), func(tx *store.Tx) error {
			if _, err := tx.Put(store.PutItem{Table: rows.Table, Item: old}); err != nil {
				return err
			}
			err := table.Commit(tx, tt.do, rows.Create(row("2", "beside")))
			if fault.Is(err, fault.Conflict) == tt.held {
				t.Errorf("%s: %v", name, err)
			}
			now, err := tx.Get(rows.Table, key("1"))
			if now["state"].Str() != tt.state {
				t.Errorf("%s: %v", name, now)
			}
			return err
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An error of the store ends a reading, and is the plan's. The list is then not nil.
func TestReadingFails(t *testing.T) {
	s := open(t)
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		missing := table.Handle{Table: "no table", PK: "pk", SK: "sk"}
		p := missing.Plan(tx)
		if all := table.Read(&p, tx.QueryAll(missing.QueryUnder("a", "")), missing.KeyOf); all == nil || len(all) > 0 || !fault.Is(p.Err(), fault.NotFound) {
			t.Errorf("%v, %v", all, p.Err())
		}
		p = rows.Plan(tx)
		p.Commit(rows.Create(row("1", "on")), rows.Create(row("2", "on")))
		n := 0
		for range p.Rows(tx.QueryAll(rows.QueryUnder("a", ""))) {
			n++
			p.Fail(errors.New("a row that cannot be read"))
		}
		if n != 1 {
			t.Errorf("%d rows up to the first error", n)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A query reads a partition of the table or of an index, or those of its rows whose sort keys have a prefix; a scan reads the rows with one
// sort key in the partitions whose keys have a prefix.
func TestReading(t *testing.T) {
	s := open(t)
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		p := rows.Plan(tx)
		for _, k := range []string{"a/1", "a/12", "a/2", "ab/1", "c/1"} {
			pk, sk, _ := strings.Cut(k, "/")
			p.Write(rows.Create(attr.Item{"pk": attr.S(pk), "sk": attr.S(sk), "kind": attr.S("of " + sk)}))
		}
		p.Commit()
		place := func(row attr.Item) string { return row["pk"].Str() + "/" + row["sk"].Str() }
		for want, got := range map[string][]string{
			"a/1 a/12 a/2": table.Read(&p, tx.QueryAll(rows.QueryUnder("a", "")), place),
			"a/1 a/12":     table.Read(&p, tx.QueryAll(rows.QueryUnder("a", "1")), place),
			"a/1 ab/1 c/1": table.Read(&p, tx.QueryAll(rows.ByIndex("by-kind", "kind", "sk").QueryUnder("of 1", "")), place),
			"a/2":          table.Read(&p, tx.QueryAll(rows.ByIndex("by-kind", "kind", "sk").QueryUnder("of 2", "2")), place),
			"":             table.Read(&p, tx.QueryAll(rows.QueryUnder("b", "")), place),
			"a/1 ab/1":     table.Read(&p, tx.ScanAll(rows.ScanWith("1", "a")), place),
		} {
			slices.Sort(got)
			if strings.Join(got, " ") != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		if row := p.Get(rows.KeyOf(attr.Item{"pk": attr.S("a"), "sk": attr.S("2"), "kind": attr.S("another")})); row["kind"].Str() != "of 2" {
			t.Errorf("by the key of a row: %v", row)
		}
		return p.Err()
	}); err != nil {
		t.Fatal(err)
	}
}

// A plan keeps its first error, and neither reads nor writes afterwards.
func TestPlan(t *testing.T) {
	first := errors.New("the first")
	s := open(t)
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		p := rows.Plan(tx)
		p.Commit(rows.Create(row("1", "on")))
		p.Write(rows.Create(row("2", "on")))
		p.Refuse(false, first)
		if p.Commit(rows.Create(row("3", "on"))); p.Err() != nil || p.Get(key("2")) == nil || p.Get(key("3")) == nil || len(p.Writes) > 0 {
			t.Errorf("%v, %v left", p.Err(), p.Writes)
		}
		if p.Commit(); p.Err() != nil {
			t.Errorf("no writes: %v", p.Err())
		}
		p.Fail(nil)
		p.Refuse(true, first)
		p.Fail(errors.New("the second"))
		p.Commit(rows.Drop(key("1")))
		if got := table.Read(&p, tx.QueryAll(rows.QueryUnder("a", "")), rows.KeyOf); !errors.Is(p.Err(), first) || p.Get(key("1")) != nil || len(got) > 0 {
			t.Errorf("%v, %v", p.Err(), got)
		}
		if now, err := tx.Get(rows.Table, key("1")); now == nil {
			t.Errorf("written after the error: %v", err)
		}
		twice := rows.Plan(tx)
		if twice.Commit(rows.Create(row("1", "on"))); !fault.Is(twice.Err(), fault.Conflict) {
			t.Errorf("created twice: %v", twice.Err())
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
