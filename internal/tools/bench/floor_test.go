package main

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt" //nolint:depguard // the floor is bbolt itself

	"github.com/touchline/touchline/internal/tools/measure"
)

// TestFloorWritesAsMuch checks that the raw loop changes as much as the store: the same number of puts leaves as many rows and records of
// the same size, and nothing else differs.
func TestFloorWritesAsMuch(t *testing.T) {
	const items, puts = 200, 150
	dir := t.TempDir()
	oursPath, rawPath := filepath.Join(dir, "ours.db"), filepath.Join(dir, "raw.db")
	s, err := openOurs(t.Context(), oursPath, items, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := openRaw(t.Context(), rawPath, items)
	if err != nil {
		t.Fatal(err)
	}
	runSide(t, s.writers(t.Context(), 1, 1+puts)) // one more: openRaw has made one
	runSide(t, r.loop(puts/3, 3))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.db.Close(); err != nil {
		t.Fatal(err)
	}

	mine, floor := contents(t, oursPath), contents(t, rawPath)
	if !slices.Equal(slices.Sorted(maps.Keys(mine)), slices.Sorted(maps.Keys(floor))) {
		t.Errorf("buckets of the store: %v, of the floor: %v", mine, floor)
	}
	for name, want := range mine {
		got := floor[name]
		if apart := got.bytes - want.bytes; got.keys != want.keys || apart*100 > want.bytes || -apart*100 > want.bytes {
			t.Errorf("bucket %q: the store has %+v, the floor %+v", name, want, got)
		}
	}
	if n := mine[rawJournal].keys; n != items+puts+1 {
		t.Errorf("the journal has %d records for %d puts", n, items+puts+1)
	}
}

func runSide(t *testing.T, s measure.Side) {
	t.Helper()
	if _, _, err := s.Slice(); err != nil {
		t.Fatal(err)
	}
}

// content is what a bucket holds.
type content struct{ keys, bytes int }

// contents reads a bbolt file.
func contents(t *testing.T, path string) map[string]content {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	out := map[string]content{}
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			var c content
			err := b.ForEach(func(k, v []byte) error {
				c.keys++
				c.bytes += len(k) + len(v)
				return nil
			})
			out[string(name)] = c
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
