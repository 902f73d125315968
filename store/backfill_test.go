package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

func watchTables(s *store.Store) (sig *clock.Signal, stop func()) {
	sig = clock.NewSignal()
	return sig, s.WatchTables(sig)
}

func isSet(sig *clock.Signal) bool {
	select {
	case <-sig.C():
		return true
	default:
		return false
	}
}

func addIndex(t testing.TB, s *store.Store, ix store.IndexSpec) {
	t.Helper()
	if err := s.UpdateTable(t.Context(), store.TableChange{Table: "balls", AddIndexes: []store.IndexSpec{ix}}); err != nil {
		t.Fatal(err)
	}
}

// A new index of a small table is ready at once, that of a large table when housekeeping has filled it.
func TestAddIndex(t *testing.T) {
	for _, n := range []int{0, 100, 1000} {
		t.Run(fmt.Sprintf("%d items", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { addIndexTo(t, n) }) // real time would end slices early on a slow machine
		})
	}
}

func addIndexTo(t *testing.T, n int) {
	s := storetest.Open(t, storetest.Balls())
	fillBalls(t, s, n)
	housekeep(t, s)
	addIndex(t, s, byBowler())
	if n == 1000 {
		wantFilling(t, s)
	}
	slices := housekeep(t, s)
	if (slices > 0) != (n == 1000) {
		t.Errorf("%d slices", slices)
	}
	if st := indexStatus(t, s, "balls", "by-bowler"); st != store.IndexActive || len(s.Stats().Filling) != 0 {
		t.Errorf("the index is %s, being filled: %v", st, s.Stats().Filling)
	}
	if got, want := countIn(t, s, "balls", "by-bowler"), n-(n+2)/3; got != want {
		t.Errorf("%d items in the index, want %d", got, want)
	}
}

func wantFilling(t testing.TB, s *store.Store) {
	t.Helper()
	if st := indexStatus(t, s, "balls", "by-bowler"); st != store.IndexCreating {
		t.Fatalf("the index is %q, want it to be filled", st)
	}
	if f := s.Stats().Filling; len(f) != 1 || f[0].Table != "balls" || f[0].Index != "by-bowler" || f[0].Items == 0 {
		t.Errorf("being filled: %v", f)
	}
	storetest.View(t, s, func(tx *store.Tx) error {
		_, err := tx.Query(store.Query{
			Table: "balls", Index: "by-bowler", KeyCondition: "bowler = :b", Params: storetest.Values(":b", "b1"),
		})
		storetest.WantFault(t, err, fault.Invalid, "validation")
		if err == nil || err.Error() != "Cannot read from backfilling global secondary index: by-bowler" {
			t.Errorf("a read says %v", err)
		}
		return nil
	})
	storetest.Check(t, s)
}

// Define waits; after an interruption the next Define continues.
func TestDefineFills(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := store.Open(path, store.Options{NoSync: true})
	if err == nil {
		err = s.Define(t.Context(), storetest.Balls())
	}
	if err != nil {
		t.Fatal(err)
	}
	fillBalls(t, s, 1000)
	addIndex(t, s, byBowler())
	wantFilling(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	spec := storetest.Balls()
	spec.Indexes = append(spec.Indexes, byBowler())
	again := storetest.OpenWith(t, path, store.Options{NoSync: true})
	wantFilling(t, again)
	if err := again.Define(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if got := countIn(t, again, "balls", "by-bowler"); got != 666 {
		t.Errorf("%d items in the index, want 666", got)
	}
	commits := again.Stats().Commits
	if err := again.Define(t.Context(), spec); err != nil || again.Stats().Commits != commits {
		t.Errorf("once more: %v, %d commits", err, again.Stats().Commits-commits)
	}
}

// Existing items may have values that cannot be keys of the new index. They are left out, can be changed, and enter the index once their
// values fit.
func TestIndexLeavesOutWhatIsNoKey(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	for i, v := range []attr.Value{attr.Int(7), attr.S(""), attr.S(strings.Repeat("x", 2049)), attr.L(attr.Int(1)), attr.S("anderson")} {
		storetest.Put(t, s, "balls", storetest.Ball("final", i, "end", v, "runs", i))
	}
	addIndex(t, s, store.IndexSpec{Name: "by-end", Key: store.KeySpec{Partition: storetest.Str("end"), Sort: storetest.Num("runs")}})
	if got := countIn(t, s, "balls", "by-end"); got != 1 {
		t.Fatalf("%d items in the index, want 1", got)
	}
	storetest.Put(t, s, "balls", storetest.Ball("final", 0, "end", "pavilion", "runs", 1), storetest.Ball("final", 1, "runs", 1))
	storetest.Update(t, s, func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 2)})
		return err
	})
	if got := countIn(t, s, "balls", "by-end"); got != 2 {
		t.Errorf("%d items in the index, want 2", got)
	}
}

