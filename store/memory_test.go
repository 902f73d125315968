package store_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func openMemory(t testing.TB, open func(store.Options) (*store.Store, error), o store.Options, specs ...store.TableSpec) *store.Store {
	t.Helper()
	s, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, s) })
	if err := s.Define(t.Context(), specs...); err != nil {
		t.Fatal(err)
	}
	return s
}

// A store in memory does what one in a file does: it grows, can be backed up and checked, and is not shared.
func TestMemory(t *testing.T) {
	for name, open := range map[string]func(store.Options) (*store.Store, error){
		"memory": store.OpenMemory, "temporary file": store.OpenTemporary,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if name == "temporary file" {
				t.Setenv("TMPDIR", dir)
			} else if runtime.GOOS == "linux" {
				t.Setenv("TMPDIR", filepath.Join(dir, "none")) // it needs no disk
			}
			s := openMemory(t, open, store.Options{Node: "n"}, storetest.Balls(), storetest.Matches())
			other := openMemory(t, open, store.Options{}, storetest.Balls())
			big := strings.Repeat("x", 300_000)
			for i := range 40 {
				storetest.Put(t, s, "balls", storetest.Ball("a", i, "bowler", "anna", "text", big))
			}
			if st := s.Stats(); st.FileBytes < 12_000_000 || st.Journal.Bytes > 2<<20 {
				t.Errorf("%d bytes, %d of them the journal", st.FileBytes, st.Journal.Bytes)
			}
			if s.Path() != "" || s.Node() != "n" {
				t.Errorf("path %q, node %q", s.Path(), s.Node())
			}
			if it := storetest.Get(t, other, "balls", storetest.Ball("a", 1)); it != nil {
				t.Error("two stores in memory are one")
			}
			if problems, err := s.CheckCopy(t.Context(), nil); err != nil || len(problems) > 0 {
				t.Errorf("the check of a copy: %v, %v", problems, err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 && runtime.GOOS != "windows" {
				t.Errorf("%s is there", left[0].Name())
			}
			backup := filepath.Join(dir, "backup.db")
			if _, err := s.Backup(t.Context(), backup, nil); err != nil {
				t.Fatal(err)
			}
			again := storetest.OpenWith(t, backup, store.Options{NoSync: true})
			storetest.WantItem(t, "of the backup", storetest.Get(t, again, "balls", storetest.Ball("a", 39)), storetest.Ball("a", 39, "bowler", "anna", "text", big))
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	s := openMemory(t, store.OpenMemory, store.Options{MaxSize: 4 << 20}, storetest.Balls())
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		err = s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "balls", Item: storetest.Ball("a", i, "text", strings.Repeat("x", 300_000))})
			return err
		})
	}
	storetest.WantFault(t, err, fault.Full, "store_full")
	if st := s.Stats(); st.Refused == 0 || !strings.Contains(st.Warning, "there is no room for writes") {
		t.Errorf("%d refused, warning: %q", st.Refused, st.Warning)
	}
	storetest.Update(t, s, func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: "balls", Key: storetest.Ball("a", 0)})
		return err
	})
}
