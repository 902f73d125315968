package feed

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// waiting returns the one write that waits on a team, stored as sent.
func (n *reader) waiting(tx *store.Tx, id string) *intent.Entry {
	n.t.Helper()
	w := n.Box.Begin(tx)
	it, err := w.Load("teams", teamKey(id))
	if err != nil {
		n.t.Fatal(err)
	}
	batches, err := w.Pending(it)
	if err != nil || len(batches) != 1 {
		n.t.Fatalf("%d wait on %s: %v", len(batches), id, err)
	}
	e := batches[0].Entries[0]
	e.Sent = 1
	tally := outbox.Tally{}
	if err := errors.Join(outbox.Put(tx, batches[0], tally), tally.AddToCounts(tx)); err != nil {
		n.t.Fatal(err)
	}
	return e
}

// Items read for a transaction are adopted in it as a feed adopts them. An image that came in an unknown order, or that proves a write, is
// left to a read of its own.
func TestReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newReader(t, Rule{Table: "teams"})
		var refs []intent.Ref
		for _, id := range []string{"changed", "gone", "overtaken", "proves", "same"} {
			n.foreign("teams", team(id, 1))
			refs = append(refs, intent.Ref{Table: "teams", Key: teamKey(id)})
		}
		n.next()
		letPass(time.Second)
		n.bump("proves")
		applied := team("proves", 2)
		n.inUpdate(func(tx *store.Tx) error {
			applied["_a_a"] = n.waiting(tx, "proves").Mark()
			return nil
		})
		n.foreignDelete("teams", teamKey("gone"))
		for _, it := range []attr.Item{team("changed", 2), team("overtaken", 2), applied} {
			n.foreign("teams", it)
		}
		r, err := n.ReadAll(t.Context(), refs)
		if err != nil {
			t.Fatal(err)
		}
		defer r.End()
		n.foreign("teams", team("overtaken", 3))
		n.readNow("teams", teamKey("overtaken"))
		var again []string
		n.inUpdate(func(tx *store.Tx) error {
			w := n.Box.Begin(tx)
			if err := r.Adopt(w); err != nil {
				return err
			}
			for _, it := range w.Order {
				if it.Refetch {
					again = append(again, it.Key["id"].Str())
				}
			}
			return w.Finish()
		})
		if !slices.Equal(again, []string{"overtaken", "proves"}) {
			t.Errorf("to be read again: %v", again)
		}
		for id, want := range map[string]attr.Item{
			"changed": team("changed", 2), "gone": nil, "overtaken": team("overtaken", 3), "proves": team("proves", 2), "same": team("same", 1),
		} {
			n.sees(id, want)
		}
		n.inUpdate(func(tx *store.Tx) error {
			n.waiting(tx, "proves")
			return nil
		})
	})
}

// unseen is a table that cannot be checked to be still the same one.
type unseen struct{ unchanged }

func (unseen) Check(context.Context, string) error { return errors.New("a test") }

// If an item is gone and its table cannot be checked, the read fails; what a replaced table lacks stays here.
func TestReadingsOfAnotherTable(t *testing.T) {
	for name, tables := range map[string]Tables{"another one": &another{}, "nobody says": unseen{}} {
		synctest.Test(t, func(t *testing.T) {
			n := newReader(t, Rule{Table: "teams"})
			n.Tables = tables
			n.foreign("teams", team("x", 1))
			n.next()
			letPass(time.Second)
			n.foreignDelete("teams", teamKey("x"))
			r, err := n.ReadAll(t.Context(), []intent.Ref{{Table: "teams", Key: teamKey("x")}})
			if (err != nil) != (name == "nobody says") {
				t.Errorf("%s: %v", name, err)
			}
			n.inUpdate(func(tx *store.Tx) error {
				w := n.Box.Begin(tx)
				return errors.Join(r.Adopt(w), w.Finish())
			})
			r.End()
			n.sees("x", team("x", 1))
			if len(n.Box.Reads.Open) > 0 {
				t.Errorf("%s: a read is still open", name)
			}
		})
	}
}

func (n *reader) inUpdate(fn func(tx *store.Tx) error) {
	n.t.Helper()
	if err := n.Store.Update(n.t.Context(), fn); err != nil {
		n.t.Fatal(err)
	}
}
