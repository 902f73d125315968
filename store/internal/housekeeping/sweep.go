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

// sweep is the state of the pass that deletes expired items. It is only in memory: after a restart a new pass starts.
type sweep struct {
	due    time.Time // of the next pass
	tables []uint32  // tables not finished yet
	after  []byte    // key in the first table; nil: at its start
}

// begin starts a pass if it is time, and reports whether one is running.
func (w *sweep) begin(cat *catalogue.Tables, now time.Time, every time.Duration) bool {
	if len(w.tables) > 0 {
		return true
	}
	if wait := w.due.Sub(now); wait > 0 && wait <= every { // a longer wait means that the clock was set back
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

// recordProgress records the progress of a slice; nil: the table is complete.
func (w *sweep) recordProgress(to []byte) {
	w.after = to
	if to == nil {
		w.tables = w.tables[1:]
	}
}

// sweepNext is the chore of Housekeep that deletes expired items.
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
		w.recordProgress(to)
	case fault.Is(err, fault.Damaged):
		w.recordProgress(nil) // the other tables must not wait for it
	}
	return true, err
}

// findExpired returns the keys of expired items after a key, and the key to continue after, or nil at the end of the table.
func (k *Keeper) findExpired(ctx context.Context, id uint32, after []byte) (found [][]byte, to []byte, err error) {
	err = k.E.RunOnSnapshot(ctx, func(tx *txn.Tx) error {
		if err := tx.BeginCall(); err != nil {
			return err
		}
		defer tx.EndCall()
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

// rowExpired reports whether a row has expired. It ignores damaged rows, which Scrub reports.
func rowExpired(t *catalogue.Table, k, v []byte, now time.Time) bool {
	r := format.Row(v)
	if r.Check(k) != nil {
		return false
	}
	gone, err := t.Expired(r.Item(), now)
	return err == nil && gone
}

// deleteExpired deletes the items that still exist and are still expired, and returns their number.
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

// sweepRow deletes a row if it still exists, is still expired, and the replicator does not need it.
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
