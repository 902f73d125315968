package simcloud

import (
	"slices"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// table holds items in the order of their encoded keys, as attr.AppendKey writes the parts. DynamoDB orders partitions by a hash; nothing
// here may rely on either order.
type table struct {
	spec  store.TableSpec
	id    string
	made  time.Time
	back  time.Time // the instant it was restored to; zero: never
	items map[string]attr.Item
	order []string // keys of items, ascending

	hidden bool // hidden by Hide
}

// set stores an item, or removes it if nil, and returns the previous one. Items are immutable: a write makes a new one.
func (t *table) set(key string, now attr.Item) (was attr.Item) {
	was = t.items[key]
	at, there := slices.BinarySearch(t.order, key)
	switch {
	case now != nil:
		t.items[key] = now
		if !there {
			t.order = slices.Insert(t.order, at, key)
		}
	case there:
		delete(t.items, key)
		t.order = slices.Delete(t.order, at, at+1)
	}
	return was
}

// behind returns the keys above after or, if that is empty, from least on.
func (t *table) behind(after, least string) []string {
	at, there := slices.BinarySearch(t.order, max(after, least))
	if there && after != "" {
		at++
	}
	return t.order[at:]
}

// keyOf returns the key of an item.
func (t *table) keyOf(it attr.Item) attr.Item {
	key := attr.Item{}
	for _, a := range t.spec.Key.Attrs() {
		key[a.Name] = it[a.Name]
	}
	return key
}

// requestKey encodes the key of an Update, a Delete or a Get: the key attributes and nothing else.
func (t *table) requestKey(key attr.Item) (string, error) {
	if len(key) != len(t.spec.Key.Attrs()) {
		return "", invalid("The provided key element does not match the schema")
	}
	return t.itemKey(key)
}

// itemKey encodes the key of an item.
func (t *table) itemKey(it attr.Item) (string, error) {
	var key []byte
	for i, a := range t.spec.Key.Attrs() {
		v := it[a.Name]
		switch {
		case v.Kind() != a.Type.Kind():
			return "", invalid("The provided key element does not match the schema")
		case v.Kind() != attr.KindN && attr.SizeOf(v) == 0:
			return "", emptyKeyError{invalid("One or more parameter values are not valid. The AttributeValue for a key "+
				"attribute cannot contain an empty value. Key: %s", a.Name)}
		case attr.SizeOf(v) > 2048>>i:
			return "", invalid("One or more parameter values were invalid: a key exceeds its size limit")
		}
		var err error
		if key, err = attr.AppendKey(key, v); err != nil {
			return "", invalid("%v", err)
		}
	}
	return string(key), nil
}

// checkIndexes refuses an item that cannot be in the table's indexes.
func (t *table) checkIndexes(it attr.Item) error {
	for i := range t.spec.Indexes {
		key := &t.spec.Indexes[i].Key
		for part, attrs := range [...][]store.KeyAttr{key.PartitionAttrs(), key.SortAttrs()} {
			size := 0
			for _, a := range attrs {
				v := it[a.Name]
				if v.IsZero() {
					continue
				}
				if v.Kind() != a.Type.Kind() || v.Kind() != attr.KindN && attr.SizeOf(v) == 0 {
					return invalid("One or more parameter values were invalid: Type mismatch for Index Key %s", a.Name)
				}
				size += attr.SizeOf(v)
			}
			if size > 2048>>part {
				return invalid("One or more parameter values were invalid: an index key exceeds its size limit")
			}
		}
	}
	return nil
}
