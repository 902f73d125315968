package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// airy creates a store with mostly free pages, cleanly closed or killed, and returns its path.
func airy(t testing.TB, inOrder bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "airy.db")
	o := storetest.Quick()
	o.JournalBytes = 1
	s, err := store.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Define(t.Context(), storetest.Balls(), storetest.Matches()); err != nil {
		t.Fatal(err)
	}
	wide(t, s, 500)
	for n := range 300 {
		storetest.Put(t, s, "balls", storetest.Ball("final", n, "bowler", "archer", "text", strings.Repeat("x", n)))
	}
	storetest.Update(t, s, func(tx *store.Tx) error { return tx.SetCursor("reader", tx.Seq()-10) })
	if inOrder {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	killed := filepath.Join(t.TempDir(), "killed.db")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(killed, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return killed
}

// dump returns the whole content of a file: buckets with their sequence, keys and values.
func dump(t testing.TB, path string) string {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out strings.Builder
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			fmt.Fprintf(&out, "%x %d\n", name, b.Sequence())
			return b.ForEach(func(k, v []byte) error {
				fmt.Fprintf(&out, " %x %x\n", k, v)
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func sizeOf(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestCompactKeepsEverything(t *testing.T) {
	for _, inOrder := range []bool{true, false} {
		t.Run(fmt.Sprint("closed in order ", inOrder), func(t *testing.T) {
			path := airy(t, inOrder)
			setSequence(t, path)
			before, said := sizeOf(t, path), dump(t, path)
			var last int64
			info, err := store.Compact(t.Context(), path, func(done, total int64) {
				if done < last || done > total {
					t.Errorf("%d after %d of %d", done, last, total)
				}
				last = done
			})
			if err != nil {
				t.Fatal(err)
			}
			after := sizeOf(t, path)
			if info.Before != before || info.After != after || info.Path == "" || info.TookSeconds <= 0 || after*10 > before || last == 0 {
				t.Errorf("%+v, %d bytes before and %d after", info, before, after)
			}
			if dump(t, path) != said {
				t.Error("it does not say what it said")
			}
			storetest.WantFiles(t, filepath.Dir(path), filepath.Base(path))
			if st, err := os.Stat(path); err != nil || st.Mode() != 0o600 {
				t.Errorf("%v, %v", st, err)
			}
			s := storetest.OpenWith(t, path, storetest.Quick())
			storetest.Put(t, s, "balls", storetest.Ball("final", 1000))
		})
	}
}

// setSequence sets a bucket's sequence, which the store itself does not use.
func setSequence(t testing.TB, path string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("cursors")).SetSequence(77) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestCompactRefuses(t *testing.T) {
	_, err := store.Compact(t.Context(), filepath.Join(t.TempDir(), "none.db"), nil)
	storetest.WantFault(t, err, fault.NotFound, "cannot_read")

	foreign := filepath.Join(t.TempDir(), "foreign.db")
	if err := os.WriteFile(foreign, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = store.Compact(t.Context(), foreign, nil)
	storetest.WantFault(t, err, fault.Damaged, "store_damaged")

	path := storetest.Written(t)
	s, err := store.Open(path, storetest.Quick())
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Compact(t.Context(), path, nil)
	storetest.WantFault(t, err, fault.Locked, "store_locked")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	said := dump(t, path)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if _, err = store.Compact(ctx, path, nil); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
	storetest.WantFiles(t, filepath.Dir(path), filepath.Base(path))
	if dump(t, path) != said {
		t.Error("a cancelled compaction has changed the file")
	}

	storetest.BreakRows(t, path)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Compact(t.Context(), path, nil)
	storetest.WantFault(t, err, fault.Damaged, "store_damaged")
	if again, err := os.ReadFile(path); err != nil || string(again) != string(raw) {
		t.Errorf("a damaged file was changed, %v", err)
	}
	storetest.WantFiles(t, filepath.Dir(path), filepath.Base(path))
}

// The file is replaced while another process waits for its lock: that process gets the new file.
func TestOpenWhileItIsCompacted(t *testing.T) {
	path := airy(t, true)
	opened := make(chan *store.Store)
	started := false
	_, err := store.Compact(t.Context(), path, func(int64, int64) {
		if started {
			return
		}
		started = true
		go func() {
			o := storetest.Quick()
			o.LockTimeout = 1 << 40
			s, err := store.Open(path, o)
			if err != nil {
				t.Error(err)
			}
			opened <- s
		}()
	})
	if err != nil {
		t.Fatal(err)
	}
	s := <-opened
	if s == nil {
		return
	}
	storetest.Put(t, s, "balls", storetest.Ball("final", 1000))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := storetest.OpenWith(t, path, storetest.Quick())
	if storetest.Get(t, again, "balls", storetest.Ball("final", 1000)) == nil {
		t.Error("what was written lies in the old file")
	}
}

func TestOpenCompacts(t *testing.T) {
	tests := []struct {
		name    string
		above   int64
		inOrder bool
		want    bool
	}{
		{"pays", 1 << 20, true, true},
		{"pays, not closed in order", 1 << 20, false, true},
		{"too small to care", 0, true, false},
		{"never", -1, true, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := airy(t, test.inOrder)
			before := sizeOf(t, path)
			o := storetest.Quick()
			o.CompactAbove = test.above
			s, err := store.Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			info, done, err := s.Compaction()
			if done != test.want || err != nil {
				t.Fatalf("compacted %v, want %v, %v: %+v", done, test.want, err, info)
			}
			if test.want && (info.Before != before || info.After*10 > before) {
				t.Errorf("%+v", info)
			}
			if got := len(storetest.All(t, s, "balls")); got != 300 {
				t.Errorf("%d items", got)
			}
			storetest.Put(t, s, "balls", storetest.Ball("final", 1000))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again := storetest.OpenWith(t, path, o)
			if _, done, err := again.Compaction(); done || err != nil {
				t.Errorf("compacted again: %v", err)
			}
			_, err = store.Open(path, storetest.Quick())
			storetest.WantFault(t, err, fault.Locked, "store_locked") // the new file is locked
		})
	}
}

// Without room for the copy, Open continues with the file as it is.
func TestOpenCannotCompact(t *testing.T) {
	path := airy(t, true)
	if err := os.Mkdir(path+".compact", 0o700); err != nil { // the draft cannot be created
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path+".compact", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := storetest.Quick()
	o.CompactAbove = 1
	before := sizeOf(t, path)
	s := storetest.OpenWith(t, path, o)
	_, done, err := s.Compaction()
	if !done {
		t.Error("it does not say that it did not compact")
	}
	storetest.WantFault(t, err, fault.Unavailable, "cannot_write")
	if got := len(storetest.All(t, s, "balls")); got != 300 || sizeOf(t, path) < before {
		t.Errorf("%d items in %d bytes", got, sizeOf(t, path))
	}
}

// A store behind a symbolic link, usually on another disk, stays where it is.
func TestCompactBehindALink(t *testing.T) {
	path := airy(t, true)
	before, said := sizeOf(t, path), dump(t, path)
	dir := t.TempDir()
	link := filepath.Join(dir, "s.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Compact(t.Context(), link, nil); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("the link is one to %q: %v", to, err)
	}
	if after := sizeOf(t, path); after*10 > before || dump(t, path) != said {
		t.Errorf("%d bytes before and %d after, or it does not say what it said", before, after)
	}
	storetest.WantFiles(t, dir, "s.db")
	storetest.WantFiles(t, filepath.Dir(path), filepath.Base(path))
	if err := os.WriteFile(path+".compact", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	storetest.OpenWith(t, link, storetest.Quick())
	storetest.WantFiles(t, filepath.Dir(path), filepath.Base(path))
}
