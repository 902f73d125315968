package txn

import (
	"bytes"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/store/internal/catalogue"
)

// fillTime limits the time of one slice of filling an index.
const fillTime = 2 * time.Millisecond

// fillItems is how many items one slice processes.
const fillItems = 256

// FillSlice creates the entries of the next items of a table and returns the index with its progress. Like DynamoDB, it leaves out items
// whose attributes cannot be keys of the index. If a write has already created an entry, it is kept.
func (tx *Tx) FillSlice(t *catalogue.Table, ix *catalogue.Index) (*catalogue.Index, error) {
	base, err := tx.Bucket(t.Bucket)
	if err != nil {
		return nil, err
	}
	bucket, err := tx.Bucket(ix.Bucket)
	if err != nil {
		return nil, err
	}
	f := *ix.Fill
	began, end := time.Now(), f.Items+uint64(tx.DB.FillItems)
	c := base.Cursor()
	k, v := seekBehind(c, f.UpTo)
	for ; k != nil && f.Items < end; k, v = c.Next() {
		if err := tx.fillEntry(t, bucket, ix, k, v); err != nil {
			return nil, err
		}
		f.UpTo, f.Items = k, f.Items+1
		if f.Items&15 == 0 && time.Since(began) > fillTime {
			end = f.Items
		}
	}
	failpoint.Hit(failpoint.FillSlice)
	next := *ix
	next.Fill = nil
	if k != nil {
		f.UpTo = slices.Clone(f.UpTo)
		next.Fill = &f
	}
	return &next, nil
}

func (tx *Tx) fillEntry(t *catalogue.Table, bucket *bolt.Bucket, ix *catalogue.Index, k, v []byte) error {
	r, err := tx.RowOf(t, k, v)
	if err != nil {
		return err
	}
	key, split, err := ix.EntryKey(r.Item(), k)
	if err != nil || key == nil || bucket.Get(key) != nil {
		return err
	}
	tx.Batch.Grows = true
	return tx.Batch.Set(bucket, key, catalogue.EntryValue(split), nil)
}

// Slice calls each with the keys of a bucket after the given one (nil: from the start), until it has called it most times or each returns
// false. It returns the last key, or nil at the end of the bucket.
func Slice(b *bolt.Bucket, after []byte, most int, each func(k, v []byte) (more bool)) (to []byte) {
	c := b.Cursor()
	k, v := seekBehind(c, after)
	for n := 1; k != nil; n++ {
		at, more := k, each(k, v)
		if k, v = c.Next(); k != nil && (n == most || !more) {
			return slices.Clone(at)
		}
	}
	return nil
}

// seekBehind moves a cursor to the first key after the given one; nil is before all keys.
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
