package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// sequencesOf returns the sequences in the journal.
func sequencesOf(t testing.TB, s *store.Store) (seqs []uint64) {
	t.Helper()
	for _, r := range storetest.Journal(t, s, 0) {
		seqs = append(seqs, r.Seq)
	}
	return seqs
}

// cursorOf returns the position of the journal's reader.
func cursorOf(t testing.TB, s *store.Store) (seq uint64) {
	t.Helper()
	storetest.View(t, s, func(tx *store.Tx) (err error) {
		seq, _, err = tx.Cursor("reader")
		return err
	})
	return seq
}

func TestRestoreLeavesItsHistory(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1, "runs", 4), storetest.Ball("final", 2, "runs", 6))
	storetest.Update(t, s, func(tx *store.Tx) error { return tx.SetCursor("reader", tx.Seq()-1) })
	old := s.Seq()
	info := backedUp(t, s)
	storetest.Put(t, s, "balls", storetest.Ball("final", 3)) // lost by the restore

	r, ri := restored(t, info.Path)
	if ri.Incarnation != 2 || ri.Node != s.Node() || ri.Seq != old || ri.Tables != 2 || ri.Bytes == 0 || ri.Path != r.Path() {
		t.Errorf("info %+v", ri)
	}
	if r.Incarnation() != 2 || r.Node() != s.Node() || r.Seq() != 2<<40 || r.FirstSeq() != s.FirstSeq() {
		t.Errorf("restored: incarnation %d, journal from %d to %d", r.Incarnation(), r.FirstSeq(), r.Seq())
	}
	wantSame(t, "balls", storetest.All(t, r, "balls"), storetest.All(t, s, "balls")[:2])
	if got := cursorOf(t, r); got != old-1 {
		t.Errorf("the cursor is at %d, want %d", got, old-1)
	}
	storetest.Check(t, r)
	storetest.Update(t, r, func(tx *store.Tx) error {
		if _, err := tx.Update(store.UpdateItem{Table: "balls", Key: storetest.Ball("final", 1), Update: "SET runs = :r", Params: storetest.Values(":r", 5)}); err != nil {
			return err
		}
		_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("final", 3)})
		return err
	})
	want := []uint64{1<<40 + 1, 1<<40 + 2, 2<<40 + 1, 2<<40 + 2}
	if got := sequencesOf(t, r); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("sequences %v, want %v", got, want)
	}
	records := storetest.Journal(t, r, old)
	if len(records) != 2 || records[0].Txn != 2<<40+1 || records[1].Txn != 2<<40+1 {
		t.Fatalf("behind the step: %+v", records)
	}
	storetest.WantItem(t, "old image over the step", records[0].Old, storetest.Ball("final", 1, "runs", 4))
}

