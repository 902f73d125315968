// Package storetest opens stores for tests and verifies the store's guarantees when a test ends. It has the tables, items and checks that
// the tests of the store share.
package storetest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/touchline/touchline/store"
)

// Open opens a store with the given tables in a folder of the test. Nothing is synced to disk. When the test ends, the store is checked
// (see Check) and closed.
func Open(t testing.TB, specs ...store.TableSpec) *store.Store {
	t.Helper()
	return OpenWith(t, filepath.Join(t.TempDir(), "store.db"), store.Options{NoSync: true}, specs...)
}

// OpenWith is Open with the given file and options.
func OpenWith(t testing.TB, path string, o store.Options, specs ...store.TableSpec) *store.Store {
	t.Helper()
	s, err := store.Open(path, o)
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	if err := s.Define(t.Context(), specs...); err != nil {
		t.Fatalf("define the tables: %v", err)
	}
	t.Cleanup(func() { Check(t, s) })
	return s
}

// Check fails the test for each violated guarantee of the store, and for Views that are still open.
func Check(t testing.TB, s *store.Store) {
	t.Helper()
	if n := s.Stats().OpenReaders; n != 0 {
		t.Errorf("store: %d Views are still open", n)
	}
	problems, err := s.CheckCopy(context.Background(), nil)
	if err != nil {
		t.Errorf("check the store: %v", err)
	}
	for _, p := range problems {
		t.Errorf("store: %s", p)
	}
}
