package storetest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
)

// BreakRows damages the header of every page with much of the items' text.
func BreakRows(t testing.TB, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // everything has been written
	size := os.Getpagesize()
	for at := 0; at+size <= len(raw); at += size {
		if strings.Count(string(raw[at:at+size]), "xxxx") < size/16 {
			continue
		}
		if _, err := f.WriteAt([]byte{0xff, 0xff, 0xff}, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
}

// Quick returns options for a store whose file another process may hold: it hardly waits for the lock, and syncs nothing to disk.
func Quick() store.Options { return store.Options{NoSync: true, LockTimeout: 50 * time.Millisecond} }

// WantFiles fails the test unless a folder has exactly these files.
func WantFiles(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// Written creates a store with some hundred items, closes it, and returns its path.
func Written(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "written.db")
	s, err := store.Open(path, Quick())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Define(t.Context(), Balls(), Matches()); err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		Put(t, s, "balls", Ball("final", n, "bowler", "archer", "text", strings.Repeat("x", n)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
