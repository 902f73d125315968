package simulation_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

// backedUp backs a store up into a new folder.
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
	return storetest.OpenWith(t, path, quick), info
}

func wantSame(t testing.TB, what string, got, want []attr.Item) {
	t.Helper()
	if !slices.EqualFunc(got, want, sameItem) {
		t.Errorf("%s: %d items, want %d, or they differ", what, len(got), len(want))
	}
}

var errMember = errors.New("this member fails")

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

// attrs lists the attributes of a part of a key.
func attrs(list ...store.KeyAttr) []store.KeyAttr { return list }

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

func values(pairs ...any) expr.Params { return expr.Params{Values: item(pairs...)} }

// update runs one transaction and fails the test if it fails.
func update(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func view(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
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

func journal(t testing.TB, s *store.Store, after uint64) []store.Record {
	t.Helper()
	records, err := s.Journal(t.Context(), after, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func sameItem(a, b attr.Item) bool {
	return (a == nil) == (b == nil) && attr.Equal(attr.M(a), attr.M(b))
}

func show(it attr.Item) string {
	if it == nil {
		return "none"
	}
	return string(attr.AppendJSON(nil, it))
}

var quick = store.Options{NoSync: true, LockTimeout: 50 * time.Millisecond}

func describe(t testing.TB, s *store.Store, table string) store.TableDescription {
	t.Helper()
	d, err := s.Describe(table)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func withToken(t testing.TB, s *store.Store, token string, items ...store.WriteItem) (err error) {
	t.Helper()
	update(t, s, func(tx *store.Tx) error {
		err = tx.TransactWrite(store.TransactWrite{Items: items, Token: token})
		return nil
	})
	return err
}

// transact runs one TransactWrite in a closure that goes on whatever it gives.
func transact(t testing.TB, s *store.Store, items ...store.WriteItem) (err error) {
	t.Helper()
	update(t, s, func(tx *store.Tx) error {
		err = tx.TransactWrite(store.TransactWrite{Items: items})
		return nil
	})
	return err
}
