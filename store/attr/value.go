package attr

import (
	"strconv"
	"strings"
)

// Item is an item or the content of a map: names and their values.
type Item map[string]Value

// Value is one attribute value. The zero Value is an absent value, which no item may contain (Check refuses it).
type Value struct {
	_    [0]func() // forbids ==, which would compare the representation: use Equal
	kind Kind
	flag bool   // the value of a BOOL
	text string // S; N: its canonical text; B: its bytes, as a string because they never change
	many any    // L: []Value; M: Item; SS, NS and BS: []string, ascending
}

// S returns a string.
func S(text string) Value { return Value{kind: KindS, text: text} }

// Int returns a number from an integer.
func Int(n int64) Value { return Value{kind: KindN, text: strconv.FormatInt(n, 10)} }

// B returns a binary with a copy of data.
func B(data []byte) Value { return Value{kind: KindB, text: string(data)} }

// Bool returns a boolean.
func Bool(truth bool) Value { return Value{kind: KindBool, flag: truth} }

// Null returns a null, which is a value: the attribute exists.
func Null() Value { return Value{kind: KindNull} }

// L returns a list. It shares the slice, which must not be changed afterwards.
func L(elems ...Value) Value { return Value{kind: KindL, many: elems} }

// M returns a map. It shares the item, which must not be changed afterwards.
func M(it Item) Value { return Value{kind: KindM, many: it} }

// Kind returns the type, 0 for an absent value.
func (v Value) Kind() Kind { return v.kind }

// IsZero reports whether the value is absent.
func (v Value) IsZero() bool { return v.kind == 0 }

// Str returns the text of a string or the canonical text of a number, "" for other types.
func (v Value) Str() string {
	if v.kind == KindS || v.kind == KindN {
		return v.text
	}
	return ""
}

// Int returns a number that is an integer in the range of int64; ok is false for every other value.
func (v Value) Int() (int64, bool) {
	if v.kind != KindN || len(v.text) > 20 || strings.IndexByte(v.text, '.') >= 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	return n, err == nil
}

// Bytes returns a copy of a binary value, nil for other types.
func (v Value) Bytes() []byte {
	if v.kind != KindB {
		return nil
	}
	return []byte(v.text)
}

// Bool returns the value of a boolean, false for other types.
func (v Value) Bool() bool { return v.kind == KindBool && v.flag }

// List returns the elements of a list, nil for other types. They are shared and must not be written to.
func (v Value) List() []Value {
	list, _ := v.many.([]Value)
	return list
}

// Map returns the content of a map, nil for other types. It is shared and must not be written to.
func (v Value) Map() Item {
	it, _ := v.many.(Item)
	return it
}

// Strs returns the members of a string set or the canonical texts of a number set, ascending; nil for other types. They are shared and
// must not be written to.
func (v Value) Strs() []string {
	if v.kind != KindSS && v.kind != KindNS {
		return nil
	}
	return v.set()
}

// ByteSets returns copies of the members of a binary set, ascending; nil for other types.
func (v Value) ByteSets() [][]byte {
	if v.kind != KindBS {
		return nil
	}
	members := v.set()
	out := make([][]byte, len(members))
	for i, m := range members {
		out[i] = []byte(m)
	}
	return out
}

// Text returns the text of a string or number, or the bytes of a binary without copying them; "" for other types.
func (v Value) Text() string { return v.text }

// Members returns the members of a set of any type, ascending, those of a binary set as bytes; nil for other types. They are shared and
// must not be written to.
func (v Value) Members() []string { return v.set() }

// set returns the members of a set of any type.
func (v Value) set() []string {
	set, _ := v.many.([]string)
	return set
}