// A member that fails while an index is being filled leaves nothing, whether its items have their entries or not.
func TestFailedMemberWhileFilling(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	fillBalls(t, s, 1000)
	addIndex(t, s, byBowler())
	wantFilling(t, s)
	writes := func(tx *store.Tx) error {
		for _, n := range []int{1, 2, 997, 998} { // at both ends of the table
			if _, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", n)}); err != nil {
				return err
			}
			if _, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", n, "bowler", "new", "runs", 1)}); err != nil {
				return err
			}
			if _, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", n+5000, "bowler", "new")}); err != nil {
				return err
			}
		}
		return nil
	}
	before := s.Entries("balls", "by-bowler")
	fails := func(tx *store.Tx) error { return errors.Join(writes(tx), errMember) }
	stands := func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 3, "runs", 3)})
		return err
	}
	// Because a neighbour succeeds, the commit is not rolled back as a whole.
	if errs := storetest.Together(t, s, fails, stands, fails); !errors.Is(errs[0], errMember) || errs[1] != nil {
		t.Fatal(errs)
	}
	if now := s.Entries("balls", "by-bowler"); now != before {
		t.Errorf("%d entries, want %d", now, before)
	}
	wantFilling(t, s)
	storetest.Update(t, s, writes)
	wantFilling(t, s)
	housekeep(t, s)
	if got := countIn(t, s, "balls", "by-bowler"); got != 666 {
		t.Errorf("%d items in the index, want 666", got)
	}
}

// Writers, including failing ones, continue while an index is filled, dropped and added again.
func TestFillBesideWriters(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	fillBalls(t, s, 2000)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				if err := writeSome(s, w, i); err != nil && !errors.Is(err, errMember) {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		addIndex(t, s, byBowler())
		wantFilling(t, s)
		if err := s.UpdateTable(t.Context(), store.TableChange{Table: "balls", DropIndexes: []string{"by-bowler"}}); err != nil {
			t.Error(err)
		}
		addIndex(t, s, byBowler())
		housekeep(t, s)
		if st := indexStatus(t, s, "balls", "by-bowler"); st != store.IndexActive {
			t.Errorf("the index is %s", st)
		}
		storetest.Check(t, s)
		if err := s.UpdateTable(t.Context(), store.TableChange{Table: "balls", DropIndexes: []string{"by-bowler"}}); err != nil {
			t.Error(err)
		}
		housekeep(t, s)
	}
	cancel()
	wg.Wait()
}

// writeSome changes an item of the writer; every fifth time it then fails.
func writeSome(s *store.Store, w, i int) error {
	return s.Update(context.Background(), func(tx *store.Tx) error {
		n := (i*37%500)*4 + w
		it := storetest.Ball("final", n, "runs", i%7)
		if i%4 != 0 {
			it["bowler"] = attr.S(fmt.Sprintf("b%d", i%6))
		}
		if _, err := tx.Put(store.PutItem{Table: "balls", Item: it, NoOld: true}); err != nil {
			return err
		}
		if i%7 == 0 {
			if _, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", (n+4)%2000)}); err != nil {
				return err
			}
		}
		if i%5 == 0 {
			return errMember
		}
		return nil
	})
}
