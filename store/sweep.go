package store

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
)

// OriginTTL is the origin of the journal records of items that were deleted because their time was over. DynamoDB's
// copy of a table expires by itself: these deletions are not to be sent to it.
const OriginTTL = "ttl"

// sweep is where the pass stands. It is in memory only: after a restart a new one begins.
type sweep struct {
	due    time.Time // of the next pass
	tables []uint32  // still to be looked at
	after  []byte    // key in the first of them; nil: before all
}

// SweepEvery is how often a pass over all tables with a TTL begins at most.
func (s *Store) SweepEvery() time.Duration { return s.opts.SweepEvery }

// begin starts a pass if it is time, and reports whether there is one.
func (w *sweep) begin(cat *catalogue, now time.Time, every time.Duration) bool {
	if len(w.tables) > 0 {
		return true
	}
	if wait := w.due.Sub(now); wait > 0 && wait <= every { // more: the clock was set back
		return false
	}
	w.due = now.Add(every)
	for _, id := range cat.ids() {
		if t := cat.byID[id]; !t.dropped && t.spec.TTL != "" {
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
func (s *Store) sweepNext(ctx context.Context) (did bool, err error) {
	w := &s.keeper.sweep
	if !w.begin(s.cat.Load(), s.opts.Now(), s.opts.SweepEvery) {
		return false, nil
	}
	id := w.tables[0]
	found, to, err := s.findExpired(ctx, id, w.after)
	n := 0
	if err == nil && len(found) > 0 {
		failpoint.Hit(failpoint.SweepFound)
		n, err = s.deleteExpired(ctx, id, found)
	}
	switch {
	case err == nil:
		s.keeper.swept.Add(uint64(n))
		w.moved(to)
	case fault.Is(err, fault.Damaged):
		w.moved(nil) // the other tables are not to wait for it
	}
	return true, err
}

// findExpired returns the keys of expired items behind a key, and how far it has looked, nil if that is the end.
func (s *Store) findExpired(ctx context.Context, id uint32, after []byte) (found [][]byte, to []byte, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		if err := tx.enter(); err != nil {
			return err
		}
		defer tx.leave()
		t := tx.cat.byID[id]
		if t == nil || t.dropped || t.spec.TTL == "" {
			return nil
		}
		bucket, err := tx.bucket(t.bucket)
		if err != nil {
			return err
		}
		size := s.keeper.sizes()
		c := bucket.Cursor()
		k, v := seekBehind(c, after)
		for n := 0; k != nil && n < size.sweep && len(found) < size.deletes; n++ {
			if t.rowExpired(k, v, tx.Now()) {
				found = append(found, slices.Clone(k))
			}
			to = k
			k, v = c.Next()
		}
		if k == nil {
			to = nil
		}
		to = slices.Clone(to)
		return nil
	})
	return found, to, err
}

// rowExpired reports whether a row is past its time. One that is damaged is left: scrub reports it.
func (t *table) rowExpired(k, v []byte, now time.Time) bool {
	r := row(v)
	if r.check(k) != nil {
		return false
	}
	gone, err := t.expired(r.item(), now)
	return err == nil && gone
}

// deleteExpired deletes the items that are still there and still expired, and returns how many that were.
func (s *Store) deleteExpired(ctx context.Context, id uint32, keys [][]byte) (n int, err error) {
	err = s.Update(ctx, func(tx *Tx) error {
		n = 0
		t := tx.cat.byID[id]
		if t == nil || t.dropped {
			return nil
		}
		tx.SetOrigin(OriginTTL)
		for _, key := range keys {
			did, err := tx.sweepRow(t, key)
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
func (tx *Tx) sweepRow(t *table, key []byte) (did bool, err error) {
	old, err := tx.row(t, key)
	if err != nil || old == nil {
		return false, err
	}
	gone, err := t.expired(old.item(), tx.Now())
	if err == nil && gone && tx.replicator != nil && t.spec.Sends() {
		gone, err = tx.mayExpire(t, key)
	}
	if err != nil || !gone {
		return false, err
	}
	return true, tx.apply(change{table: t, key: key, old: old, op: OpDelete})
}

// mayExpire asks the replicator whether a row that is past its time may go.
func (tx *Tx) mayExpire(t *table, raw []byte) (bool, error) {
	key, err := t.keyItem(raw)
	if err != nil {
		return false, err
	}
	return tx.replicator.Expire(tx, &t.spec, key)
}
