package restore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/identity"
)

// Book is what is remembered of one cloud table.
type Book struct {
	ID         string    `json:"id"`
	RestoredAt time.Time `json:"restoredAt,omitzero"`

	Noticed   time.Time `json:"noticed,omitzero"` // when it was found to be another table; zero: it always was this one
	Lost      time.Time `json:"lost,omitzero"`    // writes acknowledged since then may be lost, and are put back; zero: all of them
	Earlier   time.Time `json:"earlier,omitzero"` // an earlier restore's instant, if one was noticed; zero: none
	Made      time.Time `json:"made,omitzero"`    // of a recreated table: when; zero: unknown, or what its predecessor was owed is unknown
	Recreated bool      `json:"anew,omitempty"`   // it was recreated, not restored: what is absent was never deleted
	Run       string    `json:"run,omitempty"`    // the run that noticed a recreated table: only a later run sends to it
	Requeued  bool      `json:"requeued,omitempty"`
	Through   uint64    `json:"through,omitempty"` // the last sequence put back
	Until     time.Time `json:"until,omitzero"`    // what is absent is not deleted before then; server-corrected
}

// Open reads what earlier runs have seen.
func (t *Tables) Open(ctx context.Context) error {
	t.run, t.requeueing = identity.RandomID(t.Rand), make(chan struct{}, 1)
	books := map[string]*Book{}
	err := t.Store.View(ctx, func(tx *store.Tx) error {
		return tx.Side(identity.Side).Each([]byte(bookPrefix), nil, func(k, v []byte) (bool, error) {
			b := &Book{}
			if err := json.Unmarshal(v, b); err == nil { // what cannot be parsed is looked up again
				if !b.Recreated && b.Lost.IsZero() && !b.RestoredAt.IsZero() { // from a version that did not store it
					b.Lost = b.RestoredAt.Add(-restoreSlack)
				}
				books[string(k[len(bookPrefix):])] = b
			}
			return true, nil
		})
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.books = books
	return err
}

// book returns a copy of what is remembered of a table.
func (t *Tables) book(table string) (b Book, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.books[table]; p != nil {
		return *p, true
	}
	return b, false
}

// changeBook changes what is remembered of a table, in the order of the store's transactions. If one is undone, memory has something
// that the next start looks up again.
func (t *Tables) changeBook(ctx context.Context, table string, change func(b *Book)) error {
	return t.Store.Update(ctx, func(tx *store.Tx) error { return t.changeBookIn(tx, table, change) })
}

func (t *Tables) changeBookIn(tx *store.Tx, table string, change func(b *Book)) error {
	b, _ := t.book(table)
	change(&b)
	data, err := json.Marshal(&b)
	if err != nil {
		return err
	}
	if err := tx.Side(identity.Side).Set([]byte(bookPrefix+table), data); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.books == nil {
		t.books = map[string]*Book{}
	}
	t.books[table] = &b
	return nil
}

// loses reports whether a table has lost writes that a run must put back.
func (b *Book) loses(run string) bool {
	return !b.Noticed.IsZero() && !b.Requeued && !(b.Recreated && b.Run == run)
}

// inherit takes over what still counts of the previous book.
func (b *Book) inherit(old *Book) {
	unfinished := !old.Noticed.IsZero() && !old.Requeued
	switch {
	case b.Recreated:
		if unfinished {
			b.Made = time.Time{}
		}
	case old.Noticed.IsZero():
	case old.Recreated && b.RestoredAt.Before(old.Made):
		// It is the table that was there before that one.
	default:
		b.Earlier = old.RestoredAt
		if unfinished && old.Earlier.After(b.Earlier) {
			b.Earlier = old.Earlier
		}
		if unfinished && old.Lost.Before(b.Lost) {
			b.Lost = old.Lost
		}
	}
}

// is reports whether two books describe the same restore.
func (b *Book) is(of *Book) bool { return b.ID == of.ID && b.Noticed.Equal(of.Noticed) }
