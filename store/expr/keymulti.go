package expr

import "strings"

// multiRange builds the range of a key with several attributes in a part. Each partition key attribute needs an equality. Conditions on
// sort key attributes start with the first and leave none out; all but the last are equalities.
//
//	h1 = :a AND h2 = :b                              the whole partition
//	h1 = :a AND h2 = :b AND r1 = :c AND r2 > :d      r1 is c, r2 above d
//	h1 = :a AND h2 = :b AND r2 > :d                  refused: r1 is missing
//	h1 = :a AND h2 = :b AND r1 > :c AND r2 > :d      refused: only the last may be a range
func (k *keyReader) multiRange() (KeyRange, error) {
	var r KeyRange
	if len(k.found) > len(k.key.Attrs) {
		return r, errKeyCondition()
	}
	if err := k.multiPartition(&r); err != nil {
		return r, err
	}
	sorts := k.key.Attrs[k.key.Partition:]
	used := 0
	for i, a := range sorts {
		limit, ok := k.term(a.Name)
		if !ok {
			continue
		}
		if missing := k.withoutEquality(sorts[:i]); missing != "" {
			return r, invalid("RANGE key attributes %s must have equality conditions specified in the query because "+
				"a condition is present on key attribute %s", missing, a.Name)
		}
		if used++; used > 1 {
			r.Equal = append(r.Equal, r.Low)
		}
		r.limit(limit)
	}
	if used < len(k.found)-k.key.Partition { // a condition on another attribute
		return r, errMissed(sorts[used])
	}
	return r, nil
}

// multiPartition sets the values of the partition key.
func (k *keyReader) multiPartition(r *KeyRange) error {
	attrs := k.key.Attrs[:k.key.Partition]
	if missing := k.withoutEquality(attrs); missing != "" {
		return invalid("HASH key attributes %s must have equality conditions specified in the query", missing)
	}
	for _, a := range attrs {
		t, _ := k.term(a.Name)
		if a.Kind != 0 && t.values[0].Kind() != a.Kind {
			return errKeyType()
		}
		r.Partition = append(r.Partition, t.values[0])
	}
	return nil
}

// withoutEquality returns the names of the attributes without a condition or, if there are none, of those whose condition is not an
// equality.
func (k *keyReader) withoutEquality(attrs []KeyAttr) string {
	var missing, others []string
	for _, a := range attrs {
		switch t, ok := k.term(a.Name); {
		case !ok:
			missing = append(missing, a.Name)
		case t.op != opEqual:
			others = append(others, a.Name)
		}
	}
	if len(missing) > 0 {
		return strings.Join(missing, ", ")
	}
	return strings.Join(others, ", ")
}