// Trimming passes the jump between incarnations, and a journal trimmed to its end continues after it.
func TestRestoredJournalIsTrimmed(t *testing.T) {
	s := storetest.Open(t, storetest.Matches())
	for n := range 20 {
		storetest.Put(t, s, "matches", storetest.Item("match", fmt.Sprint(n%3), "text", strings.Repeat("x", 100)))
	}
	path := filepath.Join(t.TempDir(), "restored.db")
	if _, err := store.Restore(t.Context(), backedUp(t, s).Path, path, store.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	o := storetest.Quick()
	o.JournalBytes = 1
	r := storetest.OpenWith(t, path, o)
	for n := range 5 {
		storetest.Put(t, r, "matches", storetest.Item("match", fmt.Sprint(n%3), "n", n))
		storetest.Check(t, r)
	}
	if r.FirstSeq() != 2<<40+6 || r.Seq() != 2<<40+5 {
		t.Errorf("journal from %d to %d", r.FirstSeq(), r.Seq())
	}
	again, _ := restored(t, backedUp(t, r).Path) // with an empty journal
	if again.FirstSeq() != 3<<40+1 || again.Seq() != 3<<40 {
		t.Errorf("journal from %d to %d", again.FirstSeq(), again.Seq())
	}
	storetest.Put(t, again, "matches", storetest.Item("match", "x"))
}

// A backup restored twice in the same place does not use a sequence twice.
func TestRestoreTwice(t *testing.T) {
	s := storetest.Open(t, storetest.Matches())
	storetest.Put(t, s, "matches", storetest.Item("match", "a"))
	backup := backedUp(t, s).Path
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	for want := uint64(2); want < 5; want++ {
		info, err := store.Restore(t.Context(), backup, path, store.RestoreOptions{})
		if err != nil || info.Incarnation != want {
			t.Fatalf("incarnation %d, want %d, %v", info.Incarnation, want, err)
		}
		storetest.WantFiles(t, dir, "s.db", "s.db.incarnations")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path+".incarnations", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := store.Restore(t.Context(), backup, path, store.RestoreOptions{})
	storetest.WantFault(t, err, fault.Damaged, "bad_incarnations")
	storetest.WantFiles(t, dir, "s.db.incarnations")
}

func TestRestoreRefuses(t *testing.T) {
	s := storetest.Open(t, storetest.Balls(), storetest.Matches())
	for n := range 100 {
		storetest.Put(t, s, "balls", storetest.Ball("final", n, "text", strings.Repeat("x", 500)))
	}
	info := backedUp(t, s)
	good, err := os.ReadFile(info.Path)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(info.Path + ".sha256")
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 1
	torn := bytes.Clone(good)
	for at := 8 * os.Getpagesize(); at < len(torn); at += os.Getpagesize() {
		torn[at] ^= 0xff
	}
	tests := []struct {
		name      string
		raw, sum  []byte
		unchecked bool
		kind      fault.Kind
		code      string
	}{
		{name: "no checksum", raw: good, kind: fault.Invalid, code: "no_checksum"},
		{name: "one bit", raw: flipped, sum: sum, kind: fault.Damaged, code: "bad_checksum"},
		{name: "one bit, unchecked", raw: flipped, sum: sum, unchecked: true, kind: fault.Damaged, code: "bad_checksum"},
		{name: "cut short", raw: good[:len(good)-4096], sum: sum, kind: fault.Damaged, code: "bad_checksum"},
		{name: "cut short, unchecked", raw: good[:len(good)-4096], unchecked: true, kind: fault.Damaged, code: "store_damaged"},
		{name: "torn, unchecked", raw: torn, unchecked: true, kind: fault.Damaged, code: "store_damaged"},
		{name: "empty, unchecked", raw: []byte{}, unchecked: true, kind: fault.Damaged, code: "store_damaged"},
		{name: "foreign, unchecked", raw: []byte(strings.Repeat("text", 5000)), unchecked: true, kind: fault.Damaged, code: "store_damaged"},
		{name: "no sum in the sum", raw: good, sum: []byte("hello\n"), kind: fault.Damaged, code: "bad_checksum"},
		{name: "there is none", unchecked: true, kind: fault.NotFound, code: "cannot_read"},
		{name: "there is none, and no sum", kind: fault.NotFound, code: "cannot_read"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			backup := filepath.Join(t.TempDir(), "b.db")
			write := func(name string, raw []byte) {
				if raw != nil {
					if err := os.WriteFile(name, raw, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(backup, test.raw)
			write(backup+".sha256", test.sum)
			dir := t.TempDir()
			_, err := store.Restore(t.Context(), backup, filepath.Join(dir, "s.db"), store.RestoreOptions{Unchecked: test.unchecked})
			storetest.WantFault(t, err, test.kind, test.code)
			if test.code != "bad_incarnations" {
				storetest.WantFiles(t, dir)
			}
		})
	}
	t.Run("a good one without its checksum, unchecked", func(t *testing.T) {
		backup := filepath.Join(t.TempDir(), "b.db")
		if err := os.WriteFile(backup, good, 0o400); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "new", "s.db")
		if _, err := store.Restore(t.Context(), backup, path, store.RestoreOptions{Unchecked: true}); err != nil {
			t.Fatal(err)
		}
		wantSame(t, "balls", storetest.All(t, storetest.OpenWith(t, path, storetest.Quick()), "balls"), storetest.All(t, s, "balls"))
	})
	t.Run("over a file", func(t *testing.T) {
		path := storetest.Written(t)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Restore(t.Context(), info.Path, path, store.RestoreOptions{})
		storetest.WantFault(t, err, fault.Conflict, "file_exists")
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("the file was changed, %v", err)
		}
	})
	t.Run("a store in use", func(t *testing.T) {
		_, err := store.Restore(t.Context(), s.Path(), filepath.Join(t.TempDir(), "s.db"), store.RestoreOptions{Unchecked: true})
		storetest.WantFault(t, err, fault.Locked, "store_locked")
	})
}

func TestRestoreInterrupted(t *testing.T) {
	s := storetest.Open(t, storetest.Matches())
	for n := range 8 {
		storetest.Put(t, s, "matches", storetest.Item("match", fmt.Sprint(n), "text", strings.Repeat("x", 200_000)))
	}
	backup := backedUp(t, s).Path
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	_, err := store.Restore(ctx, backup, path, store.RestoreOptions{Progress: func(done, total int64) {
		if done > total/2 {
			cancel(stopped)
		}
	}})
	if !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
	storetest.WantFiles(t, dir)
	// Leftovers of a kill are replaced by the next restore, and removed by the next Open.
	if err := os.WriteFile(path+".restore", make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(t.Context(), backup, path, store.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	storetest.WantFiles(t, dir, "s.db", "s.db.incarnations")
	for _, suffix := range []string{".restore", ".compact", ".check", ".new-41-1763728000000000000", ".new-one"} {
		if err := os.WriteFile(path+suffix, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	storetest.OpenWith(t, path, storetest.Quick())
	storetest.WantFiles(t, dir, "s.db", "s.db.incarnations", "s.db.new-one")
}

// A kill while a restored store gets its name leaves it with both names. After it is moved away, the other name is not overwritten.
func TestRestoreSparesTheFileWithBothNames(t *testing.T) {
	s := storetest.Open(t, storetest.Matches())
	storetest.Put(t, s, "matches", storetest.Item("match", "1"))
	backup := backedUp(t, s).Path
	path := filepath.Join(t.TempDir(), "s.db")
	if _, err := store.Restore(t.Context(), backup, path, store.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	before, readErr := os.ReadFile(path)
	if err := errors.Join(readErr, os.Link(path, path+".restore"), os.Rename(path, path+".old")); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(t.Context(), backup, path, store.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path + ".old"); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the store that was moved away is not what it was: %v", err)
	}
	storetest.WantFiles(t, filepath.Dir(path), "s.db", "s.db.incarnations", "s.db.old")
}

// A copy that got its name, but whose folder cannot be synced, is removed again, so a second try is not refused.
func TestANameThatDoesNotLast(t *testing.T) {
	s := storetest.Open(t, storetest.Balls())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1))
	backup, dir := backedUp(t, s).Path, t.TempDir()
	broken := errors.New("the folder cannot be synced")
	for name, do := range map[string]func(path string) error{
		"backup": func(path string) error {
			_, err := s.Backup(t.Context(), path, nil)
			return err
		},
		"restore": func(path string) error {
			_, err := store.Restore(t.Context(), backup, path, store.RestoreOptions{})
			return err
		},
	} {
		path, nth := filepath.Join(dir, name), map[string]int64{"backup": 1, "restore": 2}[name]
		disarm := failpoint.Arm(failpoint.On(failpoint.DraftNamed, nth, func() error { return broken }))
		err := do(path)
		disarm()
		if _, there := os.Lstat(path); !errors.Is(err, broken) || there == nil {
			t.Errorf("%s: %v, and the file is there: %v", name, err, there == nil)
		}
		if err := do(path); err != nil {
			t.Errorf("%s again: %v", name, err)
		}
	}
}
