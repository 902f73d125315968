package storetest

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// All returns the items of a table, in order.
func All(t testing.TB, s *store.Store, table string) (items []attr.Item) {
	t.Helper()
	View(t, s, func(tx *store.Tx) error {
		for it, err := range tx.ScanAll(store.Scan{Table: table}) {
			if err != nil {
				return err
			}
			items = append(items, it)
		}
		return nil
	})
	return items
}

// Attrs returns the attributes of a part of a key.
func Attrs(list ...store.KeyAttr) []store.KeyAttr { return list }

// Ball returns an item of the table of Balls.
func Ball(match string, n int, more ...any) attr.Item {
	return Item(append([]any{"match", match, "ball", n}, more...)...)
}

// Balls is a table with a numeric sort key, an index without a sort key, and a sparse index of keys only.
func Balls() store.TableSpec {
	return store.TableSpec{
		Name: "balls",
		Key:  store.KeySpec{Partition: Str("match"), Sort: Num("ball")},
		Indexes: []store.IndexSpec{
			{Name: "bowler-index", Key: store.KeySpec{Partition: Str("bowler")}},
			{
				Name: "wicket-index", Key: store.KeySpec{Partition: Str("wicket"), Sort: Num("runs")},
				Projection: store.ProjectKeysOnly,
			},
		},
		TTL: "ttl", Policy: store.PolicyIntent, Why: "a test",
	}
}

// Get returns an item, or nil if there is none.
func Get(t testing.TB, s *store.Store, table string, key attr.Item) (it attr.Item) {
	t.Helper()
	View(t, s, func(tx *store.Tx) (err error) {
		it, err = tx.Get(table, key)
		return err
	})
	return it
}

// Item returns an item from names and values: strings, ints, or Values.
func Item(pairs ...any) attr.Item {
	it := attr.Item{}
	for i := 0; i < len(pairs); i += 2 {
		it[pairs[i].(string)] = Value(pairs[i+1])
	}
	return it
}

// Journal returns the records after a sequence.
func Journal(t testing.TB, s *store.Store, after uint64) []store.Record {
	t.Helper()
	records, err := s.Journal(t.Context(), after, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// Matches is a table with only a partition key.
func Matches() store.TableSpec {
	return store.TableSpec{Name: "matches", Key: store.KeySpec{Partition: Str("match")}}
}

// Num returns a numeric key attribute.
func Num(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyNumber} }

// Put writes items in one transaction.
func Put(t testing.TB, s *store.Store, table string, items ...attr.Item) {
	t.Helper()
	Update(t, s, func(tx *store.Tx) error {
		for _, it := range items {
			if _, err := tx.Put(store.PutItem{Table: table, Item: it}); err != nil {
				return err
			}
		}
		return nil
	})
}

// SameItem reports whether two items are equal; nil means no item.
func SameItem(a, b attr.Item) bool {
	return (a == nil) == (b == nil) && attr.EqualItems(a, b)
}

// Show formats an item for a message.
func Show(it attr.Item) string {
	if it == nil {
		return "none"
	}
	return string(attr.AppendJSON(nil, it))
}

// Str returns a string key attribute.
func Str(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }

// Together runs the functions as members of one commit, in this order, and returns their errors.
func Together(t testing.TB, s *store.Store, fns ...func(*store.Tx) error) []error {
	t.Helper()
	errs := make([]error, len(fns))
	var wg sync.WaitGroup
	running, release := make(chan struct{}), make(chan struct{})
	wg.Go(func() {
		_ = s.Update(t.Context(), func(*store.Tx) error {
			close(running)
			<-release
			return nil
		})
	})
	<-running
	for i, fn := range fns {
		wg.Go(func() { errs[i] = s.Update(t.Context(), fn) })
		for s.Stats().Waiting <= i {
			runtime.Gosched()
		}
	}
	close(release)
	wg.Wait()
	return errs
}

// Update runs one transaction and fails the test if it fails.
func Update(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// Value converts a string or an int to a Value; a Value stays as it is.
func Value(v any) attr.Value {
	switch v := v.(type) {
	case string:
		return attr.S(v)
	case int:
		return attr.Int(int64(v))
	default:
		return v.(attr.Value)
	}
}

// Values returns the values of an expression, from pairs as in Item.
func Values(pairs ...any) expr.Params { return expr.Params{Values: Item(pairs...)} }

// View reads a snapshot and fails the test if that fails.
func View(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// WantFault fails the test unless an error is a fault of the given kind and code.
func WantFault(t testing.TB, err error, kind fault.Kind, code string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != kind || f.Code != code {
		t.Errorf("got error %v (%#v), want code %s", err, f, code)
	}
}

// WantItem fails the test unless an item is the wanted one.
func WantItem(t testing.TB, what string, got, want attr.Item) {
	t.Helper()
	if !SameItem(got, want) {
		t.Errorf("%s: got %s, want %s", what, Show(got), Show(want))
	}
}
