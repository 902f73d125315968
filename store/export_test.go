package store

import (
	"context"

	bolt "go.etcd.io/bbolt"
)

// SmallSlices has housekeeping do n things at a time, so that a test needs few items to see it half done.
func (s *Store) SmallSlices(n int) {
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	s.keeper.slice = sliceSizes{fill: n, empty: n, forget: n, sweep: n, deletes: n}
}

// ReaderMayLoseItsSnapshot reports whether there is a View whose deadline could take its snapshot away right now: it is
// not within a call.
func (s *Store) ReaderMayLoseItsSnapshot() bool {
	s.readers.mu.Lock()
	defer s.readers.mu.Unlock()
	r := s.readers.oldest
	if r == nil || !r.mu.TryLock() {
		return false
	}
	r.mu.Unlock()
	return true
}

// Waiting is how many Updates wait for their turn.
func (s *Store) Waiting() int { return s.commits.waiting() }

// KnownTables counts the rows of the catalogue, those of dropped tables too.
func (s *Store) KnownTables() int { return len(s.cat.Load().byID) }

// Entries counts what lies in the bucket of an index.
func (s *Store) Entries(table, index string) (n int) {
	_ = s.db.View(func(btx *bolt.Tx) error {
		n = btx.Bucket(s.cat.Load().tables[table].find(index).bucket).Stats().KeyN
		return nil
	})
	return n
}

// OpenTemporary is OpenMemory where there is no memory to be had as a file.
func OpenTemporary(o Options) (*Store, error) {
	o.NoSync, o.JournalBytes = true, 1<<20
	return openUnnamed(temporaryFile, o.withDefaults())
}

// ViewWithin is ViewRequest with another budget.
func (s *Store) ViewWithin(ctx context.Context, limit int, fn func(*Tx) error) error {
	return s.viewWithin(ctx, limit, fn)
}
