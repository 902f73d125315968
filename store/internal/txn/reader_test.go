package txn_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func TestReadDeadlineGivesTheSnapshotBack(t *testing.T) {
	o := store.Options{NoSync: true, ReadDeadline: 30 * time.Millisecond}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, storetest.Balls())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1))
	storetest.View(t, s, func(tx *store.Tx) error {
		var err error
		wait.Until(t, "a read is refused", func() bool {
			_, err = tx.Get("balls", storetest.Ball("final", 1))
			return err != nil
		})
		storetest.WantFault(t, err, fault.Unavailable, "read_deadline")
		st := s.Stats()
		if st.OpenReaders != 1 || st.OldestReader < o.ReadDeadline {
			t.Errorf("%d open, oldest %v", st.OpenReaders, st.OldestReader)
		}
		return nil
	})
	if st := s.Stats(); st.OpenReaders != 0 || st.OldestReader != 0 {
		t.Errorf("%d open, oldest %v", st.OpenReaders, st.OldestReader)
	}
	// The timer also runs for the next View, which on a busy machine may not get to its read before its own deadline.
	err := errors.New("not tried")
	for tries := 0; err != nil && tries < 100; tries++ {
		err = s.View(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Get("balls", storetest.Ball("final", 1))
			return err
		})
	}
	if err != nil {
		t.Error(err)
	}
}

func TestViewIsASnapshot(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 1))
	storetest.View(t, s, func(tx *store.Tx) error {
		storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 2))
		it, err := tx.Get("balls", storetest.Ball("final", 1))
		storetest.WantItem(t, "in the view", it, storetest.Ball("final", 1, "runs", 1))
		records, err2 := tx.Journal(0, 10)
		if len(records) != 1 || tx.Seq() != s.Seq()-1 {
			t.Errorf("the view sees %d records up to %d of %d", len(records), tx.Seq(), s.Seq())
		}
		return errors.Join(err, err2)
	})
	storetest.WantItem(t, "after it", storetest.Get(t, s, "balls", storetest.Ball("final", 1)), storetest.Ball("final", 1, "runs", 2))
}

func TestViewEndsWithItsContext(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	ctx, cancel := context.WithCancelCause(t.Context())
	err := s.View(ctx, func(tx *store.Tx) error {
		if _, err := tx.Get("balls", storetest.Ball("final", 1)); err != nil {
			t.Error(err)
		}
		cancel(errMember)
		_, err := tx.Get("balls", storetest.Ball("final", 1))
		return err
	})
	if !errors.Is(err, errMember) {
		t.Errorf("got %v", err)
	}
}

// TestUpdateWithinAViewEnds: the map has to move, which waits for every reader, and the reader waits for the update. The deadline ends
// the snapshot and both continue.
func TestUpdateWithinAViewEnds(t *testing.T) {
	o := store.Options{NoSync: true, MapSize: 1 << 15, ReadDeadline: 50 * time.Millisecond}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, storetest.Balls())
	storetest.View(t, s, func(tx *store.Tx) error {
		for n := range 8 {
			storetest.Put(t, s, "balls", storetest.Ball("final", n, "text", strings.Repeat("x", 300_000)))
		}
		_, err := tx.Get("balls", storetest.Ball("final", 1))
		storetest.WantFault(t, err, fault.Unavailable, "read_deadline")
		return nil
	})
}

// TestIdleSnapshotsAreNoneOfTheWritersConcern: snapshots are kept for the next View. They do not show it the past, and do not delay a
// write that moves the file's map, which waits for every snapshot.
func TestIdleSnapshotsAreNoneOfTheWritersConcern(t *testing.T) {
	o := store.Options{NoSync: true, MapSize: 1 << 15}
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, storetest.Balls())
	text := strings.Repeat("x", 50_000)
	var wg sync.WaitGroup
	written := make([]atomic.Int64, 4)
	for w := range written {
		wg.Go(func() {
			for n := 1; n <= 50; n++ {
				storetest.Put(t, s, "balls", storetest.Ball("final", w, "n", n, "text", text))
				written[w].Store(int64(n))
			}
		})
		wg.Go(func() {
			for n := int64(0); n < 50; {
				least := written[w].Load()
				n, _ = storetest.Get(t, s, "balls", storetest.Ball("final", w))["n"].Int()
				if n < least {
					t.Errorf("%d was there, a later View saw %d", least, n)
					return
				}
			}
		})
	}
	wg.Wait()
}
