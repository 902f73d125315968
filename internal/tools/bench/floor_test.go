package main

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt" //nolint:depguard // the floor is bbolt itself

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
)

// TestFloorWritesTheSame checks that the raw loop makes the same changes as the store, byte for byte: the same puts leave the same
// buckets, also when the journal is trimmed and old images move to later records.
func TestFloorWritesTheSame(t *testing.T) {
	const items, indexes, keep = 200, 2, 400 << 10
	now := func() time.Time { return time.Unix(1_800_000_000, 0).UTC() }
	dir := t.TempDir()
	oursPath, rawPath := filepath.Join(dir, "ours.db"), filepath.Join(dir, "raw.db")

	s, err := openFilled(t.Context(), oursPath, items, indexes, store.Options{NoSync: true, Now: now, JournalBytes: keep})
	if err != nil {
		t.Fatal(err)
	}
	r, err := openRaw(t.Context(), rawPath, items, indexes, rawOptions{keep: keep, now: now})
	if err != nil {
		t.Fatal(err)
	}
	runSide(t, s.writers(t.Context(), 1, 1500))
	runSide(t, r.loop(1500, 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.db.Close(); err != nil {
		t.Fatal(err)
	}

	theirs := contents(t, rawPath)
	for name, mine := range contents(t, oursPath) {
		if name == "meta" { // the floor only has the position of it
			mine = map[string][]byte{rawPosition: mine[rawPosition]}
		}
		if name == "tables" || len(mine) == 0 {
			continue
		}
		if len(mine) != len(theirs[name]) {
			t.Errorf("bucket %q: the store has %d keys, the floor %d", name, len(mine), len(theirs[name]))
		}
		for k, v := range mine {
			if !bytes.Equal(v, theirs[name][k]) {
				t.Fatalf("bucket %q, key %x: the store has\n%x, the floor\n%x", name, k, v, theirs[name][k])
			}
		}
	}
	if n := len(theirs[rawJournal]); n < 200 || n > 700 {
		t.Errorf("the journal holds %d records: it was to be trimmed", n)
	}
}

func runSide(t *testing.T, s measure.Side) {
	t.Helper()
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(); err != nil {
		t.Fatal(err)
	}
}

// contents reads a bbolt file.
func contents(t *testing.T, path string) map[string]map[string][]byte {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	out := map[string]map[string][]byte{}
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			in := map[string][]byte{}
			out[string(name)] = in
			return b.ForEach(func(k, v []byte) error {
				in[string(k)] = bytes.Clone(v)
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
