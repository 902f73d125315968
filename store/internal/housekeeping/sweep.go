package housekeeping

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// sweep is where the pass stands. It is in memory only: after a restart a new one begins.
type sweep struct {
	due    time.Time // of the next pass
	tables []uint32  // still to be looked at
	after  []byte    // key in the first of them; nil: before all
}

// begin starts a pass if it is time, and reports whether there is one.
func (w *sweep) begin(cat *catalogue.Tables, now time.Time, every time.Duration) bool {
	if len(w.tables) > 0 {
		return true
	}
	if wait := w.due.Sub(now); wait > 0 && wait <= every { // more: the clock was set back
		return false
	}
	w.due = now.Add(every)
	for _, id := range cat.IDs() {
		if t := cat.ByID[id]; !t.Dropped && t.Spec.TTL != "" {
			w.tables = append(w.tables, id)
		}
	}
	return len(w.tables) > 0
}

// moved notes how far a slice has come; nil: to the end of the table.
func (w *sweep) moved(to []byte) {
	w.after = to
	if to == nil {
		w.tables = w.tables[1:]
	}
}

// sweepNext is the chore of Housekeep that deletes items whose time is over.
func (k *Keeper) sweepNext(ctx context.Context) (did bool, err error) {
	w := &k.sweep
	if !w.begin(k.E.Cat.Load(), k.E.Opts.Now(), k.E.Opts.SweepEvery) {
		return false, nil
	}
	id := w.tables[0]
	found, to, err := k.findExpired(ctx, id, w.after)
	n := 0
	if err == nil && len(found) > 0 {
		failpoint.Hit(failpoint.SweepFound)
		n, err = k.deleteExpired(ctx, id, found)
	}
	switch {
	case err == nil:
		k.swept.Add(uint64(n))
		w.moved(to)
	case fault.Is(err, fault.Damaged):
		w.moved(nil) // the other tables are not to wait for it
	}
	return true, err
}

// findExpired returns the keys of expired items behind a key, and how far it has looked, nil if that is the end.
func (k *Keeper) findExpired(ctx context.Context, id uint32, after []byte) (found [][]byte, to []byte, err error) {
	err = k.E.Look(ctx, func(tx *txn.Tx) error {
		if err := tx.Enter(); err != nil {
			return err
		}
		defer tx.Leave()
		t := tx.Cat.ByID[id]
		if t == nil || t.Dropped || t.Spec.TTL == "" {
			return nil
		}
		bucket, err := tx.Bucket(t.Bucket)
		if err != nil {
			return err
		}
		size := k.sizes()
		to = txn.Slice(bucket, after, size.Sweep, func(k, v []byte) bool {
			if rowExpired(t, k, v, tx.Now()) {
				found = append(found, slices.Clone(k))
			}
			return len(found) < size.Deletes
		})
		return nil
	})
	return found, to, err
}

// rowExpired reports whether a row is past its time. One that is damaged is left: scrub reports it.
func rowExpired(t *catalogue.Table, k, v []byte, now time.Time) bool {
	r := format.Row(v)
	if r.Check(k) != nil {
		return false
	}
	gone, err := t.Expired(r.Item(), now)
	return err == nil && gone
}

// deleteExpired deletes the items that are still there and still expired, and returns how many that were.
func (k *Keeper) deleteExpired(ctx context.Context, id uint32, keys [][]byte) (n int, err error) {
	err = k.E.Update(ctx, func(tx *txn.Tx) error {
		n = 0
		t := tx.Cat.ByID[id]
		if t == nil || t.Dropped {
			return nil
		}
		tx.Origin = txn.OriginTTL
		for _, key := range keys {
			did, err := k.sweepRow(tx, t, key)
			if err != nil {
				return err
			}
			if did {
				n++
			}
		}
		return nil
	})
	return n, err
}

// sweepRow deletes a row if it is still there, still past its time, and nobody keeps it.
func (k *Keeper) sweepRow(tx *txn.Tx, t *catalogue.Table, key []byte) (did bool, err error) {
	old, err := tx.Row(t, key)
	if err != nil || old == nil {
		return false, err
	}
	gone, err := t.Expired(old.Item(), tx.Now())
	if err == nil && gone && t.Spec.Sends() {
		gone, err = k.Expire(tx, t, key)
	}
	if err != nil || !gone {
		return false, err
	}
	return true, tx.Apply(txn.Change{Table: t, Key: key, Old: old, Op: format.OpDelete})
}
