package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/txn"
)

var notes = TableSpec{Name: "notes", Key: KeySpec{Partition: KeyAttr{Name: "id", Type: KeyNumber}}}

func openNotes(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "s.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Define(t.Context(), notes); err != nil {
		t.Fatal(err)
	}
	return s
}

func putNote(ctx context.Context, s *Store, id, size int) error {
	return s.Update(ctx, func(tx *Tx) error {
		_, err := tx.Put(PutItem{Table: "notes", Item: attr.Item{
			"id": attr.Int(int64(id)), "text": attr.S(strings.Repeat("x", size)),
		}})
		return err
	})
}

func deleteNote(ctx context.Context, s *Store, id int) error {
	return s.Update(ctx, func(tx *Tx) error {
		_, err := tx.Delete(DeleteItem{Table: "notes", Key: attr.Item{"id": attr.Int(int64(id))}})
		return err
	})
}

func wantKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if fault.KindOf(err) != kind {
		t.Errorf("got error %v of kind %d, want kind %d", err, fault.KindOf(err), kind)
	}
}

// fill puts notes until there is no room, and returns their number.
func fill(t *testing.T, s *Store) int {
	t.Helper()
	for id := range 10000 {
		err := putNote(t.Context(), s, id, 20000)
		if err == nil {
			continue
		}
		wantKind(t, err, fault.Full)
		return id
	}
	t.Fatal("it is never full")
	return 0
}

// afterFull checks a full store: it continues, deletes make room, and what was refused is not there.
func afterFull(t *testing.T, s *Store, n int) {
	t.Helper()
	ctx := t.Context()
	if s.engine.Err() != nil {
		t.Fatalf("latched: %v", s.engine.Err())
	}
	for id := range n / 2 {
		if err := deleteNote(ctx, s, id); err != nil {
			t.Fatalf("delete %d of %d: %v", id, n, err)
		}
	}
	if err := putNote(ctx, s, n, 10); err != nil {
		t.Errorf("put after deletes: %v", err)
	}
	if s.Stats().Refused == 0 {
		t.Error("no refusal was counted")
	}
	problems, err := s.CheckCopy(ctx, nil)
	if err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}

func TestMaxSizeIsARefusal(t *testing.T) {
	s := openNotes(t, Options{NoSync: true, MaxSize: 4 << 20, JournalBytes: 1 << 20})
	n := fill(t, s)
	if size := s.Stats().FileBytes; size > 4<<20 || size < 3<<20 {
		t.Errorf("the file has %d bytes", size)
	}
	afterFull(t, s, n)
}

func TestFullDiskIsARefusal(t *testing.T) {
	s := openNotes(t, Options{NoSync: true, JournalBytes: 1 << 20})
	space := int64(6 << 20)
	s.engine.Room.Allocate = func(f *os.File, from, to int64) error {
		if to > space {
			return syscall.ENOSPC
		}
		return disk.Allocate(f, from, to)
	}
	n := fill(t, s)
	if size := s.Stats().FileBytes; size > space {
		t.Errorf("the file has %d bytes", size)
	}
	afterFull(t, s, n)

	space = 100 << 20 // space is available again: no restart is needed
	for id := range 300 {
		if err := putNote(t.Context(), s, 1000+id, 20000); err != nil {
			t.Fatalf("with room again: %v", err)
		}
	}
}

// bbolt reads the whole file after it has refused a commit: a commit that would be refused again is not passed to it.
func TestRefusedAgainWithoutBbolt(t *testing.T) {
	s := openNotes(t, Options{NoSync: true, MaxSize: 4 << 20, JournalBytes: 1 << 20})
	ctx, n := t.Context(), fill(t, s)
	if s.engine.Room.Refused == 0 || s.engine.Room.Retry.IsZero() {
		t.Fatal("the refusal was not noted")
	}
	s.engine.Room.Retry = time.Now().Add(time.Hour)
	began := s.engine.Room.Retry
	wantKind(t, putNote(ctx, s, n, 20000), fault.Full)
	if !s.engine.Room.Retry.Equal(began) {
		t.Error("bbolt was asked again")
	}
	_ = putNote(ctx, s, n, 10) // needs less, so it is tried
	if s.engine.Room.Retry.Equal(began) && s.engine.Room.Refused != 0 {
		t.Error("a smaller one was not tried")
	}
	s.engine.Room.Refused, s.engine.Room.Retry = 1, time.Now().Add(time.Hour)
	if err := deleteNote(ctx, s, n-1); err != nil || s.engine.Room.Refused != 0 {
		t.Errorf("delete: %v", err)
	}
	afterFull(t, s, n-1)
}

