package store

import (
	"bytes"

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
	return checkStartAttrs(key, w.keySpec().attrs())
}

// CheckStart refuses a key to go on after which Query refuses before it looks at what the key condition says of the
// partition key: for who reads key conditions in another form.
func (t *TableSpec) CheckStart(index string, key attr.Item) error {
	if key == nil {
		return nil
	}
	names, of := map[string]bool{}, t.Key
	for _, ix := range t.Indexes {
		if ix.Name == index {
			of = ix.Key
		}
	}
	for _, a := range append(t.Key.attrs(), of.attrs()...) {
		names[a.Name] = true
	}
	if len(key) != len(names) {
		return errStartKey()
	}
	return checkStartAttrs(key, of.attrs()[:1])
}

func checkStartAttrs(key attr.Item, attrs []KeyAttr) error {
	limit := maxPartitionKey
	for _, a := range attrs {
		v, ok := key[a.Name]
		if !ok {
			return errStartKey()
		}
		if v.Kind() != a.Type.kind() {
			return errKeySchema()
		}
		if err := checkKeyValue(a.Name, v, limit); err != nil {
			return err
		}
		limit = maxSortKey
	}
	return nil
}

// startAt encodes the key to go on after. It must be one that a page may have ended with.
func (w *walk) startAt(key attr.Item) error {
	if key == nil {
		return nil
	}
	primary := attr.Item{}
	for _, a := range w.table.spec.Key.attrs() {
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
func (w *walk) checkInside(partition attr.Value, sorted bool) error {
	if w.start == nil {
		return nil
	}
	mine, err := attr.AppendKey(nil, partition)
	if err != nil {
		return err
	}
	n, err := attr.KeyLen(w.start, partition.Kind())
	if err != nil {
		return errStartKey()
	}
	same := bytes.Equal(w.start[:n], mine)
	if !sorted {
		if !same {
			return invalid("The provided starting key is outside query boundaries based on provided conditions")
		}
		return nil
	}
	here := append(mine, w.start[n:]...)
	switch {
	case bytes.Compare(here, w.low) < 0 || w.high != nil && bytes.Compare(here, w.high) >= 0:
		return invalid("The provided starting key does not match the range key predicate")
	case !same:
		return invalid("The query can return at most one row and cannot be restarted")
	}
	return nil
}

func errStartKey() error { return invalid("The provided starting key is invalid") }
