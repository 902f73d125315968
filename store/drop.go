package store

import (
	"context"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
)

// DropTable takes a table away, with its indexes and items, for everybody and at once. Journal records of it stay until
// they are trimmed, and its streams are listed for StreamAge. Housekeep gives its space back. A table made again under
// the name is another one. One that is protected is fault.Invalid.
func (s *Store) DropTable(ctx context.Context, name string) error {
	return s.Update(ctx, func(tx *Tx) error {
		t, err := tx.table(name)
		if err != nil {
			return err
		}
		if t.settings.Protected {
			return invalid("Resource cannot be deleted as it is currently protected against deletion. " +
				"Disable deletion protection first.")
		}
		return tx.breakOff(tx.dropTable(t))
	})
}

func (tx *Tx) dropTable(t *table) error {
	gone := t.clone()
	gone.dropped, gone.through = true, tx.journalState().last
	tx.setStream(gone)
	for _, ix := range t.indexes {
		gone.leaving = append(gone.leaving, leftover{kind: kindIndex, id: ix.id, name: ix.spec.Name})
	}
	gone.leaving = append(gone.leaving, leftover{kind: kindTable, id: t.id})
	gone.setIndexes(nil)
	return tx.saveTable(tx.cat.clone(), gone)
}

// emptyNext is the chore of Housekeep that takes a slice out of a bucket that nobody reads any more, and deletes the
// bucket when it is empty.
func (s *Store) emptyNext(ctx context.Context) (did bool, err error) {
	cat := s.cat.Load()
	for _, id := range cat.ids() {
		if len(cat.byID[id].leaving) == 0 {
			continue
		}
		var from leftover
		var n int
		err := s.Update(ctx, func(tx *Tx) (err error) {
			if t := tx.cat.byID[id]; t != nil && len(t.leaving) > 0 {
				from = t.leaving[0]
				n, err = tx.emptySlice(t)
			}
			return err
		})
		if err == nil {
			s.keeper.tookOut(from, n)
		}
		return true, err
	}
	return false, nil
}

// emptySlice takes entries out of the first bucket that is leaving, or the bucket itself once it is empty: that is a
// transaction of its own, because nothing can be put back into a bucket that was deleted.
func (tx *Tx) emptySlice(t *table) (removed int, err error) {
	name := t.leaving[0].bucket()
	bucket, err := tx.bucket(name)
	if err != nil {
		return 0, err
	}
	keys, values := firstEntries(bucket, tx.s.keeper.sizes().empty)
	size := 0
	for i, k := range keys {
		if err := tx.batch.remove(bucket, k, values[i]); err != nil {
			return 0, err
		}
		size += len(k) + len(values[i])
	}
	if len(keys) > 0 {
		failpoint.Hit(failpoint.EmptySlice)
		// They lie side by side: the commit changes their pages, which may be half full, and not one for each of them.
		pages := 2 + 2*size/tx.btx.DB().Info().PageSize
		tx.batch.mutations -= max(0, len(keys)-pages)
		return len(keys), nil
	}
	if err := tx.deleteBucket(name); err != nil {
		return 0, err
	}
	failpoint.Hit(failpoint.EmptyBucket)
	changed := t.clone()
	changed.leaving = changed.leaving[1:]
	return 0, tx.saveTable(tx.cat.clone(), changed)
}

// firstEntries reads before anything is removed, which would move the cursor.
func firstEntries(bucket *bolt.Bucket, limit int) (keys, values [][]byte) {
	c := bucket.Cursor()
	for k, v := c.First(); k != nil && len(keys) < limit; k, v = c.Next() {
		keys, values = append(keys, k), append(values, v)
	}
	return keys, values
}

// forgetNext is the chore of Housekeep that ends a dropped table: when the journal no longer shows a record of it, the
// records that were kept for their image go, and then its row of the catalogue.
func (s *Store) forgetNext(ctx context.Context) (did bool, err error) {
	cat, first := s.cat.Load(), s.journal.Load().first
	for _, id := range cat.ids() {
		if !cat.byID[id].forgettable(first, s.opts.Now()) {
			continue
		}
		from := s.keeper.forgetFrom[id]
		err := s.Update(ctx, func(tx *Tx) (err error) {
			if t := tx.cat.byID[id]; t != nil && t.forgettable(tx.journalState().first, tx.Now()) {
				from, err = tx.forgetSlice(t, from)
			}
			return err
		})
		if err == nil {
			s.keeper.forgetFrom[id] = from
		}
		if s.cat.Load().byID[id] == nil {
			delete(s.keeper.forgetFrom, id)
		}
		return true, err
	}
	return false, nil
}

// forgettable reports whether nothing but a row is left of a table, given the first sequence that the journal shows.
func (t *table) forgettable(first uint64, now time.Time) bool {
	return t.dropped && len(t.leaving) == 0 && first > t.through && len(t.shownStreams(now)) == 0
}

// forgetSlice looks at records that are past, from a sequence on, and removes those of the table. It gives where to go
// on, 0 when it is done. The row goes with the last of them.
//
// Trimming asks the item's row whether a record is still needed for its image. When the row has gone first, the record
// stays for nobody: that is why they are looked for here.
func (tx *Tx) forgetSlice(t *table, from uint64) (next uint64, err error) {
	bucket, err := tx.bucket(bucketJournal)
	if err != nil {
		return 0, err
	}
	first := tx.journalState().first
	past := func(k []byte) bool { return k != nil && binary.BigEndian.Uint64(k) < first }
	var keys, values [][]byte
	c := bucket.Cursor()
	k, v := c.Seek(seqKey(from))
	for n := 0; past(k) && n < tx.s.keeper.sizes().forget; n++ {
		r, err := decodeRecord(v)
		if err != nil {
			return 0, err
		}
		if r.table == t.id {
			keys, values = append(keys, k), append(values, v)
		}
		k, v = c.Next()
	}
	if past(k) {
		next = binary.BigEndian.Uint64(k)
	}
	for i := range keys {
		if err := tx.batch.remove(bucket, keys[i], values[i]); err != nil {
			return 0, err
		}
	}
	failpoint.Hit(failpoint.ForgetSlice)
	if next == 0 {
		return 0, tx.forgetTable(t)
	}
	return next, nil
}
