package check_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func wantFiles(t testing.TB, dir string, want ...string) {
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

// breakRows breaks the header of every page that holds much of the items' text.
func breakRows(t testing.TB, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
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

func str(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
func num(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyNumber} }

// balls has a number to sort by, an index without a sort key, and a sparse one that shows keys only.
func balls() store.TableSpec {
	return store.TableSpec{
		Name: "balls",
		Key:  store.KeySpec{Partition: str("match"), Sort: num("ball")},
		Indexes: []store.IndexSpec{
			{Name: "bowler-index", Key: store.KeySpec{Partition: str("bowler")}},
			{
				Name: "wicket-index", Key: store.KeySpec{Partition: str("wicket"), Sort: num("runs")},
				Projection: store.ProjectKeysOnly,
			},
		},
		TTL: "ttl", Policy: store.PolicyIntent, Why: "a test",
	}
}

// matches has a partition key alone.
func matches() store.TableSpec {
	return store.TableSpec{Name: "matches", Key: store.KeySpec{Partition: str("match")}}
}

// item makes an item of names and values: strings, ints, or values.
func item(pairs ...any) attr.Item {
	it := attr.Item{}
	for i := 0; i < len(pairs); i += 2 {
		it[pairs[i].(string)] = value(pairs[i+1])
	}
	return it
}

func value(v any) attr.Value {
	switch v := v.(type) {
	case string:
		return attr.S(v)
	case int:
		return attr.Int(int64(v))
	default:
		return v.(attr.Value)
	}
}

func ball(match string, n int, more ...any) attr.Item {
	return item(append([]any{"match", match, "ball", n}, more...)...)
}

// update runs one transaction and fails the test if it fails.
func update(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, s *store.Store, table string, items ...attr.Item) {
	t.Helper()
	update(t, s, func(tx *store.Tx) error {
		for _, it := range items {
			if _, err := tx.Put(store.PutItem{Table: table, Item: it}); err != nil {
				return err
			}
		}
		return nil
	})
}

func wantFault(t testing.TB, err error, kind fault.Kind, code string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != kind || f.Code != code {
		t.Errorf("got error %v (%#v), want code %s", err, f, code)
	}
}

var quick = store.Options{NoSync: true, LockTimeout: 50 * time.Millisecond}

// written makes a store with some hundred items, closed in order, and returns its file.
func written(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "written.db")
	s, err := store.Open(path, quick)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Define(t.Context(), balls(), matches()); err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		put(t, s, "balls", ball("final", n, "bowler", "archer", "text", strings.Repeat("x", n)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
