package threefc

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/testrig/kill"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/storetest"
)

var kickOff = time.Date(2026, 7, 4, 10, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) { os.Exit(kill.Main(m, workAndDie)) }

// argImport has the child import a file; otherwise it creates a goal.
const argImport = "import"

func workAndDie(path, arg string, arm func()) error {
	if arg == argImport {
		return importAndDie(path, arm)
	}
	return goalAndDie(path, arm)
}

// goalAndDie creates a goal with an Idempotency-Key and exports the derived rows, as a node does.
func goalAndDie(path string, arm func()) error {
	s, err := store.Open(path, store.Options{Now: func() time.Time { return kickOff }})
	if err != nil {
		return err
	}
	arm()
	before := s.Seq()
	ctx := context.Background()
	r := &rig{store: s, now: kickOff, Service: &Service{Handle: Rows(tableName)}}
	if _, err := r.keyed(ctx, "k"); err != nil {
		return err
	}
	records, err := s.Journal(ctx, before, 100)
	if err != nil {
		return err
	}
	if err := s.Update(ctx, func(tx *store.Tx) error { return r.ConsumeRecords(tx, records) }); err != nil {
		return err
	}
	_, err = r.DerivedRule().SettleUnit(ctx, s, "g")
	return err
}

// keyed creates a goal with an Idempotency-Key, as a request does.
func (r *rig) keyed(ctx context.Context, once string) (out idempotency.Outcome, err error) {
	scope := "a:POST:/goals"
	err = r.store.Update(ctx, func(tx *store.Tx) (err error) {
		row := &idempotency.Row{Table: tableName, Key: OnceKey(scope, once), Hash: "h", Node: r.store.Node()}
		var seen bool
		if out, seen, err = row.Read(tx); seen || err != nil {
			return err
		}
		c, err := r.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: r.now, Actor: boss}, &IDs{Seed: scope + "\n" + once})
		if err != nil {
			return err
		}
		out = idempotency.Outcome{Status: 201, IDs: c.IDs}
		return row.Write(tx, out, c.Writes...)
	})
	return out, err
}

// A node that creates a goal is killed (kill -9) at each failpoint on its way: the first, a middle and the last time it gets there. After
// a restart, the request repeated with its key results in one goal, and the tallies are right.
func TestGoalSurvivesAKillAtEachFailpoint(t *testing.T) {
	seed := newRig(t)
	seed.league()
	seed.start("g", 1)
	kept := map[bool]int{}
	kill.AtEach(t, seed.store, "", 1, func(path, _ string) {
		r := &rig{t: t, now: kickOff.Add(time.Minute), Service: &Service{Handle: Rows(tableName)}}
		r.store = storetest.OpenWith(t, path, store.Options{NoSync: true, Now: func() time.Time { return r.now }}, Table(tableName))
		again, err := r.keyed(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		kept[again.Repeated]++
		if err := r.store.Update(t.Context(), r.ConsumeTable); err != nil {
			t.Fatal(err)
		}
		r.derive(nil)
		r.exported(t, "g", 1, 1)
	})
	if kept[true] == 0 || kept[false] == 0 {
		t.Errorf("kills before and after the commit (true: after): %v", kept)
	}
}

// killedFile is a file that takes a few slices.
func killedFile() *File { return largeFile(600<<10, 10_000) }

// importAndDie imports it.
func importAndDie(path string, arm func()) error {
	s, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	arm()
	_, err = (&Service{Handle: Rows(tableName)}).ImportSeason(context.Background(), s, killedFile(), nil)
	return err
}

// A process that imports a file is killed (kill -9) at each failpoint on its way. The same import again completes it: the table is the same as
// after one that nobody interrupted, and nothing is doubled.
func TestImportSurvivesAKillAtEachFailpoint(t *testing.T) {
	seed, whole := newRig(t), newRig(t)
	for _, r := range []*rig{seed, whole} {
		r.must(func(tx *store.Tx) (Change, error) {
			return r.CreateLeague(tx, boss, League{LeagueID: "l", Name: "League"})
		})
	}
	f := killedFile()
	if out, err := whole.ImportSeason(t.Context(), whole.store, f, nil); err != nil || out.Made != len(f.Rows) {
		t.Fatalf("%+v %v", out, err)
	}
	want, partly := whole.rows(), 0
	kill.AtEach(t, seed.store, argImport, 0, func(path, when string) {
		r := &rig{t: t, Service: &Service{Handle: Rows(tableName)}}
		r.store = storetest.OpenWith(t, path, store.Options{NoSync: true}, Table(tableName))
		before := len(r.rows()) - (len(want) - len(f.Rows))
		out, err := r.ImportSeason(t.Context(), r.store, f, nil)
		if err != nil || out.Made != len(f.Rows)-before {
			t.Errorf("%s: %d rows were there, then %+v %v", when, before, out, err)
		}
		if before > 0 && before < len(f.Rows) {
			partly++
		}
		if diff := cmp.Diff(want, r.rows(), cmp.Comparer(attr.EqualItems)); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	})
	if partly == 0 {
		t.Error("no import was killed on its way")
	}
}
