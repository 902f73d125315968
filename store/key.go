package store

import (
	"github.com/touchline/touchline/store/attr"
)

// DynamoDB's limits for key attributes, in bytes of the value.
const (
	maxPartitionKey = 2048
	maxSortKey      = 1024
)

func (t KeyType) kind() attr.Kind {
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

// attrs lists the key attributes, one or two.
func (k KeySpec) attrs() []KeyAttr {
	if k.Sort.Name == "" {
		return []KeyAttr{k.Partition}
	}
	return []KeyAttr{k.Partition, k.Sort}
}

// has tells whether the attribute is one of the key's.
func (k KeySpec) has(name string) bool {
	return name == k.Partition.Name || (k.Sort.Name != "" && name == k.Sort.Name)
}

// requestKey encodes the key of an Update or Delete, which is the key attributes and nothing else.
func (t *table) requestKey(key attr.Item) ([]byte, error) {
	return t.appendRequestKey(make([]byte, 0, 64), key)
}

func (t *table) appendRequestKey(dst []byte, key attr.Item) ([]byte, error) {
	n := 1
	if t.spec.Key.Sort.Name != "" {
		n = 2
	}
	if len(key) != n {
		return nil, errKeySchema()
	}
	return t.appendKey(dst, key, func(a KeyAttr, v attr.Value) error {
		if v.Kind() != a.Type.kind() {
			return errKeySchema()
		}
		return nil
	})
}

func errKeySchema() error { return invalid("The provided key element does not match the schema") }

// itemKey encodes the key of an item.
func (t *table) itemKey(it attr.Item) ([]byte, error) {
	return t.appendKey(make([]byte, 0, 64), it, func(a KeyAttr, v attr.Value) error {
		if v.IsZero() {
			return invalid("One or more parameter values were invalid: Missing the key %s in the item", a.Name)
		}
		if v.Kind() != a.Type.kind() {
			return invalid("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s",
				a.Name, a.Type.kind(), v.Kind())
		}
		return nil
	})
}

func (t *table) appendKey(dst []byte, it attr.Item, check func(KeyAttr, attr.Value) error) ([]byte, error) {
	limit := maxPartitionKey
	for _, a := range t.spec.Key.attrs() {
		v := it[a.Name]
		if err := check(a, v); err != nil {
			return nil, err
		}
		if err := checkKeyValue(a.Name, v, limit); err != nil {
			return nil, err
		}
		var err error
		if dst, err = attr.AppendKey(dst, v); err != nil {
			return nil, err
		}
		limit = maxSortKey
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
		return invalid("One or more parameter values were invalid: "+
			"Size of hashkey has exceeded the maximum size limit of%d bytes", limit) // without the blank: so the service has it
	}
	return invalid("One or more parameter values were invalid: "+
		"Aggregated size of all range keys has exceeded the size limit of %d bytes", limit)
}

// keyItem decodes a key that key encoded.
func (t *table) keyItem(key []byte) (attr.Item, error) {
	out := attr.Item{}
	for _, a := range t.spec.Key.attrs() {
		v, rest, err := attr.ReadKey(key, a.Type.kind())
		if err != nil {
			return nil, damaged(err, "a key of table %s cannot be decoded", t.spec.Name)
		}
		out[a.Name], key = v, rest
	}
	return out, nil
}
