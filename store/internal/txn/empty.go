package txn

import (
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
)

// EmptySlice removes entries from the table's first leftover bucket or, once it is empty, the bucket itself. Removing the bucket is a
// transaction of its own, because nothing can be restored into a deleted bucket.
func (tx *Tx) EmptySlice(t *catalogue.Table, entries int) error {
	name := t.Leaving[0].Bucket()
	bucket, err := tx.Bucket(name)
	if err != nil {
		return err
	}
	keys, values := firstEntries(bucket, entries)
	size := 0
	for i, k := range keys {
		if err := tx.Batch.remove(bucket, k, values[i]); err != nil {
			return err
		}
		size += len(k) + len(values[i])
	}
	if len(keys) > 0 {
		failpoint.Hit(failpoint.EmptySlice)
		// The entries are adjacent: the commit changes their pages, which may be half full, not a page for each entry.
		pages := 2 + 2*size/tx.Btx.DB().Info().PageSize
		tx.Batch.mutations -= max(0, len(keys)-pages)
		return nil
	}
	if err := tx.deleteBucket(name); err != nil {
		return err
	}
	failpoint.Hit(failpoint.EmptyBucket)
	changed := t.Clone()
	changed.Leaving = changed.Leaving[1:]
	return tx.SaveTable(tx.Cat.Clone(), changed)
}

// firstEntries collects entries before any is removed, because that would move the cursor.
func firstEntries(bucket *bolt.Bucket, limit int) (keys, values [][]byte) {
	c := bucket.Cursor()
	for k, v := c.First(); k != nil && len(keys) < limit; k, v = c.Next() {
		keys, values = append(keys, k), append(values, v)
	}
	return keys, values
}

// ForgetSlice examines trimmed records from a sequence on, and removes those of the table. It returns where to continue, or 0 when it is
// done; then it also removes the table's row.
//
// Trimming keeps a record while the item's row is no longer the image in it, because a later record may need that image. If the row was
// removed with its table, such records stay for nobody, so they are removed here.
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
