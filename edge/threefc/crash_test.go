package threefc

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/storetest"
)

// A goal whose node ended at any point is one goal when it is sent again with its key, and its tallies are right after the next start:
// before it was kept, after that and before the export, and after both.
func TestGoalAcrossRestarts(t *testing.T) {
	for _, point := range []string{"before", "kept", "exported"} {
		t.Run(point, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			r := &rig{t: t, now: time.Date(2026, 7, 4, 10, 0, 0, 0, time.UTC), Service: &Service{Table: tableName}}
			open := func() {
				s, err := store.Open(path, store.Options{Now: func() time.Time { return r.now }})
				if err == nil {
					err = s.Define(t.Context(), Table(tableName))
				}
				if err != nil {
					t.Fatal(err)
				}
				r.store = s
			}
			end := func() {
				storetest.Check(t, r.store)
				if err := r.store.Close(); err != nil {
					t.Fatal(err)
				}
			}
			open()
			r.league()
			r.start("g", 1)
			post := func() (out idempotency.Outcome) {
				if err := r.store.Update(t.Context(), func(tx *store.Tx) (err error) {
					row := &idempotency.Row{Table: tableName, Key: OnceKey("a:POST:/goals", "k"), Hash: "h", Node: r.store.Node()}
					var seen bool
					if out, seen, err = row.Read(tx); seen || err != nil {
						return err
					}
					c, err := r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: r.now, Actor: boss}, &IDs{Seed: "a:POST:/goals\nk"})
					if err != nil {
						return err
					}
					out = idempotency.Outcome{Status: 201, IDs: c.IDs}
					return row.Write(tx, out, c.Writes...)
				}); err != nil {
					t.Fatal(err)
				}
				return out
			}
			first := idempotency.Outcome{}
			if point != "before" {
				first = post()
			}
			if point == "exported" {
				r.export(0)
			}
			end()
			open()
			again := post()
			if again.Repeated != (point != "before") || point != "before" && again.IDs["event"] != first.IDs["event"] {
				t.Errorf("%+v, then %+v", first, again)
			}
			if err := r.store.Update(t.Context(), r.Anew); err != nil {
				t.Fatal(err)
			}
			r.exported(t, "g", 1, 1)
			end()
		})
	}
}
