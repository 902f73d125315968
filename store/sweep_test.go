package store_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// sweeping is a store whose time is set by a test.
type sweeping struct {
	*store.Store
	mu  sync.Mutex
	now time.Time
}

func openSweeping(t *testing.T, specs ...store.TableSpec) *sweeping {
	t.Helper()
	s := &sweeping{now: time.Unix(1_563_096_600, 0)}
	now := func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.now
	}
	s.Store = storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: now}, specs...)
	return s
}

func (s *sweeping) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// until returns an expiry at the given time after now.
func (s *sweeping) until(d time.Duration) attr.Value { return attr.Int(s.now.Add(d).Unix()) }

func TestSweep(t *testing.T) {
	s := openSweeping(t, storetest.Balls(), storetest.Matches())
	storetest.Put(t, s.Store, "balls",
		storetest.Ball("final", 1, "bowler", "archer", "ttl", s.until(time.Minute)),
		storetest.Ball("final", 2, "ttl", s.until(time.Hour)),
		storetest.Ball("final", 3, "ttl", s.until(-6*365*24*time.Hour)),
		storetest.Ball("final", 4, "ttl", "soon"),
		storetest.Ball("final", 5))
	storetest.Put(t, s.Store, "matches", storetest.Item("match", "final", "ttl", s.until(-time.Minute)))
	housekeep(t, s.Store)
	s.wait(5 * time.Minute)
	if n := housekeep(t, s.Store); n != 0 || s.Stats().Swept != 0 {
		t.Errorf("%d slices before the next pass is due, %d items swept", n, s.Stats().Swept)
	}
	s.wait(5 * time.Minute)
	before := s.Seq()
	housekeep(t, s.Store)
	if s.Stats().Swept != 1 || s.Stats().OpenReaders != 0 {
		t.Errorf("%d items swept", s.Stats().Swept)
	}
	records := storetest.Journal(t, s.Store, before)
	if len(records) != 1 || records[0].Op != store.OpDelete || records[0].Origin != store.OriginTTL || records[0].New != nil {
		t.Fatalf("journal has %+v", records)
	}
	storetest.WantItem(t, "key", records[0].Key, storetest.Ball("final", 1))
	storetest.WantItem(t, "old", records[0].Old, storetest.Ball("final", 1, "bowler", "archer", "ttl", s.until(-9*time.Minute)))
	if n := countIn(t, s.Store, "balls", ""); n != 4 {
		t.Errorf("%d items are left, want 4", n)
	}
}

// The sweep period is configurable.
func TestSweepPeriod(t *testing.T) {
	now := time.Unix(1_563_096_600, 0)
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{
		NoSync: true, Now: func() time.Time { return now }, SweepEvery: 2 * time.Second,
	}, storetest.Balls())
	housekeep(t, s)
	for i, after := range []time.Duration{time.Second, time.Second, time.Second, time.Second} {
		storetest.Put(t, s, "balls", storetest.Ball("final", i, "ttl", attr.Int(now.Unix()-1)))
		now = now.Add(after)
		housekeep(t, s)
		if want := uint64((i + 1) / 2 * 2); s.Stats().Swept != want {
			t.Errorf("after %d seconds %d items are swept, want %d", i+1, s.Stats().Swept, want)
		}
	}
}

