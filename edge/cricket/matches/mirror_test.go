package matches_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// A node takes a match's display from the holder's state, which comes from the cloud, but not for a match that it holds itself
// or ticked last.
func TestMirror(t *testing.T) {
	holder := newStage(t, cricket.Options{Shared: true})
	now := func() time.Time { return holder.now }
	here := storetest.OpenWith(t, filepath.Join(t.TempDir(), "here.db"), store.Options{NoSync: true, Now: now}, tables.All()...)
	service := matches.NewService(here, cricket.Options{})
	held := map[string]bool{}
	m := matches.Mirror{Node: "b", Holds: func(id string) bool { return held[id] }}
	adopt := func(change func(row attr.Item)) {
		row := holder.row(tables.ActiveMatches, tables.MatchKey("7"))
		if change != nil {
			change(row)
		}
		err := here.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Adopt(tables.ActiveMatches, tables.MatchKey("7"), row)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	taken := uint64(0)
	settle := func() { // as the node runs a consumer
		t.Helper()
		records, err := here.Journal(t.Context(), taken, 64)
		if err != nil || len(records) == 0 {
			t.Fatalf("%d records, %v", len(records), err)
		}
		taken = records[len(records)-1].Seq
		records = slices.DeleteFunc(records, func(r store.Record) bool { return r.Table != tables.ActiveMatches })
		if err := here.Update(t.Context(), func(tx *store.Tx) error { return m.ConsumeRecords(tx, records) }); err != nil {
			t.Fatal(err)
		}
	}
	same := func(when string) {
		t.Helper()
		want, err := holder.service.Display(t.Context(), "7")
		if err != nil {
			t.Fatal(err)
		}
		got, err := service.Display(t.Context(), "7")
		got.UpdatedAt, want.UpdatedAt = time.Time{}, time.Time{}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-holder +here)\n%s", when, err, diff)
		}
	}
	holder.innings(teamA)
	holder.ball("4")
	holder.tick()
	adopt(nil) // before the mirror runs
	if err := here.Update(t.Context(), m.CopyAll); err != nil {
		t.Fatal(err)
	}
	same("at the start")
	taken = here.Seq()
	for mark := range strings.FieldsSeq("6 W 1 . 4") {
		holder.ball(mark)
		holder.tick()
		adopt(nil)
		settle()
		same(mark)
	}
	before, _ := service.Display(t.Context(), "7")
	for name, change := range map[string]func(row attr.Item){
		"held here":         func(attr.Item) { held["7"] = true },
		"ticked here":       func(row attr.Item) { held["7"] = false; row["instanceId"] = attr.S("b") },
		"without a display": func(row attr.Item) { delete(row, "shown") },
		"not a display":     func(row attr.Item) { row["shown"] = attr.B([]byte("x")) },
	} {
		holder.ball("1")
		holder.tick()
		held["7"] = false
		adopt(change)
		settle()
		if d, err := service.Display(t.Context(), "7"); err != nil || d.Teams[0].Runs != before.Teams[0].Runs {
			t.Errorf("%s: %d runs, %v", name, d.Teams[0].Runs, err)
		}
	}
	held["7"] = false
	holder.ball("6")
	holder.tick()
	adopt(nil)
	settle()
	same("after all")
}
