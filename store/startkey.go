package store

import (
	"bytes"
	"slices"

	"github.com/touchline/touchline/store/attr"
)

// checkStart refuses a key to go on after that lacks one of its attributes, or has others, or whose attributes of the index
// do not fit it; startAt looks at the rest. Of a table itself Query finds such faults here, Scan in startAt.
func (w *walk) checkStart(key attr.Item, scan bool) error {
	switch {
	case key == nil:
		return nil
	case scan && w.index == nil:
		return nil
	case len(key) != len(w.lastKeyNames()):
		return errStartKey()
	}
	return w.key().checkStart(key, len(w.key().attrs))
}

// CheckStart refuses a key to go on after which Query refuses before it looks at what the key condition says of the
// partition key: for callers that read key conditions in another form.
func (t *TableSpec) CheckStart(index string, key attr.Item) error {
	if key == nil {
		return nil
	}
	names, of := map[string]bool{}, &t.Key
	for i := range t.Indexes {
		if t.Indexes[i].Name == index {
			of = &t.Indexes[i].Key
		}
	}
	for _, a := range slices.Concat(t.Key.Attrs(), of.Attrs()) {
		names[a.Name] = true
	}
	if len(key) != len(names) {
		return errStartKey()
	}
	attrs := newKeyAttrs(of)
	return attrs.checkStart(key, attrs.hashes)
}

// checkStart looks at the first attributes of the key.
func (k *keyAttrs) checkStart(key attr.Item, first int) error {
	for i, a := range k.attrs[:first] {
		v, ok := key[a.Name]
		if !ok {
			return errStartKey()
		}
		if v.Kind() != a.Type.kind() {
			return errKeySchema()
		}
		if err := checkKeyValue(a.Name, v, k.limit(i)); err != nil {
			return err
		}
	}
	return nil
}

// startAt encodes the key to go on after. It must be one that a page may have ended with.
func (w *walk) startAt(key attr.Item) error {
	if key == nil {
		return nil
	}
	primary := attr.Item{}
	for _, a := range w.table.key.attrs {
		if v, ok := key[a.Name]; ok {
			primary[a.Name] = v
		}
	}
	if w.index == nil {
		primary = key
	}
	start, err := w.table.requestKey(primary)
	if err != nil {
		return invalid("The provided starting key is invalid: %s", err)
	}
	if w.index != nil {
		if start, _, err = w.index.entryKey(itemDoc(key), start); err != nil || start == nil {
			return errStartKey()
		}
	}
	w.start = start
	return nil
}

// checkInside refuses a key to go on after that lies outside of a query: in another partition, or where the condition on
// the sort key does not hold.
func (w *walk) checkInside(partition []attr.Value, sorted bool) error {
	if w.start == nil {
		return nil
	}
	mine, err := appendKeys(nil, partition)
	if err != nil {
		return err
	}
	n, err := w.key().partitionLen(w.start)
	if err != nil {
		return errStartKey()
	}
	same := bytes.Equal(w.start[:n], mine)
	switch {
	case !sorted && !same:
		return invalid("The provided starting key is outside query boundaries based on provided conditions")
	case w.single:
		return errOneRow()
	case !sorted:
		return nil
	}
	here := append(mine, w.start[n:]...)
	switch {
	case bytes.Compare(here, w.low) < 0 || w.high != nil && bytes.Compare(here, w.high) >= 0, !same && w.key().multi:
		return invalid("The provided starting key does not match the range key predicate")
	case !same:
		return errOneRow()
	}
	return nil
}

// checkSegment refuses a key to go on after that belongs to another segment of a scan.
func (w *walk) checkSegment() error {
	if w.start == nil {
		return nil
	}
	if mine, err := w.mine(w.start); err != nil || mine {
		return err
	}
	return invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "+
		"Segment. TotalSegments: %d Segment: %d", w.segments, w.segment)
}

func errOneRow() error {
	return invalid("The query can return at most one row and cannot be restarted")
}

func errStartKey() error { return invalid("The provided starting key is invalid") }
