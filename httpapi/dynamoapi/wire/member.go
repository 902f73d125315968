package wire

import (
	"strconv"

	"github.com/touchline/touchline/store/attr"
)

// Member is the next member of an object. Each of its methods names a known member, and decodes the value if this is the one; a member
// that no method names is skipped. So a request lists once what its members are called and where they go:
//
//	func (r *listTables) members(m *wire.Member) {
//		m.Text("ExclusiveStartTableName", &r.after)
//		m.Int("Limit", &r.limit)
//	}
type Member struct {
	Name string

	d    *Decoder
	read bool // its value was decoded
}

func (m *Member) is(name string) bool {
	if m.read || m.Name != name {
		return false
	}
	m.read = true
	return true
}

// Read decodes the value with read.
func (m *Member) Read(name string, read func(d *Decoder)) {
	if m.is(name) {
		read(m.d)
	}
}

// Text decodes a string.
func (m *Member) Text(name string, into *Opt[string]) {
	if m.is(name) {
		*into = Opt[string]{V: must(m.d.lex.ReadString()), Set: true}
	}
}

// Bool decodes a boolean.
func (m *Member) Bool(name string, into *Opt[bool]) {
	if m.is(name) {
		*into = Opt[bool]{V: must(m.d.lex.Bool()), Set: true}
	}
}

// Int decodes a whole number of the API's type Integer; a fraction is truncated.
func (m *Member) Int(name string, into *Opt[int64]) {
	if m.is(name) {
		*into = Opt[int64]{V: m.d.integer("Integer"), Set: true}
	}
}

// Long decodes a whole number of the API's type Long.
func (m *Member) Long(name string, into *Opt[int64]) {
	if m.is(name) {
		*into = Opt[int64]{V: m.d.integer("Long"), Set: true}
	}
}

// Float decodes a number.
func (m *Member) Float(name string, into *Opt[float64]) {
	if m.is(name) {
		f, _ := strconv.ParseFloat(m.d.number("Double"), 64) // infinite if too large
		*into = Opt[float64]{V: f, Set: true}
	}
}

// Texts decodes an array of strings.
func (m *Member) Texts(name string, into *Opt[[]string]) {
	if m.is(name) {
		*into = Opt[[]string]{V: []string{}, Set: true}
		m.d.Array(func(int) { into.V = append(into.V, must(m.d.lex.ReadString())) })
	}
}

// TextMap decodes an object of strings.
func (m *Member) TextMap(name string, into *Opt[map[string]string]) {
	if m.is(name) {
		*into = Opt[map[string]string]{V: map[string]string{}, Set: true}
		m.d.Map("java.lang.String", func(key string) { into.V[key] = must(m.d.lex.ReadString()) })
	}
}

// Item decodes a map of attribute values.
func (m *Member) Item(name string, into *Item) {
	if m.is(name) {
		m.d.Item(into)
	}
}

// DecodeEncoded is Item in binary form.
func (m *Member) DecodeEncoded(name string, into *Encoded) {
	if m.is(name) {
		into.V, into.Set, into.Err = readItem(m.d, attr.ReadEncodedJSON)
	}
}

// Object decodes an object of a shape in the API's model.
func Object[T any](m *Member, name, shape string, into *Opt[T], members func(*T, *Member)) {
	if m.is(name) {
		into.Set = true
		m.d.Field(shape, func(m *Member) { members(&into.V, m) })
	}
}

// Array decodes an array of up to most elements. Of a longer one, which is refused later, it keeps one more and skips the rest.
func Array[T any](m *Member, name string, most int, into *Opt[[]T], read func(*Decoder, *T)) {
	if !m.is(name) {
		return
	}
	d := m.d
	*into = Opt[[]T]{Set: true}
	d.ArrayUpTo(most, func(int) {
		var elem T
		read(d, &elem)
		into.V = append(into.V, elem)
	})
}

// Objects returns a function that decodes an object as an array element.
func Objects[T any](shape string, members func(*T, *Member)) func(*Decoder, *T) {
	return func(d *Decoder, into *T) {
		d.Object(shape, func(m *Member) { members(into, m) })
	}
}
