package backup_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// backedUp backs up a store into a new folder.
func backedUp(t testing.TB, s *store.Store) store.BackupInfo {
	t.Helper()
	info, err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "backup.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// restored restores a backup into a new folder and opens the store.
func restored(t testing.TB, backup string) (*store.Store, store.RestoreInfo) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "restored.db")
	info, err := store.Restore(t.Context(), backup, path, store.RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return storetest.OpenWith(t, path, storetest.Quick()), info
}

func wantSame(t testing.TB, what string, got, want []attr.Item) {
	t.Helper()
	if !slices.EqualFunc(got, want, storetest.SameItem) {
		t.Errorf("%s: %d items, want %d, or they differ", what, len(got), len(want))
	}
}

func TestBackupIsTheStore(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	for n := range 500 {
		storetest.Put(t, s, "balls", storetest.Ball("final", n, "bowler", "archer", "text", strings.Repeat("x", n*7)))
	}
	storetest.Update(t, s, func(tx *store.Tx) error { return tx.SetCursor("reader", tx.Seq()-3) })
	var last, total int64
	path := filepath.Join(t.TempDir(), "b.db")
	info, err := s.Backup(t.Context(), path, func(done, of int64) {
		if done < last || done > of {
			t.Errorf("progress goes from %d to %d of %d", last, done, of)
		}
		last, total = done, of
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	if int64(len(raw)) != info.Bytes || hex.EncodeToString(sum[:]) != info.SHA256 || last != info.Bytes || total != info.Bytes {
		t.Errorf("%d bytes with sum %x, told %d of %d: %+v", len(raw), sum, last, total, info)
	}
	if info.Path != path || info.Node != s.Node() || info.Incarnation != 1 || info.Seq != s.Seq() || info.Tables != 2 ||
		info.TookSeconds <= 0 || info.HeldSeconds <= 0 || info.HeldSeconds > info.TookSeconds {
		t.Errorf("info %+v", info)
	}
	storetest.WantFiles(t, filepath.Dir(path), "b.db", "b.db.sha256")
	for _, name := range []string{path, path + ".sha256"} {
		if st, err := os.Stat(name); err != nil || st.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
	again := storetest.OpenWith(t, path, storetest.Quick()) // the backup itself is a store
	wantSame(t, "balls", storetest.All(t, again, "balls"), storetest.All(t, s, "balls"))
	if again.Seq() != s.Seq() || again.FirstSeq() != s.FirstSeq() || cursorOf(t, again) != s.Seq()-3 {
		t.Errorf("journal from %d to %d, cursor %d", again.FirstSeq(), again.Seq(), cursorOf(t, again))
	}
}

// sha256sum itself agrees, also if the name must be escaped.
func TestBackupChecksumIsThatOfSha256sum(t *testing.T) {
	program, err := exec.LookPath("sha256sum")
	if err != nil {
		t.Skip("there is no sha256sum")
	}
	s := storetest.Open(t, storetest.Matches())
	for _, name := range []string{"plain.db", "two words.db", "back\\slash.db", "new\nline.db"} {
		path := filepath.Join(t.TempDir(), name)
		if _, err := s.Backup(t.Context(), path, nil); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, "-c", name+".sha256")
		cmd.Dir = filepath.Dir(path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %s", name, err, out)
		}
		if _, err := store.Restore(t.Context(), path, path+".again", store.RestoreOptions{}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A transaction is in the backup as a whole or not at all, whatever is written meanwhile, and every page of the resulting file is used or
// free.
func TestBackupBesideWriters(t *testing.T) {
	o := store.Options{NoSync: true, JournalBytes: 1 << 20} // otherwise the journal is most of each backup
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, storetest.Balls(), storetest.Matches())
	for n := range 200 {
		storetest.Put(t, s, "balls", storetest.Ball("filler", n, "text", strings.Repeat("x", 3000)))
	}
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				err := s.Update(t.Context(), func(tx *store.Tx) error { return writeTwice(tx, w, n) })
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	dir := t.TempDir()
	for i := range 5 {
		path := filepath.Join(dir, fmt.Sprint(i))
		if _, err := s.Backup(t.Context(), path, nil); err != nil {
			t.Error(err)
			break
		}
		if problems, err := store.CheckFile(t.Context(), path, nil); err != nil || len(problems) > 0 {
			t.Errorf("backup %d: %v, %v", i, problems, err)
		}
		b, _ := restored(t, path)
		for w := range 4 {
			m, here := storetest.Get(t, b, "matches", storetest.Item("match", fmt.Sprint(w))), storetest.Get(t, b, "balls", storetest.Ball("w", w))
			if (m == nil) != (here == nil) || m != nil && !attr.Equal(m["n"], here["n"]) {
				t.Errorf("half a transaction: %s and %s", storetest.Show(m), storetest.Show(here))
			}
		}
	}
	stop()
	writers.Wait()
}

func writeTwice(tx *store.Tx, w, n int) error {
	if _, err := tx.Put(store.PutItem{Table: "matches", Item: storetest.Item("match", fmt.Sprint(w), "n", n)}); err != nil {
		return err
	}
	if _, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("filler", n%200, "text", strings.Repeat("y", n%4000))}); err != nil {
		return err
	}
	_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("w", w, "n", n)})
	return err
}

