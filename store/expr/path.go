package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// path is a document path as written: an attribute name, then names in maps and indexes in lists.
type path []element

// element is one element of a written path: a name, the placeholder of a name or a list index.
type element struct {
	kind   elementKind
	number int    // the placeholder's number or the list index
	name   string // elementName
}

type elementKind uint8

const (
	elementName elementKind = iota
	elementPlaceholder
	elementIndex
)

// step is an element with its placeholder resolved. Two steps are equal when they lead to the same place.
type step struct {
	name  string
	index int // the index in a list; notIndex for a name
}

// notIndex in a step says that it is a name.
const notIndex = -1

func (s step) isIndex() bool { return s.index != notIndex }

// step resolves an element.
func (e element) step(names []string) step {
	switch e.kind {
	case elementPlaceholder:
		return step{name: names[e.number], index: notIndex}
	case elementIndex:
		return step{index: e.number}
	}
	return step{name: e.name, index: notIndex}
}

// steps resolves a path.
func (p path) steps(names []string) []step {
	out := make([]step, len(p))
	for i, e := range p {
		out[i] = e.step(names)
	}
	return out
}

// same reports whether two paths lead to the same place.
func (p path) same(q path, names []string) bool {
	return slices.EqualFunc(p, q, func(e, f element) bool { return e.step(names) == f.step(names) })
}

// describe writes a path as DynamoDB's errors do: [matches, [0], score].
func describe(steps []step) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, s := range steps {
		if i > 0 {
			b.WriteString(", ")
		}
		if s.isIndex() {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		} else {
			b.WriteString(s.name)
		}
	}
	b.WriteByte(']')
	return b.String()
}

// Doc is what a condition looks at. attr.Encoded is a Doc that reads only what is asked for.
type Doc interface {
	// Get returns the value of an attribute and whether it exists. An error means that the item cannot be read; Match
	// passes it on.
	Get(name string) (attr.Value, bool, error)
}

// Item makes a Doc of an item in memory. A nil Item is the item that does not exist.
type Item attr.Item

// Get implements Doc.
func (it Item) Get(name string) (attr.Value, bool, error) {
	v, ok := it[name]
	return v, ok, nil
}

// child is the value one step below a value; the zero Value is nothing there.
func child(v attr.Value, s step) attr.Value {
	if !s.isIndex() {
		return v.Map()[s.name]
	}
	if list := v.List(); s.index < len(list) {
		return list[s.index]
	}
	return attr.Value{}
}
