package file_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

const (
	pageHead  = 16 // of every page
	metaBytes = 64
)

// metaFields are the fields of a meta page, as offsets behind its head.
var metaFields = []struct {
	name     string
	from, to int
}{
	{"magic", 0, 4}, {"version", 4, 8}, {"page size", 8, 12}, {"flags", 12, 16}, {"root", 16, 24}, {"root's sequence", 24, 32},
	{"free list", 32, 40}, {"high water", 40, 48}, {"transaction", 48, 56}, {"checksum", 56, 64},
}

// killed returns the file of a store with three items, as a kill leaves it, and its last sequence.
func killed(t *testing.T) (path string, seq uint64) {
	t.Helper()
	live := filepath.Join(t.TempDir(), "live.db")
	s := storetest.OpenWith(t, live, storetest.Quick(), storetest.Balls())
	for n := range 3 {
		storetest.Put(t, s, "balls", storetest.Ball("final", n))
	}
	return copied(t, live), s.Seq()
}

// copied returns a copy of a file, which may be in use.
func copied(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "s.db")
	if err := os.WriteFile(to, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// changeMeta changes the newer or the older meta page of a file.
func changeMeta(t *testing.T, path string, newer bool, change func(body []byte)) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := int(binary.NativeEndian.Uint32(raw[pageHead+8:]))
	first, second := raw[pageHead:pageHead+metaBytes], raw[size+pageHead:size+pageHead+metaBytes]
	secondIsNewer := binary.NativeEndian.Uint64(second[48:]) > binary.NativeEndian.Uint64(first[48:])
	if newer == secondIsNewer {
		change(second)
	} else {
		change(first)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func checked(t *testing.T, path string) string {
	t.Helper()
	problems, err := store.CheckFile(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(problems)
}

// opened opens a file whose first page is damaged, and returns the damage and the number of items.
func opened(t *testing.T, path string) (damages []store.Damage, items int, seq uint64) {
	t.Helper()
	s, err := store.Open(path, storetest.Quick())
	if err != nil {
		t.Fatal(err)
	}
	storetest.View(t, s, func(tx *store.Tx) error {
		for _, err := range tx.ScanAll(store.Scan{Table: "balls"}) {
			if err != nil {
				return err
			}
			items++
		}
		return nil
	})
	damages, seq = s.Damages(), s.Seq()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return damages, items, seq
}

// A single wrong bit in any field of a meta page costs nothing, and is told: by a check, and by each Open until somebody has read of it.
func TestOneBitOfAFirstPage(t *testing.T) {
	whole, last := killed(t)
	for _, newer := range []bool{true, false} {
		for _, field := range metaFields {
			t.Run(fmt.Sprintf("%s, newer=%t", field.name, newer), func(t *testing.T) {
				path := copied(t, whole)
				changeMeta(t, path, newer, func(body []byte) { body[field.to-2] ^= 0x10 })
				want := "file: one of its two first pages is damaged"
				if newer {
					want = fmt.Sprintf("Without it the newest sequence is %d, and the last commit is missing. A single bit of the page is wrong: the node corrects it", last-1)
				}
				if got := checked(t, path); !strings.Contains(got, want) {
					t.Errorf("the check says %s, want %s", got, want)
				}
				for range 2 { // it stays over restarts
					damages, items, seq := opened(t, path)
					if items != 3 || seq != last || len(damages) != 1 || damages[0].Corrected != newer || !damages[0].OneBit || damages[0].Seq != last {
						t.Errorf("%d items up to %d, want 3 up to %d; %+v", items, seq, last, damages)
					}
					if words := damages[0].Words(); !strings.Contains(words, "nothing is lost") || !strings.Contains(words, fmt.Sprint(last)) {
						t.Error(words)
					}
				}
			})
		}
	}
}

// A meta page of which more is wrong, such as one torn by a power cut, takes the last commit with it if it is the newer one.
func TestFirstPageOfWhichMuchIsWrong(t *testing.T) {
	whole, last := killed(t)
	for _, newer := range []bool{true, false} {
		for _, field := range metaFields {
			t.Run(fmt.Sprintf("%s, newer=%t", field.name, newer), func(t *testing.T) {
				path := copied(t, whole)
				changeMeta(t, path, newer, func(body []byte) {
					for i := field.from; i < field.to; i++ {
						body[i] ^= 0xff
					}
				})
				seq, items := last, 3
				if newer {
					seq, items = last-1, 2
				}
				lost := map[bool]string{true: "the writes of that commit are lost here", false: "nothing is lost"}[newer]
				if field.name == "transaction" {
					lost = "If it was the last, its writes are lost here"
				}
				for _, want := range []string{lost, fmt.Sprintf("The newest sequence that can be read is %d.", seq)} {
					if got := checked(t, path); !strings.Contains(got, want) {
						t.Errorf("the check says %s, want %s", got, want)
					}
				}
				_, err := store.Compact(t.Context(), path, nil)
				storetest.WantFault(t, err, fault.Damaged, "store_damaged")
				damages, got, at := opened(t, path)
				if got != items || at != seq || len(damages) != 1 || damages[0].Corrected || damages[0].Seq != seq {
					t.Fatalf("%d items up to %d, want %d up to %d; %+v", got, at, items, seq, damages)
				}
				if words := damages[0].Words(); !strings.Contains(words, lost) {
					t.Errorf("%s, want %s", words, lost)
				}
			})
		}
	}
}

// A damage is told until somebody has read of it: after restarts, in backups, and by checks of a store in use.
func TestDamageIsToldUntilItIsRead(t *testing.T) {
	path, _ := killed(t)
	changeMeta(t, path, true, func(body []byte) { body[20] ^= 1 })
	s, err := store.Open(path, storetest.Quick())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	storetest.Put(t, s, "balls", storetest.Ball("final", 9)) // more commits than there are meta pages
	storetest.Put(t, s, "balls", storetest.Ball("final", 10))
	problems, err := s.CheckCopy(t.Context(), nil)
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].What, "has been corrected") {
		t.Errorf("%v, %v", problems, err)
	}
	if got := checked(t, copied(t, path)); !strings.Contains(got, "has been corrected") {
		t.Error(got)
	}
	id := s.Damages()[0].ID
	if err := s.ForgetDamage(t.Context(), id); err != nil || len(s.Damages()) > 0 {
		t.Errorf("%v, %+v", err, s.Damages())
	}
	storetest.WantFault(t, s.ForgetDamage(t.Context(), id), fault.NotFound, "not_found")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if damages, _, _ := opened(t, path); len(damages) > 0 {
		t.Errorf("after it was read: %+v", damages)
	}
	if got := checked(t, path); got != "[]" {
		t.Error(got)
	}
}

// A bit that is wrong in a page of the last commit too is not corrected by what cannot be verified: the file stays as of the commit before.
func TestFirstPageThatCannotBeCorrected(t *testing.T) {
	whole, last := killed(t)
	path := copied(t, whole)
	var root uint64
	changeMeta(t, path, true, func(body []byte) {
		root = binary.NativeEndian.Uint64(body[16:])
		body[20] ^= 1
	})
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := uint64(binary.NativeEndian.Uint32(raw[pageHead+8:]))
	raw[root*size+8] ^= 0xff // the kind of the page
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	damages, items, seq := opened(t, path)
	if items != 2 || seq != last-1 || len(damages) != 1 || damages[0].Corrected {
		t.Errorf("%d items up to %d; %+v", items, seq, damages)
	}
}

// What a node writes when it stops is no data: nothing is lost with it, and nobody is alarmed.
func TestFirstPageOfAStop(t *testing.T) {
	live := filepath.Join(t.TempDir(), "live.db")
	s, err := store.Open(live, storetest.Quick())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Define(t.Context(), storetest.Balls()); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		storetest.Put(t, s, "balls", storetest.Ball("final", n))
	}
	last := s.Seq()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, newer := range []bool{true, false} {
		for _, field := range metaFields {
			path := copied(t, live)
			changeMeta(t, path, newer, func(body []byte) {
				for i := field.from; i < field.to; i++ {
					body[i] ^= 0xff
				}
			})
			damages, items, seq := opened(t, path)
			if items != 3 || seq != last || len(damages) != 1 {
				t.Fatalf("%s, newer=%t: %d items up to %d; %+v", field.name, newer, items, seq, damages)
			}
			want := "nothing is lost."
			if newer && field.name == "root" { // the only field that could tell
				want = "the writes of that commit are lost here"
			}
			if words := damages[0].Words(); !strings.Contains(words, want) {
				t.Errorf("%s, newer=%t: %s", field.name, newer, words)
			}
		}
	}
}
