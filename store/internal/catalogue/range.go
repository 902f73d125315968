package catalogue

import (
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Bounds returns the range of keys that a key condition selects: low is inclusive, high is exclusive, nil if there is no bound.
func (k *Key) Bounds(r expr.KeyRange) (low, high []byte, err error) {
	if err := r.Check(&k.Key); err != nil {
		return nil, nil, err
	}
	if r.SortSize() > maxSortKey {
		return nil, nil, errKeySize(maxSortKey)
	}
	prefix, err := AppendKeys(nil, r.Partition)
	if err == nil {
		prefix, err = AppendKeys(prefix, r.Equal)
	}
	if err != nil {
		return nil, nil, err
	}
	low, high = prefix, firstAfter(prefix)
	if r.Op == expr.SortAny {
		return low, high, nil
	}
	from, err := appendSort(prefix, r)
	if err != nil {
		return nil, nil, err
	}
	switch r.Op {
	case expr.SortEqual, expr.SortBeginsWith:
		return from, firstAfter(from), nil
	case expr.SortLess:
		return low, from, nil
	case expr.SortLessEqual:
		return low, firstAfter(from), nil
	case expr.SortGreater:
		return firstAfter(from), high, nil
	case expr.SortGreaterEqual:
		return from, high, nil
	}
	to, err := attr.AppendKey(slices.Clip(prefix), r.High)
	return from, firstAfter(to), err
}

// PrefixRange returns the range of keys whose partition key is a string with the given prefix.
func PrefixRange(prefix string) (low, high []byte, err error) {
	low, err = attr.AppendKeyPrefix(nil, attr.S(prefix))
	return low, firstAfter(low), err
}

// AppendKeys appends the encoded values of a key.
func AppendKeys(dst []byte, values []attr.Value) (_ []byte, err error) {
	for _, v := range values {
		if dst, err = attr.AppendKey(dst, v); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func appendSort(prefix []byte, r expr.KeyRange) ([]byte, error) {
	if r.Op == expr.SortBeginsWith {
		return attr.AppendKeyPrefix(slices.Clip(prefix), r.Low)
	}
	return attr.AppendKey(slices.Clip(prefix), r.Low)
}

// firstAfter returns the first key after all keys with the given prefix, or nil if there is none.
func firstAfter(prefix []byte) []byte {
	out := slices.Clone(prefix)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i]++; out[i] != 0 {
			return out[:i+1]
		}
	}
	return nil
}
