package attr

import (
	"encoding/base64"
	"slices"
	"strings"
)

// SS returns a string set. Like DynamoDB, it refuses empty sets and repeated members. The order of the members has no meaning; they are
// held in ascending order, so equal sets have equal bytes.
func SS(members ...string) (Value, error) {
	if len(members) == 0 {
		return Value{}, invalid("One or more parameter values were invalid: An string set  may not be empty")
	}
	set := slices.Clone(members)
	slices.Sort(set)
	if hasTwins(set) {
		return Value{}, invalid("One or more parameter values were invalid: Input collection [%s] contains duplicates.",
			strings.Join(members, ", "))
	}
	return Value{kind: KindSS, many: set}, nil
}

// NS returns a number set from number texts: 1 and 1.0 are the same member.
func NS(members ...string) (Value, error) {
	if len(members) == 0 {
		return Value{}, invalid("One or more parameter values were invalid: An number set  may not be empty")
	}
	set := make([]string, len(members))
	for i, text := range members {
		n, err := N(text)
		if err != nil {
			return Value{}, err
		}
		set[i] = n.text
	}
	slices.SortFunc(set, compareNumbers)
	if hasTwins(set) {
		return Value{}, invalid("Input collection contains duplicates")
	}
	return Value{kind: KindNS, many: set}, nil
}

// BS returns a binary set with copies of the members.
func BS(members ...[]byte) (Value, error) {
	set := make([]string, len(members))
	for i, m := range members {
		set[i] = string(m)
	}
	return binarySet(set)
}

func binarySet(members []string) (Value, error) {
	if len(members) == 0 {
		return Value{}, invalid("One or more parameter values were invalid: Binary sets should not be empty")
	}
	set := slices.Clone(members)
	slices.Sort(set)
	if hasTwins(set) {
		return Value{}, invalid("One or more parameter values were invalid: Input collection [%s]of type BS contains duplicates.",
			strings.Join(base64Texts(members), ", "))
	}
	return Value{kind: KindBS, many: set}, nil
}

func base64Texts(members []string) []string {
	texts := make([]string, len(members))
	for i, m := range members {
		texts[i] = base64.StdEncoding.EncodeToString([]byte(m))
	}
	return texts
}

// Union returns the members of either of two sets of the same type.
func Union(a, b Value) Value {
	left, right, order := a.set(), b.set(), a.order()
	out := make([]string, 0, len(left)+len(right))
	for len(left) > 0 && len(right) > 0 {
		switch by := order(left[0], right[0]); {
		case by < 0:
			out, left = append(out, left[0]), left[1:]
		case by > 0:
			out, right = append(out, right[0]), right[1:]
		default:
			out, left, right = append(out, left[0]), left[1:], right[1:]
		}
	}
	return Value{kind: a.kind, many: append(append(out, left...), right...)}
}

// Difference returns the members of a that are not in b, a set of the same type, or the absent Value if there are none. It looks up each
// member by binary search, so taking a large set away from a small one is cheap.
func Difference(a, b Value) Value {
	gone, order := b.set(), a.order()
	var out []string
	for _, member := range a.set() {
		if _, found := slices.BinarySearchFunc(gone, member, order); !found {
			out = append(out, member)
		}
	}
	if len(out) == 0 {
		return Value{}
	}
	return Value{kind: a.kind, many: out}
}

// order returns the order in which the members of a set are held.
func (v Value) order() func(a, b string) int {
	if v.kind == KindNS {
		return compareNumbers
	}
	return strings.Compare
}

// hasTwins reports whether a sorted set has a member twice.
func hasTwins(set []string) bool {
	for i := 1; i < len(set); i++ {
		if set[i] == set[i-1] {
			return true
		}
	}
	return false
}
