package txn

import (
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
)

// EmptySlice takes entries out of the first bucket that is leaving, or the bucket itself once it is empty: that is a
// transaction of its own, because nothing can be put back into a bucket that was deleted.
func (tx *Tx) EmptySlice(t *catalogue.Table, entries int) (removed int, err error) {
	name := t.Leaving[0].Bucket()
	bucket, err := tx.Bucket(name)
	if err != nil {
		return 0, err
	}
	keys, values := firstEntries(bucket, entries)
	size := 0
	for i, k := range keys {
		if err := tx.Batch.remove(bucket, k, values[i]); err != nil {
			return 0, err
		}
		size += len(k) + len(values[i])
	}
	if len(keys) > 0 {
		failpoint.Hit(failpoint.EmptySlice)
		// They lie side by side: the commit changes their pages, which may be half full, and not one for each of them.
		pages := 2 + 2*size/tx.Btx.DB().Info().PageSize
		tx.Batch.mutations -= max(0, len(keys)-pages)
		return len(keys), nil
	}
	if err := tx.deleteBucket(name); err != nil {
		return 0, err
	}
	failpoint.Hit(failpoint.EmptyBucket)
	changed := t.Clone()
	changed.Leaving = changed.Leaving[1:]
	return 0, tx.SaveTable(tx.Cat.Clone(), changed)
}

// firstEntries reads before anything is removed, which would move the cursor.
func firstEntries(bucket *bolt.Bucket, limit int) (keys, values [][]byte) {
	c := bucket.Cursor()
	for k, v := c.First(); k != nil && len(keys) < limit; k, v = c.Next() {
		keys, values = append(keys, k), append(values, v)
	}
	return keys, values
}

// ForgetSlice looks at records that are past, from a sequence on, and removes those of the table. It gives where to go
// on, 0 when it is done. The row goes with the last of them.
//
// Trimming asks the item's row whether a record is still needed for its image. When the row has gone first, the record
// stays for nobody: that is why they are looked for here.
func (tx *Tx) ForgetSlice(t *catalogue.Table, from uint64, records int) (next uint64, err error) {
	bucket, err := tx.Bucket(format.BucketJournal)
	if err != nil {
		return 0, err
	}
	first := tx.JournalState().First
	past := func(k []byte) bool { return k != nil && binary.BigEndian.Uint64(k) < first }
	var keys, values [][]byte
	c := bucket.Cursor()
	k, v := c.Seek(format.SeqKey(from))
	for n := 0; past(k) && n < records; n++ {
		r, err := format.DecodeRecord(v)
		if err != nil {
			return 0, err
		}
		if r.Table == t.ID {
			keys, values = append(keys, k), append(values, v)
		}
		k, v = c.Next()
	}
	if past(k) {
		next = binary.BigEndian.Uint64(k)
	}
	for i := range keys {
		if err := tx.Batch.remove(bucket, keys[i], values[i]); err != nil {
			return 0, err
		}
	}
	failpoint.Hit(failpoint.ForgetSlice)
	if next == 0 {
		return 0, tx.forgetTable(t)
	}
	return next, nil
}
