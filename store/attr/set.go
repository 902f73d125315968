package attr

import (
	"encoding/base64"
	"slices"
	"strings"
)

// SS makes a string set. An empty set and a member given twice are refused, as DynamoDB does. The order of the
// members means nothing; they are held ascending, so that equal sets are equal bytes.
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

// NS makes a number set of number texts: 1 and 1.0 are the same member.
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

// BS makes a set of copies of the members.
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

// Union returns the set of the members of either of two sets of one type.
func Union(a, b Value) Value {
	one, two, order := a.set(), b.set(), a.order()
	out := make([]string, 0, len(one)+len(two))
	for len(one) > 0 && len(two) > 0 {
		switch by := order(one[0], two[0]); {
		case by < 0:
			out, one = append(out, one[0]), one[1:]
		case by > 0:
			out, two = append(out, two[0]), two[1:]
		default:
			out, one, two = append(out, one[0]), one[1:], two[1:]
		}
	}
	return Value{kind: a.kind, many: append(append(out, one...), two...)}
}

// Difference returns the set of the members of a set that are not in another one of its type: the absent Value if there
// are none. It looks each member up, so that a large set taken from small ones many times costs little.
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

// order is how the members of a set are held.
func (v Value) order() func(a, b string) int {
	if v.kind == KindNS {
		return compareNumbers
	}
	return strings.Compare
}

// hasTwins reports whether a sorted set holds a member twice.
func hasTwins(set []string) bool {
	for i := 1; i < len(set); i++ {
		if set[i] == set[i-1] {
			return true
		}
	}
	return false
}
