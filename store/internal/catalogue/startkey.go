package catalogue

import (
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/refusal"
)

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
		return ErrStartKey()
	}
	attrs := newKeyAttrs(of)
	return attrs.CheckStart(key, attrs.hashes)
}

// CheckStart looks at the first attributes of the key.
func (k *KeyAttrs) CheckStart(key attr.Item, first int) error {
	for i, a := range k.Attrs[:first] {
		v, ok := key[a.Name]
		if !ok {
			return ErrStartKey()
		}
		if v.Kind() != a.Type.Kind() {
			return ErrKeySchema()
		}
		if err := checkKeyValue(a.Name, v, k.limit(i)); err != nil {
			return err
		}
	}
	return nil
}

// ErrStartKey refuses a key to go on after that no page can have ended with.
func ErrStartKey() error { return refusal.Invalid("The provided starting key is invalid") }
