package store

import (
	"context"
	"math"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/file"
	"github.com/touchline/touchline/store/internal/housekeeping"
)

// Streams returns the streams of all tables.
func (s *Store) Streams() []TableStream {
	streams, _ := s.StreamsBehind("", "", math.MaxInt)
	return streams
}

// SmallSlices makes housekeeping do n things at a time, so that few items are enough to see it half done.
func (s *Store) SmallSlices(n int) {
	s.keeper.Mu.Lock()
	defer s.keeper.Mu.Unlock()
	s.engine.FillItems = n
	s.keeper.Slice = housekeeping.SliceSizes{Empty: n, Forget: n, Sweep: n, Deletes: n}
}

// ReaderMayLoseItsSnapshot reports whether there is a View that is not within a call, so its deadline could end its snapshot right now.
func (s *Store) ReaderMayLoseItsSnapshot() bool {
	s.engine.Readers.Mu.Lock()
	defer s.engine.Readers.Mu.Unlock()
	r := s.engine.Readers.Oldest
	if r == nil || !r.Mu.TryLock() {
		return false
	}
	r.Mu.Unlock()
	return true
}

// Waiting returns how many Updates wait for their turn.
func (s *Store) Waiting() int { return s.engine.Commits.Waiting() }

// KnownTables returns the number of rows in the catalogue, including dropped tables.
func (s *Store) KnownTables() int { return len(s.engine.Cat.Load().ByID) }

// Entries returns the number of entries in the bucket of an index.
func (s *Store) Entries(table, index string) (n int) {
	_ = s.engine.Bolt.View(func(btx *bolt.Tx) error {
		n = btx.Bucket(s.engine.Cat.Load().ByName[table].Find(index).Bucket).Stats().KeyN
		return nil
	})
	return n
}

// OpenTemporary is OpenMemory on a system without memory files.
func OpenTemporary(o Options) (*Store, error) {
	o.NoSync, o.JournalBytes = true, 1<<20
	o = o.WithDefaults()
	f, err := file.OpenUnnamed(disk.TemporaryFile, o)
	if err != nil {
		return nil, err
	}
	return start(f, o), nil
}

// ViewWithin is ViewRequest with another budget.
func (s *Store) ViewWithin(ctx context.Context, limit int, fn func(*Tx) error) error {
	return s.viewWithin(ctx, limit, fn)
}
