package simcloud

import (
	"slices"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// table is its items by partition, both levels in the order of the keys' bytes. DynamoDB orders partitions by a hash;
// nothing here may rely on either.
type table struct {
	spec  store.TableSpec
	id    string
	made  time.Time
	back  time.Time // the instant that it was restored to; zero: it was not
	parts map[string]*partition

	hidden bool     // it is not found
	order  []string // keys of parts, ascending
	bytes  int
}

type partition struct {
	rows  map[string]*row
	order []string
}

// row is an item with its size. It is never changed: a write makes another one.
type row struct {
	item attr.Item
	size int
}

func (r *row) bytes() int {
	if r == nil {
		return 0
	}
	return r.size
}

func (r *row) image() attr.Item {
	if r == nil {
		return nil
	}
	return r.item
}

// rowKey is a key as attr.AppendKey writes its parts.
type rowKey struct{ part, sort string }

func (k rowKey) raw() string { return k.part + k.sort }

func (t *table) get(k rowKey) *row {
	if p := t.parts[k.part]; p != nil {
		return p.rows[k.sort]
	}
	return nil
}

// set puts a row in its place, nil takes it away; it gives what was there.
func (t *table) set(k rowKey, r *row) (was *row) {
	p := t.parts[k.part]
	if p == nil {
		if r == nil {
			return nil
		}
		p = &partition{rows: map[string]*row{}}
		t.parts[k.part] = p
		at, _ := slices.BinarySearch(t.order, k.part)
		t.order = slices.Insert(t.order, at, k.part)
	}
	was = p.rows[k.sort]
	t.bytes += r.bytes() - was.bytes()
	at, there := slices.BinarySearch(p.order, k.sort)
	switch {
	case r != nil:
		p.rows[k.sort] = r
		if !there {
			p.order = slices.Insert(p.order, at, k.sort)
		}
	case there:
		delete(p.rows, k.sort)
		p.order = slices.Delete(p.order, at, at+1)
	}
	return was
}

// each goes through the rows whose key is above after until fn says so.
func (t *table) each(after string, fn func(raw string, r *row) bool) {
	from, _ := slices.BinarySearch(t.order, after)
	if from > 0 {
		from-- // the partition that after is in sorts before it
	}
	for _, part := range t.order[from:] {
		p := t.parts[part]
		for _, sort := range p.order {
			raw := part + sort
			if after != "" && raw <= after {
				continue
			}
			if !fn(raw, p.rows[sort]) {
				return
			}
		}
	}
}

// keyAttrs lists the key attributes, one or two.
func (t *table) keyAttrs() []store.KeyAttr { return t.spec.Key.Attrs() }

// keyOf returns the key of the item in either row.
func (t *table) keyOf(rows ...*row) attr.Item {
	for _, r := range rows {
		if r == nil {
			continue
		}
		key := attr.Item{}
		for _, a := range t.keyAttrs() {
			key[a.Name] = r.item[a.Name]
		}
		return key
	}
	return nil
}

// requestKey reads the key of an Update, a Delete or a Get: the key attributes and nothing else.
func (t *table) requestKey(key attr.Item) (rowKey, error) {
	if len(key) != len(t.keyAttrs()) {
		return rowKey{}, invalid("The provided key element does not match the schema")
	}
	return t.itemKey(key)
}

// itemKey reads the key in an item.
func (t *table) itemKey(it attr.Item) (k rowKey, err error) {
	for i, a := range t.keyAttrs() {
		v := it[a.Name]
		switch {
		case v.Kind() != kindOf(a.Type):
			return rowKey{}, invalid("The provided key element does not match the schema")
		case v.Kind() != attr.KindN && attr.SizeOf(v) == 0:
			return rowKey{}, emptyKeyError{invalid("One or more parameter values are not valid. The AttributeValue for a key "+
				"attribute cannot contain an empty value. Key: %s", a.Name)}
		case attr.SizeOf(v) > 2048>>i:
			return rowKey{}, invalid("One or more parameter values were invalid: a key exceeds its size limit")
		}
		raw, err := attr.AppendKey(nil, v)
		if err != nil {
			return rowKey{}, invalid("%v", err)
		}
		if i == 0 {
			k.part = string(raw)
		} else {
			k.sort = string(raw)
		}
	}
	return k, nil
}

func kindOf(t store.KeyType) attr.Kind {
	k, _ := attr.ParseKind(string(rune(t)))
	return k
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
				if v.Kind() != kindOf(a.Type) || v.Kind() != attr.KindN && attr.SizeOf(v) == 0 {
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
