package restore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/identity"
)

// Book is what is remembered of one table of the cloud.
type Book struct {
	ID         string    `json:"id"`
	RestoredAt time.Time `json:"restoredAt,omitzero"`

	Noticed   time.Time `json:"noticed,omitzero"` // it became another one; zero: it has always been this one
	Lost      time.Time `json:"lost,omitzero"`    // what was acknowledged since may be lost, and is put back; zero: everything
	Earlier   time.Time `json:"earlier,omitzero"` // what it was restored to before, as was noticed then; zero: it was not
	Made      time.Time `json:"made,omitzero"`    // of a table made anew: when; zero: nobody knows, or what the one before it was owed is not known
	Recreated bool      `json:"anew,omitempty"`   // it was made again, and is no restored one: what is absent was never deleted
	Run       string    `json:"run,omitempty"`    // the run that noticed a table made anew: only a later one sends to it
	Requeued  bool      `json:"requeued,omitempty"`
	Through   uint64    `json:"through,omitempty"` // the last sequence that was put back
	Until     time.Time `json:"until,omitzero"`    // what is absent is not deleted before; server-corrected
}

// Open reads what earlier runs have seen.
func (t *Tables) Open(ctx context.Context) error {
	t.run, t.requeueing = identity.RandomID(t.Rand), make(chan struct{}, 1)
	books := map[string]*Book{}
	err := t.Store.View(ctx, func(tx *store.Tx) error {
		return tx.Side(identity.Side).Each([]byte(bookPrefix), nil, func(k, v []byte) (bool, error) {
			b := &Book{}
			if err := json.Unmarshal(v, b); err == nil { // what cannot be read is looked up anew
				if !b.Recreated && b.Lost.IsZero() && !b.RestoredAt.IsZero() { // of a version that did not store it
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

// changeBook changes what is remembered of a table, in the order of the store's transactions. If one is undone, memory has
// what is looked at again when the node starts.
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

// loses reports whether a table has lost what a run is to put back.
func (b *Book) loses(run string) bool {
	return !b.Noticed.IsZero() && !b.Requeued && !(b.Recreated && b.Run == run)
}

// inherit takes over what counts still of what was remembered before.
func (b *Book) inherit(old *Book) {
	unfinished := !old.Noticed.IsZero() && !old.Requeued
	switch {
	case b.Recreated:
		if unfinished {
			b.Made = time.Time{}
		}
	case old.Noticed.IsZero():
	case old.Recreated && b.RestoredAt.Before(old.Made):
		// It is the one again that was there before that.
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

// is reports whether what is remembered of a table is of the same restore.
func (b *Book) is(of *Book) bool { return b.ID == of.ID && b.Noticed.Equal(of.Noticed) }