// An expiry with a fraction of a second is valid, like any other number.
func TestTTLWithFractions(t *testing.T) {
	s := openSweeping(t, storetest.Balls())
	ttl := func(text string) attr.Value {
		v, err := attr.N(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for i, c := range []struct {
		ttl  string
		gone bool
	}{
		{"1563096599.5", true}, {"1563096599.999999999", true}, {"1563096600.5", false}, {"1563096600.0", false}, {"15630965995e-1", true},
		{"1405416599.5", false}, {"0.5", false}, {"-1563096599.5", false}, {"1e40", false}, {"1563096599500", false},
	} {
		storetest.Put(t, s.Store, "balls", storetest.Ball("final", i, "ttl", ttl(c.ttl)))
		if got := storetest.Get(t, s.Store, "balls", storetest.Ball("final", i)); (got == nil) != c.gone {
			t.Errorf("%s: %v", c.ttl, got)
		}
	}
	s.wait(time.Hour)
	housekeep(t, s.Store)
	if s.Stats().Swept != 5 { // including those two that were not over yet
		t.Errorf("%d items are swept", s.Stats().Swept)
	}
}

// A large table is swept in many slices, each with a few deletes.
func TestSweepInSlices(t *testing.T) {
	s := openSweeping(t, storetest.Balls())
	storetest.Update(t, s.Store, func(tx *store.Tx) error {
		for i := range 3000 {
			it := storetest.Ball(fmt.Sprintf("match %d", i%3), i, "ttl", s.until(time.Minute))
			if i%2 == 0 {
				delete(it, "ttl")
			}
			if _, err := tx.Put(store.PutItem{Table: "balls", Item: it}); err != nil {
				return err
			}
		}
		return nil
	})
	housekeep(t, s.Store)
	s.wait(time.Hour)
	swept, slices := uint64(0), 0
	for more := true; more; slices++ {
		var err error
		if more, err = s.Housekeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		now := s.Stats().Swept
		if now-swept > 100 {
			t.Errorf("%d items swept in one slice", now-swept)
		}
		swept = now
	}
	if swept != 1500 || slices < 15 {
		t.Errorf("%d items swept in %d slices, want 1500", swept, slices)
	}
}

// After a pass was interrupted by a clock set back, others follow.
func TestSweepAfterClockWasSetBack(t *testing.T) {
	s := openSweeping(t, storetest.Balls())
	s.wait(24 * time.Hour)
	housekeep(t, s.Store)
	s.wait(-24 * time.Hour)
	storetest.Put(t, s.Store, "balls", storetest.Ball("final", 1, "ttl", s.until(-time.Minute)))
	housekeep(t, s.Store)
	if s.Stats().Swept != 1 {
		t.Errorf("%d items swept", s.Stats().Swept)
	}
}

// Items renewed or deleted after the sweep found them are left alone: the deleting transaction decides.
func TestSweepWhileItemsAreRenewed(t *testing.T) {
	s := openSweeping(t, storetest.Balls())
	for i := range 5 {
		storetest.Put(t, s.Store, "balls", storetest.Ball("final", i, "ttl", s.until(time.Minute)))
	}
	housekeep(t, s.Store)
	s.wait(time.Hour)
	var wg sync.WaitGroup
	storetest.Update(t, s.Store, func(tx *store.Tx) error {
		wg.Go(func() { housekeep(t, s.Store) })
		wait.Until(t, "housekeeping has read, and waits to write", func() bool { return s.Stats().Waiting > 0 })
		if _, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("final", 1)}); err != nil {
			return err
		}
		_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 2, "ttl", s.until(time.Hour))})
		return err
	})
	wg.Wait()
	if n := countIn(t, s.Store, "balls", ""); n != 1 || s.Stats().Swept != 3 {
		t.Errorf("%d items are left, want 1; %d swept, want 3", n, s.Stats().Swept)
	}
}

// Beside many writers that renew them, no renewed item is swept.
func TestSweepBesideWriters(t *testing.T) {
	s := openSweeping(t, storetest.Balls())
	const items = 400
	for i := range items {
		storetest.Put(t, s.Store, "balls", storetest.Ball("final", i, "ttl", s.until(time.Minute)))
	}
	housekeep(t, s.Store)
	s.wait(time.Hour)
	forever := s.until(24 * time.Hour)
	var renewed [items]bool
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := w; i < items; i += 2 {
				renewed[i] = nil == s.Update(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Update(store.UpdateItem{
						Table: "balls", Key: storetest.Ball("final", i), Update: "SET #ttl = :f", Condition: "attribute_exists(#ttl)",
						Params: withName(storetest.Values(":f", forever), "#ttl", "ttl"),
					})
					return err
				})
			}
		})
	}
	housekeep(t, s.Store)
	wg.Wait()
	left := 0
	for i, ok := range renewed {
		if ok {
			left++
		}
		if ok != (storetest.Get(t, s.Store, "balls", storetest.Ball("final", i)) != nil) {
			t.Fatalf("item %d: renewed %v, and there: %v", i, ok, !ok)
		}
	}
	if swept := s.Stats().Swept; swept+uint64(left) != items {
		t.Errorf("%d renewed and %d swept, of %d", left, swept, items)
	}
}

// The clock is called in the middle of housekeeping's reads: the read deadline must not end the snapshot meanwhile.
func TestHousekeepingReadsWithinACall(t *testing.T) {
	var s *store.Store
	var asked atomic.Int64
	now := func() time.Time {
		if s != nil {
			asked.Add(1)
			if s.ReaderMayLoseItsSnapshot() {
				t.Error("a View of housekeeping can lose its snapshot while it reads")
			}
		}
		return time.Unix(1_563_096_600, 0)
	}
	opened := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: now}, storetest.Balls())
	storetest.Update(t, opened, func(tx *store.Tx) error {
		return tx.TransactWrite(store.TransactWrite{
			Token: "t", Items: []store.WriteItem{{Put: &store.PutItem{Table: "balls", Item: storetest.Ball("final", 1, "ttl", 1_563_096_599)}}},
		})
	})
	s = opened
	housekeep(t, s)
	if n := s.Stats().Swept; n != 1 || asked.Load() < 3 {
		t.Errorf("%d swept, the clock was asked %d times", n, asked.Load())
	}
	s = nil
}
