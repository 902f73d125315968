package catalogue

import (
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// CheckStart refuses a start key that Query refuses before it examines the key condition. It is for callers that read key conditions in
// another form.
func (t *TableSpec) CheckStart(index string, key attr.Item) error {
	if key == nil {
		return nil
	}
	names, spec := map[string]bool{}, &t.Key
	for i := range t.Indexes {
		if t.Indexes[i].Name == index {
			spec = &t.Indexes[i].Key
		}
	}
	for _, a := range slices.Concat(t.Key.Attrs(), spec.Attrs()) {
		names[a.Name] = true
	}
	if len(key) != len(names) {
		return ErrStartKey()
	}
	k := Key{spec.ExprKey()}
	return k.CheckStart(key, k.Partition)
}

// CheckStart checks the first attributes of a start key.
func (k *Key) CheckStart(key attr.Item, first int) error {
	for i, a := range k.Attrs[:first] {
		v, ok := key[a.Name]
		if !ok {
			return ErrStartKey()
		}
		if v.Kind() != a.Kind {
			return ErrKeySchema()
		}
		if err := checkKeyValue(a.Name, v, k.limit(i)); err != nil {
			return err
		}
	}
	return nil
}

// ErrStartKey returns the error of a start key that no page can have ended with.
func ErrStartKey() error { return refusal.Invalid("The provided starting key is invalid") }
