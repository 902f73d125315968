package file_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func TestOpenMakesAFileAndKeepsIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	path := filepath.Join(dir, "s.db")
	s, err := store.Open(path, store.Options{Node: "lords"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Node() != "lords" || s.Incarnation() != 1 || s.Seq() != 1<<40 || s.FirstSeq() != 1<<40+1 {
		t.Errorf("new store: %s %d %d %d", s.Node(), s.Incarnation(), s.Seq(), s.FirstSeq())
	}
	if err := s.Define(t.Context(), storetest.Balls()); err != nil {
		t.Fatal(err)
	}
	storetest.Put(t, s, "balls", storetest.Ball("final", 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = storetest.OpenWith(t, path, store.Options{Node: "another"}, storetest.Balls())
	if s.Node() != "lords" || s.Seq() != 1<<40+1 || storetest.Get(t, s, "balls", storetest.Ball("final", 1)) == nil {
		t.Errorf("opened again: %s %d", s.Node(), s.Seq())
	}
	if got := s.Stats().Commits; got != 0 {
		t.Errorf("defining what is there took %d commits", got)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("the folder holds %v, %v", names, err)
	}
}

func TestOpenTellsThatTheFileIsHeld(t *testing.T) {
	path := storetest.Written(t)
	s, err := store.Open(path, storetest.Quick())
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Open(path, storetest.Quick())
	storetest.WantFault(t, err, fault.Locked, "store_locked")
	if want := path + " is in use by another touchline process"; err == nil || err.Error() != want {
		t.Errorf("got %q", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.OpenWith(t, path, storetest.Quick())
}

func TestOneOfManyMakesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	var wg sync.WaitGroup
	var mu sync.Mutex
	var opened []*store.Store
	for range 8 {
		wg.Go(func() {
			s, err := store.Open(path, store.Options{LockTimeout: 30 * time.Millisecond})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				opened = append(opened, s)
			} else if !fault.Is(err, fault.Locked) {
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
	if len(opened) != 1 {
		t.Fatalf("%d opened it", len(opened))
	}
	if err := opened[0].Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenRefusesWhatIsNoStore(t *testing.T) {
	page := os.Getpagesize()
	good, err := os.ReadFile(storetest.Written(t))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		damage func(b []byte) []byte
		says   string
	}{
		"empty":      {func([]byte) []byte { return nil }, "it is empty"},
		"text":       {func([]byte) []byte { return []byte("hello, world\n") }, "it is not a touchline store"},
		"garbage":    {func(b []byte) []byte { return garbage(len(b)) }, "it is not a touchline store"},
		"zeros":      {func(b []byte) []byte { return make([]byte, len(b)) }, "it is not a touchline store"},
		"one byte":   {func(b []byte) []byte { return b[:1] }, "it is not a touchline store"},
		"one page":   {func(b []byte) []byte { return b[:page] }, "it is truncated"},
		"cut":        {func(b []byte) []byte { return b[:20*page] }, "it is truncated"},
		"both metas": {func(b []byte) []byte { b[40]++; b[page+40]++; return b }, "its first pages are damaged"},
		"no metas":   {func(b []byte) []byte { clear(b[:2*page]); return b }, "it is not a touchline store"},
		"zero page":  {func(b []byte) []byte { clear(b[8*page : 9*page]); return b }, "page"},
		"foreign":    {func([]byte) []byte { return foreignBolt(t, nil) }, "it is not a touchline store"},
		"newer": {
			func([]byte) []byte { return foreignBolt(t, []byte{0, 0, 0, 9}) },
			"its format is version 9, this program knows versions 2 to 3",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			b := c.damage(bytes.Clone(good))
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := store.Open(path, storetest.Quick())
			storetest.WantFault(t, err, fault.Damaged, "store_damaged")
			want := path + " cannot be used as a store: " + c.says
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want %q", err, want)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, b) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

func TestOpenRefusesAFolder(t *testing.T) {
	path := t.TempDir()
	_, err := store.Open(path, storetest.Quick())
	storetest.WantFault(t, err, fault.Unavailable, "store_open")
	if want := "cannot open the store " + path + ": is a directory"; err == nil || err.Error() != want {
		t.Errorf("got %q", err)
	}
}

func garbage(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	return b
}

// foreignBolt creates a bbolt file that is not ours, or is ours with another format.
func foreignBolt(t *testing.T, format []byte) []byte {
	path := filepath.Join(t.TempDir(), "foreign.db")
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("meta"))
		if err != nil || format == nil {
			return err
		}
		return errors.Join(b.Put([]byte("magic"), []byte("touchline store")), b.Put([]byte("format"), format))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDamageNeverPanics flips bytes anywhere in the used part of a cleanly closed file and of one that was not. Open may refuse it or not
// notice: then everything is read and overwritten, which may fail too.
func TestDamageNeverPanics(t *testing.T) {
	closed := storetest.Written(t)
	for name, path := range map[string]string{"closed": closed, "crashed": crashed(t, closed)} {
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		refused, rounds := 0, 60
		if testing.Short() {
			rounds = 20
		}
		for seed := range uint64(rounds) {
			b := bytes.Clone(good)
			r := rand.New(rand.NewPCG(seed, 7))
			for range 1 + r.IntN(4) {
				b[r.IntN(len(b))] ^= byte(1 << r.IntN(8))
			}
			path := filepath.Join(t.TempDir(), "s.db")
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(path, storetest.Quick())
			if err != nil {
				storetest.WantFault(t, err, fault.Damaged, "store_damaged")
				refused++
				continue
			}
			if !useAll(t, s) {
				refused++
			}
			_ = s.Close()
		}
		t.Logf("%s: %d of %d seen", name, refused, rounds)
		if refused == 0 {
			t.Errorf("%s: no damage was seen", name)
		}
	}
}

// useAll reads and writes everything in a store that may be damaged, and reports whether all went well.
func useAll(t *testing.T, s *store.Store) bool {
	problems, err := s.CheckCopy(t.Context(), nil)
	_, journalErr := s.Journal(t.Context(), 0, 1000)
	scanErr := s.Update(t.Context(), func(tx *store.Tx) error {
		for _, spec := range s.Tables() {
			p, err := tx.Scan(store.Scan{Table: spec.Name})
			if err != nil {
				return err
			}
			for _, it := range p.Items {
				if _, err := tx.Put(store.PutItem{Table: spec.Name, Item: it}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return errors.Join(err, journalErr, scanErr) == nil && len(problems) == 0
}

// crashed copies the file of a store that was written to and not closed.
func crashed(t *testing.T, path string) string {
	work := filepath.Join(t.TempDir(), "open.db")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(work, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s := storetest.OpenWith(t, work, store.Options{}, storetest.Balls())
	storetest.Put(t, s, "balls", storetest.Ball("final", 1000))
	if b, err = os.ReadFile(work); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "crashed.db")
	if err := os.WriteFile(out, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}
