package attr

import (
	"maps"
	"slices"
	"strings"
)

// Equal reports whether two values have the same type and content. Numbers are compared numerically, lists in order, maps and sets
// regardless of order. Two absent values are equal.
func Equal(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case KindBool:
		return a.flag == b.flag
	case KindL:
		return slices.EqualFunc(a.List(), b.List(), Equal)
	case KindM:
		return EqualItems(a.Map(), b.Map())
	case KindSS, KindNS, KindBS:
		return slices.Equal(a.set(), b.set())
	default: // a number's text is canonical: equal numbers have equal texts
		return a.text == b.text
	}
}

// Equal is the function Equal as a method, for go-cmp.
func (v Value) Equal(other Value) bool { return Equal(v, other) }

// EqualItems reports whether two items have the same names with equal values.
func EqualItems(a, b Item) bool { return maps.EqualFunc(a, b, Equal) }

// Compare orders two strings, two numbers or two binaries: -1, 0 or 1. It returns false for other types and for values of different
// types, which have no order in DynamoDB.
func Compare(a, b Value) (int, bool) {
	if a.kind != b.kind {
		return 0, false
	}
	switch a.kind {
	case KindS, KindB:
		return strings.Compare(a.text, b.text), true
	case KindN:
		return compareNumbers(a.text, b.text), true
	default:
		return 0, false
	}
}

// compareNumbers orders two canonical number texts.
func compareNumbers(a, b string) int {
	aneg, bneg := a[0] == '-', b[0] == '-'
	switch {
	case aneg && bneg:
		return compareMagnitudes(b[1:], a[1:])
	case aneg:
		return -1
	case bneg:
		return 1
	}
	return compareMagnitudes(a, b)
}

// compareMagnitudes orders canonical texts without a sign. The one with the longer integer part is larger: 10.5 > 9.75. If these are
// equally long, the texts are in the order of the numbers, because the point sorts before every digit.
func compareMagnitudes(a, b string) int {
	if x, y := integerDigits(a), integerDigits(b); x != y {
		if x < y {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
}

func integerDigits(s string) int {
	if dot := strings.IndexByte(s, '.'); dot >= 0 {
		return dot
	}
	return len(s)
}
