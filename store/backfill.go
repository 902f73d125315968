package store

import (
	"bytes"
	"context"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
)

// fillTime ends a slice of filling an index before its items do.
const fillTime = 2 * time.Millisecond

// fillSlice makes the entries of the next items of a table, behind those that have theirs, and returns the index as it is
// then. Items whose attributes cannot be keys of the index are left out of it, as DynamoDB does. A write may have been
// there first: its entry stands.
func (tx *Tx) fillSlice(t *table, ix *index) (*index, error) {
	base, err := tx.bucket(t.bucket)
	if err != nil {
		return nil, err
	}
	bucket, err := tx.bucket(ix.bucket)
	if err != nil {
		return nil, err
	}
	f := *ix.fill
	elapsed, end := stopwatch(), f.items+uint64(tx.s.keeper.sizes().fill)
	c := base.Cursor()
	k, v := seekBehind(c, f.upTo)
	for ; k != nil && f.items < end; k, v = c.Next() {
		if err := tx.fillEntry(t, bucket, ix, k, v); err != nil {
			return nil, err
		}
		f.upTo, f.items = k, f.items+1
		if f.items&15 == 0 && elapsed() > fillTime {
			end = f.items
		}
	}
	failpoint.Hit(failpoint.FillSlice)
	next := *ix
	next.fill = nil
	if k != nil {
		f.upTo = slices.Clone(f.upTo)
		next.fill = &f
	}
	return &next, nil
}

func (tx *Tx) fillEntry(t *table, bucket *bolt.Bucket, ix *index, k, v []byte) error {
	r, err := tx.rowOf(t, k, v)
	if err != nil {
		return err
	}
	key, split, err := ix.entryKey(r.item(), k)
	if err != nil || key == nil || bucket.Get(key) != nil {
		return err
	}
	tx.batch.grows = true
	return tx.batch.set(bucket, key, entryValue(split), nil)
}

// seekBehind moves a cursor to the first key behind one; nil is before all.
func seekBehind(c *bolt.Cursor, key []byte) (k, v []byte) {
	if key == nil {
		return c.First()
	}
	k, v = c.Seek(key)
	if bytes.Equal(k, key) {
		return c.Next()
	}
	return k, v
}

// fillTable fills the indexes of a table that are not yet.
func (s *Store) fillTable(ctx context.Context, name string) error {
	for {
		t := s.cat.Load().tables[name]
		if t == nil {
			return nil // dropped meanwhile
		}
		ix := t.nextFill()
		if ix == nil {
			return nil
		}
		if err := s.fill(ctx, t.id, ix.id); err != nil {
			return err
		}
	}
}

// fillNext is the chore of Housekeep: a slice of the first index that is not filled.
func (s *Store) fillNext(ctx context.Context) (did bool, err error) {
	cat := s.cat.Load()
	for _, id := range cat.ids() {
		if ix := cat.byID[id].nextFill(); ix != nil {
			return true, s.fill(ctx, id, ix.id)
		}
	}
	return false, nil
}

// nextFill returns the first index that is not filled.
func (t *table) nextFill() *index {
	for _, ix := range t.indexes {
		if ix.fill != nil {
			return ix
		}
	}
	return nil
}

// fill makes one slice of an index, if it is still to be filled.
func (s *Store) fill(ctx context.Context, tableID, indexID uint32) error {
	return s.Update(ctx, func(tx *Tx) error {
		t := tx.cat.byID[tableID]
		if t == nil {
			return nil
		}
		i := slices.IndexFunc(t.indexes, func(ix *index) bool { return ix.id == indexID && ix.fill != nil })
		if i < 0 {
			return nil
		}
		ix, err := tx.fillSlice(t, t.indexes[i])
		if err != nil {
			return err
		}
		changed := t.clone()
		changed.indexes[i] = ix
		return tx.saveTable(tx.cat.clone(), changed)
	})
}
