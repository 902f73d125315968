package replica

import (
	"context"
	"encoding/json"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/identity"
)

// tableBook is what is remembered of one table of the cloud.
type tableBook struct {
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

// loadBooks reads what earlier runs have seen.
func (r *Replica) loadBooks(ctx context.Context) error {
	r.restores.run = identity.RandomID(r.cfg.Rand)
	books := map[string]*tableBook{}
	err := r.store.View(ctx, func(tx *store.Tx) error {
		return tx.Side(identity.Side).Each([]byte(tableBookPrefix), nil, func(k, v []byte) (bool, error) {
			b := &tableBook{}
			if err := json.Unmarshal(v, b); err == nil { // what cannot be read is looked up anew
				if !b.Recreated && b.Lost.IsZero() && !b.RestoredAt.IsZero() { // of a version that did not store it
					b.Lost = b.RestoredAt.Add(-restoreSlack)
				}
				books[string(k[len(tableBookPrefix):])] = b
			}
			return true, nil
		})
	})
	r.restores.mu.Lock()
	defer r.restores.mu.Unlock()
	r.restores.books = books
	return err
}

// book returns a copy of what is remembered of a table.
func (r *Replica) book(table string) (b tableBook, ok bool) {
	r.restores.mu.Lock()
	defer r.restores.mu.Unlock()
	if p := r.restores.books[table]; p != nil {
		return *p, true
	}
	return b, false
}

// changeBook changes what is remembered of a table, in the order of the store's transactions. If one is undone, memory has
// what is looked at again when the node starts.
func (r *Replica) changeBook(ctx context.Context, table string, change func(b *tableBook)) error {
	return r.store.Update(ctx, func(tx *store.Tx) error { return r.changeBookIn(tx, table, change) })
}

func (r *Replica) changeBookIn(tx *store.Tx, table string, change func(b *tableBook)) error {
	b, _ := r.book(table)
	change(&b)
	data, err := json.Marshal(&b)
	if err != nil {
		return err
	}
	if err := tx.Side(identity.Side).Set([]byte(tableBookPrefix+table), data); err != nil {
		return err
	}
	r.restores.mu.Lock()
	defer r.restores.mu.Unlock()
	if r.restores.books == nil {
		r.restores.books = map[string]*tableBook{}
	}
	r.restores.books[table] = &b
	return nil
}

// loses reports whether a table has lost what a run is to put back.
func (b *tableBook) loses(run string) bool {
	return !b.Noticed.IsZero() && !b.Requeued && !(b.Recreated && b.Run == run)
}

// inherit takes over what counts still of what was remembered before.
func (b *tableBook) inherit(old *tableBook) {
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
func (b *tableBook) is(of *tableBook) bool { return b.ID == of.ID && b.Noticed.Equal(of.Noticed) }
