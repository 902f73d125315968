package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

var oddTable = store.TableSpec{Name: "odd", Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}}}

// An item that readers cannot decode is told of once, listed while it stays as it is, and forgotten once it changes or is gone. What a
// transaction noted that was rolled back is forgotten too.
func TestUnreadableItems(t *testing.T) {
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, oddTable)
	told := 0
	s.OnUnreadable(func(store.Unreadable) { told++ })
	row := func(n int) attr.Item { return attr.Item{"id": attr.S("a"), "n": attr.Int(int64(n))} }
	put := func(it attr.Item) {
		t.Helper()
		if err := s.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "odd", Item: it})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	note := func() {
		t.Helper()
		if err := s.View(t.Context(), func(tx *store.Tx) error {
			tx.NoteUnreadable("odd", attr.Item{"id": attr.S("a")}, errors.New("n is odd"))
			if tx.Unreadable() != 1 {
				t.Errorf("%d in this transaction", tx.Unreadable())
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, n int) {
		t.Helper()
		all, more, err := s.UnreadableItems(t.Context())
		if len(all) != n || more || err != nil {
			t.Errorf("%s: %v, %t, %v, want %d", what, all, more, err, n)
		}
		for _, u := range all {
			if u.Table != "odd" || u.Why != "n is odd" || u.Since.IsZero() || !attr.EqualItems(u.Key, attr.Item{"id": attr.S("a")}) {
				t.Errorf("%s: %+v", what, u)
			}
		}
	}
	note()
	want("no such item", 0)
	put(row(1))
	want("not read", 0)
	note()
	note()
	want("read twice", 1)
	put(row(2))
	want("changed", 0)
	put(row(3))
	note()
	want("unreadable again", 1)
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: "odd", Key: attr.Item{"id": attr.S("a")}})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want("gone", 0)
	undone := errors.New("undone")
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "odd", Item: row(5)})
		tx.NoteUnreadable("odd", row(5), errors.New("n is odd"))
		return errors.Join(err, undone)
	}); !errors.Is(err, undone) {
		t.Fatal(err)
	}
	want("undone", 0)
	if told != 3 {
		t.Errorf("told %d times", told)
	}
}

// A store remembers a limited number of unreadable items, and says that there are more.
func TestUnreadableItemsAreLimited(t *testing.T) {
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, oddTable)
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		for i := range 600 {
			it := attr.Item{"id": attr.S(fmt.Sprint(i))}
			if _, err := tx.Put(store.PutItem{Table: "odd", Item: it}); err != nil {
				return err
			}
			tx.NoteUnreadable("odd", it, errors.New("odd"))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if all, more, err := s.UnreadableItems(t.Context()); len(all) != 500 || !more || err != nil {
		t.Errorf("%d items, more %t, %v", len(all), more, err)
	}
}
