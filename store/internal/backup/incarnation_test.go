package backup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func begin(t testing.TB, s *store.Store, above, want uint64) {
	t.Helper()
	got, err := s.BeginIncarnation(t.Context(), above)
	if err != nil || got != want || s.Incarnation() != want || s.Seq() != want<<40 {
		t.Errorf("incarnation %d (the store says %d, seq %x), %v; want %d", got, s.Incarnation(), s.Seq(), err, want)
	}
}

// What a file has written last stays known when incarnations begin and backups are restored, before the next record.
func TestLastWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	s, err := store.Open(path, store.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	want := func(s *store.Store, when string, want uint64) {
		t.Helper()
		var got uint64
		err := s.View(t.Context(), func(tx *store.Tx) (err error) {
			got, err = tx.LastWritten()
			return err
		})
		if err != nil || got != want {
			t.Errorf("%s: %x was written last, %v; want %x", when, got, err, want)
		}
	}
	want(s, "a new file", s.Seq())
	if err := s.Define(t.Context(), storetest.Balls()); err != nil {
		t.Fatal(err)
	}
	storetest.Put(t, s, "balls", storetest.Ball("final", 1), storetest.Ball("final", 2))
	last := s.Seq()
	want(s, "with records", last)
	begin(t, s, 0, 2)
	begin(t, s, 2, 3)
	want(s, "two incarnations later", last)
	backup := filepath.Join(dir, "backup.db")
	if _, err := s.Backup(t.Context(), backup, nil); err != nil {
		t.Fatal(err)
	}
	storetest.Put(t, s, "balls", storetest.Ball("final", 3))
	want(s, "with a record of this one", 3<<40+1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // the second time a backup of what was restored and never used
		restored := filepath.Join(dir, fmt.Sprintf("restored%d.db", i))
		if _, err := store.Restore(t.Context(), backup, restored, store.RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		r := storetest.OpenWith(t, restored, store.Options{NoSync: true})
		want(r, "restored", last)
		backup = filepath.Join(dir, fmt.Sprintf("backup%d.db", i))
		if _, err := r.Backup(t.Context(), backup, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBeginIncarnation: existing records stay, later ones are in the new incarnation, also after a restart.
func TestBeginIncarnation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := store.Open(path, store.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, s, 0, 2) // before anything is written
	if err := s.Define(t.Context(), storetest.Balls()); err != nil {
		t.Fatal(err)
	}
	storetest.Put(t, s, "balls", storetest.Ball("final", 1), storetest.Ball("final", 2))
	storetest.Check(t, s)
	begin(t, s, 1, 3)
	storetest.Check(t, s)
	begin(t, s, 8, 9) // above an incarnation known elsewhere
	storetest.Put(t, s, "balls", storetest.Ball("final", 2, "runs", 4))
	storetest.Check(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = storetest.OpenWith(t, path, store.Options{NoSync: true})
	storetest.Put(t, s, "balls", storetest.Ball("final", 3))
	var seqs []uint64
	for _, r := range storetest.Journal(t, s, 0) {
		seqs = append(seqs, r.Seq)
		if r.Seq == 9<<40+1 {
			storetest.WantItem(t, "the image before the step", r.Old, storetest.Ball("final", 2))
		}
	}
	if len(seqs) != 4 || seqs[0] != 2<<40+1 || seqs[1] != 2<<40+2 || seqs[2] != 9<<40+1 || seqs[3] != 9<<40+2 {
		t.Errorf("sequences %x", seqs)
	}
}

// TestIncarnationsAreNotRepeated: a restore, a failed commit or an older copy of the file never repeats an incarnation.
func TestIncarnationsAreNotRepeated(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "s.db"), filepath.Join(dir, "backup")
	s, err := store.Open(path, store.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Backup(t.Context(), backup, nil); err != nil {
		t.Fatal(err)
	}
	begin(t, s, 0, 2)
	ctx, cancel := context.WithCancel(t.Context())
	disarm := failpoint.Arm(failpoint.On(failpoint.IncarnationNoted, 1, func() error {
		cancel() // it is noted beside the file but does not get into it
		return nil
	}))
	_, err = s.BeginIncarnation(ctx, 0)
	disarm()
	if !errors.Is(err, context.Canceled) || s.Incarnation() != 2 {
		t.Errorf("canceled: %v, incarnation %d", err, s.Incarnation())
	}
	begin(t, s, 0, 4)
	if err := errors.Join(s.Close(), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	info, err := store.Restore(t.Context(), backup, path, store.RestoreOptions{})
	if err != nil || info.Incarnation != 5 {
		t.Errorf("restored as %d, %v", info.Incarnation, err)
	}
	s = storetest.OpenWith(t, path, store.Options{NoSync: true})
	begin(t, s, 0, 6)
	_, err = s.BeginIncarnation(t.Context(), 1<<24-1)
	storetest.WantFault(t, err, fault.Invalid, "bad_incarnation")
	begin(t, s, 1<<24-2, 1<<24-1)
}

func TestIncarnationInMemory(t *testing.T) {
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	begin(t, s, 0, 2)
	begin(t, s, 40, 41)
	if err := s.Define(t.Context(), storetest.Matches()); err != nil {
		t.Fatal(err)
	}
	storetest.Put(t, s, "matches", storetest.Item("match", "final"))
	if s.Seq() != 41<<40+1 {
		t.Errorf("seq %x", s.Seq())
	}
	storetest.Check(t, s)
}

// TestIncarnationAndTrimming: the jump in the sequences affects neither trimming nor streams.
func TestIncarnationAndTrimming(t *testing.T) {
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, JournalBytes: 2000}, storetest.Balls())
	for i := range uint64(5) {
		begin(t, s, 0, 2+i)
		for n := range 100 {
			storetest.Put(t, s, "balls", storetest.Ball("final", n%7, "runs", n))
		}
		storetest.Check(t, s)
	}
	if records := storetest.Journal(t, s, 0); len(records) > 90 || records[0].Seq>>40 != 6 {
		t.Errorf("%d records from %x on", len(records), records[0].Seq)
	}
}

// TestIncarnationOnAFullDisk: an existing note is overwritten, and later incarnations are above it. Without a note a full disk is an
// error.
func TestIncarnationOnAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	note := path + ".incarnations"
	s := storetest.OpenWith(t, path, store.Options{Node: "a", NoSync: true})
	full := func(had string) (room func()) { // restores the note that a draft has replaced
		return failpoint.Arm(failpoint.On(failpoint.DraftNamed, 1, func() error {
			err := os.Remove(note)
			if err == nil && had != "" {
				err = os.WriteFile(note, []byte(had), 0o600)
			}
			return errors.Join(err, syscall.ENOSPC)
		}))
	}
	room := full("")
	_, err := s.BeginIncarnation(t.Context(), 0)
	storetest.WantFault(t, err, fault.Full, "no_room")
	room()
	for range 2 { // the second time it exists
		if err := s.KeepIncarnation(); err != nil {
			t.Fatal(err)
		}
	}
	has := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(note); err != nil || string(got) != want {
			t.Errorf("the note is %q, %v; want %q", got, err, want)
		}
	}
	has("{\"a\":1}\n")
	room = full("{\"a\":1,    \"b\":7}\n")
	_, err = s.BeginIncarnation(t.Context(), 8) // does not know of b
	room()
	if err != nil || s.Incarnation() != 9 {
		t.Errorf("incarnation %d, %v", s.Incarnation(), err)
	}
	has("{\"a\":9}\n")
	begin(t, s, 0, 10)
	has("{\"a\":10}\n")

	long := "{\"a\":10,\"" + strings.Repeat("n", 512) + "\":1}\n" // no disk writes that atomically
	if err := os.WriteFile(note, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	room = full(long)
	_, err = s.BeginIncarnation(t.Context(), 0)
	room()
	storetest.WantFault(t, err, fault.Full, "no_room")
	has(long)
}
