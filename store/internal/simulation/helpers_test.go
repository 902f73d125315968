package simulation_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

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

var errMember = errors.New("this member fails")

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
	storetest.Update(t, s, func(tx *store.Tx) error {
		err = tx.TransactWrite(store.TransactWrite{Items: items, Token: token})
		return nil
	})
	return err
}

// transact runs one TransactWrite in a closure that continues whatever the result.
func transact(t testing.TB, s *store.Store, items ...store.WriteItem) (err error) {
	t.Helper()
	storetest.Update(t, s, func(tx *store.Tx) error {
		err = tx.TransactWrite(store.TransactWrite{Items: items})
		return nil
	})
	return err
}
