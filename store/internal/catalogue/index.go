package catalogue

import (
	"encoding/binary"
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// The key of an index entry is the index's key attributes followed by the item's own key; its value is the length of the first part. The
// item itself is fetched from its table in the same transaction. So an entry changes only when its key does, and that dirties one page
// instead of copying the item.

// EntryKey returns the key of the index entry of an item with the given primary key. It is nil if the item is not in the index: if one of
// the key attributes is missing or not valid as a key. checkItem refuses invalid ones, but items older than the index may have them.
func (ix *Index) EntryKey(d expr.Doc, primary []byte) (key []byte, split int, err error) {
	key = make([]byte, 0, 64+len(primary))
	total := 0
	for i, a := range ix.Key.Attrs {
		v, ok, err := d.Get(a.Name)
		if err != nil {
			return nil, 0, refusal.DamagedData(err, "an item cannot be decoded")
		}
		if !ok || !ix.Key.Fits(i, v, &total) {
			return nil, 0, nil
		}
		if key, err = attr.AppendKey(key, v); err != nil {
			return nil, 0, err
		}
	}
	return append(key, primary...), len(key), nil
}

// checkItem refuses an item whose attributes cannot be keys of the index.
func (ix *Index) checkItem(it attr.Item) error {
	for i, a := range ix.Key.Attrs {
		v, ok := it[a.Name]
		if !ok {
			continue
		}
		if v.Kind() != a.Kind {
			return refusal.Invalid("One or more parameter values were invalid: "+
				"Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s",
				a.Name, a.Kind, v.Kind(), ix.Spec.Name)
		}
		if v.Kind() != attr.KindN && attr.SizeOf(v) == 0 {
			return errEmptyKey(v, "One or more parameter values are not valid. A value specified for a secondary index key is "+
				"not supported. The AttributeValue for a key attribute cannot contain an empty %s value. "+
				"IndexName: %s, IndexKey: %s", emptyName(v), ix.Spec.Name, a.Name)
		}
		if limit := ix.Key.limit(i); !ix.Key.Multi() && v.Kind() != attr.KindN && attr.SizeOf(v) > limit {
			return errKeySize(limit)
		}
	}
	if !ix.Key.Multi() {
		return nil
	}
	if err := ix.checkPart(it, "HASH", ix.Key.Attrs[:ix.Key.Partition], maxPartitionKey); err != nil {
		return err
	}
	return ix.checkPart(it, "RANGE", ix.Key.Attrs[ix.Key.Partition:], maxSortKey)
}

// checkPart refuses an item whose values for one part of the key exceed the limit in total. Missing attributes count nothing.
func (ix *Index) checkPart(it attr.Item, part string, attrs []expr.KeyAttr, limit int) error {
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
	return refusal.Invalid("Aggregate size for %s key attributes %s of index %s has exceeded limit %d bytes, with actual size %d bytes",
		part, strings.Join(names, ", "), ix.Spec.Name, limit, size)
}

// EntryValue returns the value of an entry: the length of the index's own part of the key.
func EntryValue(split int) []byte { return binary.AppendUvarint(nil, uint64(split)) }

// PrimaryOf returns the primary key at the end of an entry's key.
func (ix *Index) PrimaryOf(key, value []byte) ([]byte, error) {
	split, n := binary.Uvarint(value)
	if n <= 0 || split >= uint64(len(key)) {
		return nil, refusal.DamagedData(nil, "an entry of index %s cannot be decoded", ix.Spec.Name)
	}
	return key[split:], nil
}
