package store

import (
	"bytes"
	"encoding/binary"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/store/attr"
)

// An index entry has as its key the index's key attributes and the item's own key, and as its value the length of the
// first part. The item is fetched from its table in the same transaction: an entry changes only when its key does,
// and then one page is dirty instead of a copy of the item.

// entryKey returns the key of the entry of an item with the given primary key, nil if it is not in the index: because it
// lacks one of its attributes, or has something else in one, which checkItem refuses but an item that was there before
// the index may hold.
func (ix *index) entryKey(d doc, primary []byte) (key []byte, split int, err error) {
	key = make([]byte, 0, 64+len(primary))
	total := 0
	for i, a := range ix.key.attrs {
		v, ok, err := d.Get(a.Name)
		if err != nil {
			return nil, 0, damaged(err, "an item cannot be decoded")
		}
		if !ok || !ix.key.fits(i, v, &total) {
			return nil, 0, nil
		}
		if key, err = attr.AppendKey(key, v); err != nil {
			return nil, 0, err
		}
	}
	return append(key, primary...), len(key), nil
}

// checkItem refuses an item whose attributes cannot be keys of the index.
func (ix *index) checkItem(it attr.Item) error {
	for i, a := range ix.key.attrs {
		v, ok := it[a.Name]
		if !ok {
			continue
		}
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
		if limit := ix.key.limit(i); !ix.key.multi && v.Kind() != attr.KindN && attr.SizeOf(v) > limit {
			return errKeySize(limit)
		}
	}
	if !ix.key.multi {
		return nil
	}
	if err := ix.checkPart(it, "HASH", ix.key.attrs[:ix.key.hashes], maxPartitionKey); err != nil {
		return err
	}
	return ix.checkPart(it, "RANGE", ix.key.attrs[ix.key.hashes:], maxSortKey)
}

// checkPart refuses an item whose values of a part of the key take more than its limit together. Those that the item
// lacks take nothing.
func (ix *index) checkPart(it attr.Item, part string, attrs []KeyAttr, limit int) error {
	size := 0
	var names []string
	for _, a := range attrs {
		if v, ok := it[a.Name]; ok {
			size += attr.SizeOf(v)
			names = append(names, a.Name)
		}
	}
	switch {
	case size <= limit:
		return nil
	case len(attrs) == 1:
		return errKeySize(limit)
	}
	return invalid("Aggregate size for %s key attributes %s of index %s has exceeded limit %d bytes, with actual size %d bytes",
		part, strings.Join(names, ", "), ix.spec.Name, limit, size)
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

// primaryOf returns the primary key that an entry ends with.
func (ix *index) primaryOf(key, value []byte) ([]byte, error) {
	split, n := binary.Uvarint(value)
	if n <= 0 || split >= uint64(len(key)) {
		return nil, damaged(nil, "an entry of index %s cannot be decoded", ix.spec.Name)
	}
	return key[split:], nil
}

// itemOf fetches the row that an entry stands for.
func (tx *Tx) itemOf(t *table, ix *index, base *bolt.Bucket, key, value []byte) (row, error) {
	primary, err := ix.primaryOf(key, value)
	if err != nil {
		return nil, err
	}
	v := base.Get(primary)
	if v == nil {
		return nil, damaged(nil, "an entry of index %s has no item", ix.spec.Name)
	}
	return tx.rowOf(t, primary, v)
}