// bbolt itself finds nothing wrong with a backup, and finds its free pages.
func TestBackupIsAFileOfBbolt(t *testing.T) {
	const free = 500 // pages
	s := storetest.Open(t, storetest.Matches())
	wide(t, s, free)
	info := backedUp(t, s)
	db, err := bolt.Open(info.Path, 0o600, &bolt.Options{PreLoadFreelist: true, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		var errs []error
		for err := range tx.Check() {
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
	if err != nil {
		t.Error(err)
	}
	if have := db.Stats().FreePageN; have < free {
		t.Errorf("%d pages are free, want %d at least", have, free)
	}
}

// wide leaves the given number of free pages in the file.
func wide(t testing.TB, s *store.Store, pages int) {
	t.Helper()
	size := os.Getpagesize()
	text := strings.Repeat("x", 60*size)
	count := pages/60 + 20
	for from := 0; from < count; from += 64 {
		storetest.Update(t, s, func(tx *store.Tx) error {
			for n := from; n < min(from+64, count); n++ {
				if _, err := tx.Put(store.PutItem{Table: "matches", Item: storetest.Item("match", fmt.Sprint(n), "text", text)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	storetest.Update(t, s, func(tx *store.Tx) error {
		for n := range count {
			if _, err := tx.Delete(store.DeleteItem{Table: "matches", Key: storetest.Item("match", fmt.Sprint(n))}); err != nil {
				return err
			}
		}
		return nil
	})
	for range 50 { // each commit trims a slice of the journal
		storetest.Put(t, s, "matches", storetest.Item("match", "last"))
	}
}

func TestBackupRefusesWhatIsThere(t *testing.T) {
	s := storetest.Open(t, storetest.Matches())
	dir := t.TempDir()
	path := filepath.Join(dir, "there")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.Backup(t.Context(), path, nil)
	storetest.WantFault(t, err, fault.Conflict, "file_exists")
	_, err = s.Backup(t.Context(), s.Path(), nil)
	storetest.WantFault(t, err, fault.Conflict, "file_exists")
	_, err = s.Backup(t.Context(), filepath.Join(dir, "missing", "b.db"), nil)
	storetest.WantFault(t, err, fault.Unavailable, "cannot_write")
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "precious" {
		t.Errorf("%q, %v", raw, err)
	}
	storetest.WantFiles(t, dir, "there")
	// A file created while the copy is made is not overwritten either.
	late := filepath.Join(dir, "late")
	_, err = s.Backup(t.Context(), late, func(int64, int64) { _ = os.WriteFile(late, []byte("precious"), 0o600) })
	storetest.WantFault(t, err, fault.Conflict, "file_exists")
	storetest.WantFiles(t, dir, "late", "there")
}

// Whatever ends a copy early, nothing is left and the snapshot is released.
func TestBackupThatFailsLeavesNothing(t *testing.T) {
	cancelled := errors.New("cancelled")
	tests := []struct {
		name  string
		limit time.Duration
		act   func(s *store.Store, cancel context.CancelCauseFunc)
		check func(t *testing.T, err error)
	}{
		{
			name: "cancelled",
			act:  func(_ *store.Store, cancel context.CancelCauseFunc) { cancel(cancelled) },
			check: func(t *testing.T, err error) {
				if !errors.Is(err, cancelled) {
					t.Errorf("got %v", err)
				}
			},
		},
		{
			name: "too slow", limit: time.Nanosecond,
			act:   func(*store.Store, context.CancelCauseFunc) { t.Error("something was written behind the limit") },
			check: func(t *testing.T, err error) { storetest.WantFault(t, err, fault.Unavailable, "backup_deadline") },
		},
		{
			name: "closed",
			act: func(s *store.Store, _ context.CancelCauseFunc) {
				go s.Close()
				// From when running copies are stopped, others are refused. A copy that began here would wait for Close to end.
				over, cancel := context.WithCancel(t.Context())
				cancel()
				for err := error(nil); fault.KindOf(err) != fault.Unavailable; {
					_, err = s.CheckCopy(over, nil)
				}
			},
			check: func(t *testing.T, err error) { storetest.WantFault(t, err, fault.Unavailable, "store_closed") },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := storetest.Quick()
			o.BackupDeadline = test.limit
			path := filepath.Join(t.TempDir(), "s.db")
			s, err := store.Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Define(t.Context(), storetest.Matches()); err != nil {
				t.Fatal(err)
			}
			for n := range 8 {
				storetest.Put(t, s, "matches", storetest.Item("match", fmt.Sprint(n), "text", strings.Repeat("x", 100_000)))
			}
			dir := t.TempDir()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var once sync.Once
			_, err = s.Backup(ctx, filepath.Join(dir, "b.db"), func(int64, int64) {
				once.Do(func() {
					if st := s.Stats(); st.OpenReaders != 1 || st.OldestReader <= 0 {
						t.Errorf("the copy does not show: %d readers, %v", st.OpenReaders, st.OldestReader)
					}
					test.act(s, cancel)
				})
			})
			test.check(t, err)
			storetest.WantFiles(t, dir)
			if n := s.Stats().OpenReaders; n != 0 {
				t.Errorf("%d readers are left", n)
			}
		})
	}
}

// The deadline of Views does not end a copy.
func TestBackupOutlivesTheReadDeadline(t *testing.T) {
	o := storetest.Quick()
	o.ReadDeadline = time.Millisecond
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), o, storetest.Matches())
	storetest.Put(t, s, "matches", storetest.Item("match", "final", "text", strings.Repeat("x", 100_000)))
	_, err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "b.db"), func(int64, int64) {
		for begun := s.Stats().OldestReader; s.Stats().OldestReader < begun+3*time.Millisecond; {
			if s.Stats().OpenReaders == 0 {
				return // after the copy
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// A draft left behind by a crash is replaced; one that is being written is not touched.
func TestBackupDrafts(t *testing.T) {
	s := storetest.Open(t, storetest.Matches())
	dir := t.TempDir()
	path := filepath.Join(dir, "b.db")
	if err := os.WriteFile(path+".tmp", make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	var second error
	var once sync.Once
	info, err := s.Backup(t.Context(), path, func(int64, int64) {
		once.Do(func() { _, second = s.Backup(t.Context(), path, nil) })
	})
	if err != nil {
		t.Fatal(err)
	}
	storetest.WantFault(t, second, fault.Conflict, "in_progress")
	if st, err := os.Stat(path); err != nil || st.Size() != info.Bytes || st.Mode() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	storetest.WantFiles(t, dir, "b.db", "b.db.sha256")
}

// A store with a damaged page does not produce a backup, which could not be restored.
func TestBackupOfADamagedStore(t *testing.T) {
	path := storetest.Written(t)
	s, err := store.Open(path, storetest.Quick())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	storetest.BreakRows(t, path)
	dir := t.TempDir()
	_, err = s.Backup(t.Context(), filepath.Join(dir, "b.db"), nil)
	storetest.WantFault(t, err, fault.Damaged, "store_damaged")
	storetest.WantFiles(t, dir)
	if problems, err := s.CheckCopy(t.Context(), nil); err != nil || len(problems) != 1 || problems[0].Where != "file" {
		t.Errorf("check: %v, %v", problems, err)
	}
}
