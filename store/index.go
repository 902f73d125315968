package store

import (
	"bytes"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/store/attr"
)

// An index entry has as its key the index's key attributes and the item's own key, and as its value the length of the
// first part. The item is fetched from its table in the same transaction: an entry changes only when its key does,
// and then one page is dirty instead of a copy of the item.

// entryKey gives the key of the entry of an item with the given primary key, nil if it is not in the index: because it
// lacks one of its attributes, or has something else in it, which checkItem refuses but an item that was there before
// the index may hold.
func (ix *index) entryKey(d doc, primary []byte) (key []byte, split int, err error) {
	key = make([]byte, 0, 64+len(primary))
	limit := maxPartitionKey
	for _, a := range ix.spec.Key.attrs() {
		v, ok, err := d.Get(a.Name)
		if err != nil {
			return nil, 0, damaged(err, "an item cannot be decoded")
		}
		if !ok || !a.fits(v, limit) {
			return nil, 0, nil
		}
		if key, err = attr.AppendKey(key, v); err != nil {
			return nil, 0, err
		}
		limit = maxSortKey
	}
	return append(key, primary...), len(key), nil
}

// fits tells whether a value can be the attribute's in a key.
func (a KeyAttr) fits(v attr.Value, limit int) bool {
	if v.Kind() != a.Type.kind() {
		return false
	}
	if v.Kind() == attr.KindN {
		return true
	}
	size := attr.SizeOf(v)
	return size > 0 && size <= limit
}

// checkItem refuses an item whose attributes cannot be keys of the index.
func (ix *index) checkItem(it attr.Item) error {
	for i, a := range ix.spec.Key.attrs() {
		v, ok := it[a.Name]
		if !ok {
			continue
		}
		limit := [...]int{maxPartitionKey, maxSortKey}[i]
		if v.Kind() != a.Type.kind() {
			return invalid("One or more parameter values were invalid: "+
				"Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s",
				a.Name, a.Type.kind(), v.Kind(), ix.spec.Name)
		}
		if v.Kind() != attr.KindN && attr.SizeOf(v) == 0 {
			return errEmptyKey(v, "One or more parameter values are not valid. A value specified for a secondary index key is "+
				"not supported. The AttributeValue for a key attribute cannot contain an empty %s value. "+
				"IndexName: %s, IndexKey: %s", emptyName(v), ix.spec.Name, a.Name)
		}
		if v.Kind() != attr.KindN && attr.SizeOf(v) > limit {
			return errKeySize(limit)
		}
	}
	return nil
}

// move brings the entry of an item from what old says to what now says. Equal entries are left alone. While the index is
// being filled the entry of the old item may not be there yet: then its removal is not noted, and so not undone either.
func (ix *index) move(tx *Tx, primary []byte, old, now doc) error {
	was, wasSplit, err := ix.entryKey(old, primary)
	if err != nil {
		return err
	}
	is, split, err := ix.entryKey(now, primary)
	if err != nil {
		return err
	}
	if bytes.Equal(was, is) {
		return nil
	}
	bucket, err := tx.bucket(ix.bucket)
	if err != nil {
		return err
	}
	if was != nil && (ix.fill == nil || bucket.Get(was) != nil) {
		if err := tx.batch.remove(bucket, was, entryValue(wasSplit)); err != nil {
			return err
		}
	}
	failpoint.Hit(failpoint.IndexRemoved)
	if is == nil {
		return nil
	}
	return tx.batch.set(bucket, is, entryValue(split), nil)
}

func entryValue(split int) []byte { return binary.AppendUvarint(nil, uint64(split)) }

// primaryOf gives the primary key that an entry ends with.
func (ix *index) primaryOf(key, value []byte) ([]byte, error) {
	split, n := binary.Uvarint(value)
	if n <= 0 || split >= uint64(len(key)) {
		return nil, damaged(nil, "an entry of index %s cannot be decoded", ix.spec.Name)
	}
	return key[split:], nil
}

// itemOf fetches the row that an entry stands for.
func (ix *index) itemOf(base *bolt.Bucket, key, value []byte) (row, error) {
	primary, err := ix.primaryOf(key, value)
	if err != nil {
		return nil, err
	}
	r := row(base.Get(primary))
	if r == nil {
		return nil, damaged(nil, "an entry of index %s has no item", ix.spec.Name)
	}
	return r, r.check()
}