// The spare megabyte is for deletes while nothing else is free: an open View prevents the reuse of all pages that they free.
func TestDeletesHaveSpaceOfTheirOwn(t *testing.T) {
	for name, full := range map[string]func(*Options, *Store){
		"limit": func(o *Options, _ *Store) { o.MaxSize = 6 << 20 },
		"disk": func(_ *Options, s *Store) {
			if s == nil {
				return
			}
			s.engine.Room.Allocate = func(f *os.File, from, to int64) error {
				if to > 6<<20 {
					return syscall.ENOSPC
				}
				return disk.Allocate(f, from, to)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{NoSync: true, JournalBytes: 1 << 20, ReadDeadline: time.Hour}
			full(&o, nil)
			s := openNotes(t, o)
			full(&o, s)
			err := s.View(t.Context(), func(*Tx) error {
				n := fill(t, s)
				last := 0 // small notes use up the remaining single pages
				for id := 10_000; last == 0; id++ {
					if err := putNote(t.Context(), s, id, 10); err != nil {
						wantKind(t, err, fault.Full)
						last = id
					}
				}
				for id := range min(n, 10) {
					if err := deleteNote(t.Context(), s, id); err != nil {
						t.Fatalf("delete %d with all pages held back: %v", id, err)
					}
				}
				wantKind(t, putNote(t.Context(), s, last, 10), fault.Full) // the spare is not for puts
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			afterFull(t, s, fill(t, s))
		})
	}
}

// A write that needs no new space is not refused because of a neighbour that does.
func TestFullRefusesOneAtATime(t *testing.T) {
	s := openNotes(t, Options{NoSync: true, MaxSize: 4 << 20, JournalBytes: 1 << 20})
	n := fill(t, s)
	if got := s.engine.Commits.BatchLimit(); got != 1 {
		t.Fatalf("batches of up to %d after a refusal", got)
	}
	if err := deleteNote(t.Context(), s, n-1); err != nil {
		t.Fatal(err)
	}
	if got := s.engine.Commits.BatchLimit(); got != txn.MaxBatch {
		t.Errorf("batches of up to %d after a commit", got)
	}
}

func TestIOErrorLatches(t *testing.T) {
	s := openNotes(t, Options{NoSync: true})
	ctx := t.Context()
	if err := putNote(ctx, s, 1, 10); err != nil {
		t.Fatal(err)
	}
	seq := s.Seq()
	if err := s.engine.Room.F.Close(); err != nil { // bbolt writes through it
		t.Fatal(err)
	}
	err := putNote(ctx, s, 2, 10)
	wantKind(t, err, fault.Unavailable)
	if !errors.Is(err, os.ErrClosed) || s.engine.Err() == nil {
		t.Errorf("got %v, latched with %v", err, s.engine.Err())
	}
	select {
	case <-s.Failed():
	default:
		t.Error("Failed is not closed")
	}
	first := s.engine.Err()
	wantKind(t, putNote(ctx, s, 3, 10), fault.Unavailable)
	if s.engine.Err() != first { //nolint:errorlint // the same one is meant
		t.Error("the first error did not stay")
	}
	if s.Seq() != seq {
		t.Error("memory moved without a commit")
	}
	err = s.View(ctx, func(tx *Tx) error { // reads still work
		it, err := tx.Get("notes", attr.Item{"id": attr.Int(1)})
		if it == nil {
			t.Error("the first note is gone")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A file for which the disk had no blocks when it was opened accepts no commit until it has them: bbolt would write into a hole, and meet
// the full disk in the middle of a commit.
func TestHolesAreARefusal(t *testing.T) {
	s := openNotes(t, Options{NoSync: true})
	answers := syscall.ENOSPC
	s.engine.Room.Holes, s.engine.Room.Fill = true, func(f *os.File, size int64) error {
		if answers != 0 {
			return answers
		}
		return disk.FillHoles(f, size)
	}
	wantKind(t, putNote(t.Context(), s, 1, 10), fault.Full)
	wantKind(t, putNote(t.Context(), s, 1, 10), fault.Full)
	answers = 0 // space is available again: no restart is needed
	if err := putNote(t.Context(), s, 1, 10); err != nil || s.engine.Err() != nil {
		t.Errorf("with room again: %v, %v", err, s.engine.Err())
	}
	s.engine.Room.Holes, answers = true, syscall.EIO
	wantKind(t, putNote(t.Context(), s, 2, 10), fault.Unavailable)
	if s.engine.Err() == nil {
		t.Error("not latched: what such a disk holds of the file is not known")
	}
}

func TestPanicInCommitLatches(t *testing.T) {
	s := openNotes(t, Options{NoSync: true})
	s.engine.Room.Allocate = func(*os.File, int64, int64) error { panic("disk on fire") }
	var err error
	for id := 0; err == nil && id < 20; id++ { // until the file has to grow
		err = putNote(t.Context(), s, id, 300_000)
	}
	wantKind(t, err, fault.Unavailable)
	s.engine.Room.Allocate = disk.Allocate
	wantKind(t, putNote(t.Context(), s, 1, 10), fault.Unavailable) // a disk that works again changes nothing
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestFailedUndoTakesTheBatchDown(t *testing.T) {
	s := openNotes(t, Options{NoSync: true})
	err := s.Update(t.Context(), func(tx *Tx) error {
		tx.core.Batch.AddUndo(txn.UndoEntry{Again: func() error { return errors.New("cannot") }}, 0)
		return errors.New("a reason to undo")
	})
	wantKind(t, err, fault.Unavailable)
	if s.engine.Err() == nil {
		t.Error("not latched")
	}
}

// What bbolt took beyond what was foreseen is data: growing the file must not overwrite it.
func TestGrowingStartsAtTheEndOfTheFile(t *testing.T) {
	s := openNotes(t, Options{NoSync: true})
	s.engine.Room.Allocate = disk.WriteZeros
	for id := range 100 {
		s.engine.Room.Size.Store(0) // as if none of it had been foreseen
		if err := putNote(t.Context(), s, id, 30_000); err != nil {
			t.Fatal(err)
		}
	}
	problems, err := s.CheckCopy(t.Context(), nil)
	if err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}
