package catalogue

import (
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// DynamoDB's limits for key attributes, in bytes of the value.
const (
	maxPartitionKey = 2048
	maxSortKey      = 1024
)

// Kind returns the kind of the type's values, or 0 if the type is invalid.
func (t KeyType) Kind() attr.Kind {
	switch t {
	case KeyString:
		return attr.KindS
	case KeyNumber:
		return attr.KindN
	case KeyBinary:
		return attr.KindB
	}
	return 0
}

// MaxKeyPart is how many attributes each part of a global index's key may have.
const MaxKeyPart = 4

// NewKeySpec returns a key made of the given attributes. It takes the first four of each part.
func NewKeySpec(partition, sort []KeyAttr) (k KeySpec) {
	for i, a := range partition[:min(len(partition), MaxKeyPart)] {
		if i == 0 {
			k.Partition = a
		} else {
			k.MorePartition[i-1] = a
		}
	}
	for i, a := range sort[:min(len(sort), MaxKeyPart)] {
		if i == 0 {
			k.Sort = a
		} else {
			k.MoreSort[i-1] = a
		}
	}
	return k
}

// PartitionAttrs returns the attributes of the partition key, at least one.
func (k *KeySpec) PartitionAttrs() []KeyAttr { return listAttrs(k.Partition, &k.MorePartition) }

// SortAttrs returns the attributes of the sort key.
func (k *KeySpec) SortAttrs() []KeyAttr {
	if k.Sort.Name == "" {
		return nil
	}
	return listAttrs(k.Sort, &k.MoreSort)
}

// Attrs returns the key attributes, those of the partition key first.
func (k *KeySpec) Attrs() []KeyAttr { return append(k.PartitionAttrs(), k.SortAttrs()...) }

// ExprKey returns the key in the form that key conditions use.
func (k *KeySpec) ExprKey() expr.Key {
	out := expr.Key{Partition: len(k.PartitionAttrs())}
	for _, a := range k.Attrs() {
		out.Attrs = append(out.Attrs, expr.KeyAttr{Name: a.Name, Kind: a.Type.Kind()})
	}
	return out
}

// Multi reports whether a part of the key has more than one attribute.
func (k *KeySpec) Multi() bool { return k.MorePartition[0].Name != "" || k.MoreSort[0].Name != "" }

func listAttrs(first KeyAttr, more *[MaxKeyPart - 1]KeyAttr) []KeyAttr {
	out := make([]KeyAttr, 1, 2)
	out[0] = first
	for _, a := range more {
		if a.Name == "" {
			break
		}
		out = append(out, a)
	}
	return out
}

// Key is a KeySpec prepared for use, in the form that key conditions use.
type Key struct{ expr.Key }

// Has reports whether an attribute is part of the key.
func (k *Key) Has(name string) bool {
	return slices.ContainsFunc(k.Attrs, func(a expr.KeyAttr) bool { return a.Name == name })
}

// limit returns the size limit in bytes of the part of the key to which the i-th attribute belongs.
func (k *Key) limit(i int) int {
	if i < k.Partition {
		return maxPartitionKey
	}
	return maxSortKey
}

// Fits reports whether a value can be the i-th attribute of a key. The attributes of a part share its limit: total is the size of those
// before, which the caller keeps from one attribute to the next.
func (k *Key) Fits(i int, v attr.Value, total *int) bool {
	switch {
	case v.Kind() != k.Attrs[i].Kind:
		return false
	case v.Kind() == attr.KindN && !k.Multi():
		return true
	case i == 0 || i == k.Partition:
		*total = 0
	}
	size := attr.SizeOf(v)
	*total += size
	return size > 0 && *total <= k.limit(i)
}

// PartitionLen returns the length in bytes of the partition key in an encoded key.
func (k *Key) PartitionLen(key []byte) (int, error) {
	n := 0
	for _, a := range k.Attrs[:k.Partition] {
		m, err := attr.KeyLen(key[n:], a.Kind)
		if err != nil {
			return 0, err
		}
		n += m
	}
	return n, nil
}

// RequestKey encodes the key of an Update or Delete: the key attributes and nothing else.
func (t *Table) RequestKey(key attr.Item) ([]byte, error) {
	return t.AppendRequestKey(make([]byte, 0, 64), key)
}

// AppendRequestKey is RequestKey, appending to dst.
func (t *Table) AppendRequestKey(dst []byte, key attr.Item) ([]byte, error) {
	if len(key) != len(t.Key.Attrs) {
		return nil, ErrKeySchema()
	}
	return t.appendKey(dst, key, func(a expr.KeyAttr, v attr.Value) error {
		if v.Kind() != a.Kind {
			return ErrKeySchema()
		}
		return nil
	})
}

// ErrKeySchema returns the error of a key that does not fit its table.
func ErrKeySchema() error {
	return refusal.Invalid("The provided key element does not match the schema")
}

// ItemKey encodes the key of an item.
func (t *Table) ItemKey(it attr.Item) ([]byte, error) {
	return t.appendKey(make([]byte, 0, 64), it, func(a expr.KeyAttr, v attr.Value) error {
		if v.IsZero() {
			return refusal.Invalid("One or more parameter values were invalid: Missing the key %s in the item", a.Name)
		}
		if v.Kind() != a.Kind {
			return refusal.Invalid("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s",
				a.Name, a.Kind, v.Kind())
		}
		return nil
	})
}

func (t *Table) appendKey(dst []byte, it attr.Item, check func(expr.KeyAttr, attr.Value) error) ([]byte, error) {
	for i, a := range t.Key.Attrs {
		v := it[a.Name]
		if err := check(a, v); err != nil {
			return nil, err
		}
		if err := checkKeyValue(a.Name, v, t.Key.limit(i)); err != nil {
			return nil, err
		}
		var err error
		if dst, err = attr.AppendKey(dst, v); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func checkKeyValue(name string, v attr.Value, limit int) error {
	if v.Kind() == attr.KindN {
		return nil
	}
	size := attr.SizeOf(v)
	if size == 0 {
		return errEmptyKey(v, "One or more parameter values are not valid. "+
			"The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", emptyName(v), name)
	}
	if size > limit {
		return errKeySize(limit)
	}
	return nil
}

func emptyName(v attr.Value) string {
	if v.Kind() == attr.KindB {
		return "binary"
	}
	return "string"
}

func errKeySize(limit int) error {
	if limit == maxPartitionKey {
		return refusal.Invalid("One or more parameter values were invalid: "+
			"Size of hashkey has exceeded the maximum size limit of%d bytes", limit) // no blank: this is the service's text
	}
	return refusal.Invalid("One or more parameter values were invalid: "+
		"Aggregated size of all range keys has exceeded the size limit of %d bytes", limit)
}

// KeyItem decodes a key encoded by RequestKey or ItemKey.
func (t *Table) KeyItem(key []byte) (attr.Item, error) {
	out := attr.Item{}
	for _, a := range t.Key.Attrs {
		v, rest, err := attr.ReadKey(key, a.Kind)
		if err != nil {
			return nil, refusal.DamagedData(err, "a key of table %s cannot be decoded", t.Spec.Name)
		}
		out[a.Name], key = v, rest
	}
	return out, nil
}
