package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// path is a document path as written: an attribute name, then names in maps and indexes in lists.
type path []element

// element is one element of a written path: a name, a name placeholder or a list index.
type element struct {
	kind   elementKind
	number int    // number of the placeholder, or the list index
	name   string // elementName
}

type elementKind uint8

const (
	elementName elementKind = iota
	elementPlaceholder
	elementIndex
)

// step is an element with its placeholder resolved. Equal steps lead to the same place.
type step struct {
	name  string
	index int // the list index; notIndex for a name
}

// notIndex marks a step that is a name.
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

// isSamePath reports whether two paths lead to the same place: "a.#n" and "a.b" do if #n is b.
func (p path) isSamePath(q path, names []string) bool {
	return slices.EqualFunc(p, q, func(e, f element) bool { return e.step(names) == f.step(names) })
}

// describe formats a path as DynamoDB's errors do: [matches, [0], score].
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

// Doc is an item that a condition is evaluated on. attr.Encoded is a Doc that decodes only the attributes asked for.
type Doc interface {
	// Get returns the value of an attribute and reports whether it exists. An error means that the item cannot be read; Match returns it.
	Get(name string) (attr.Value, bool, error)
}

// Item is a Doc for an item in memory. A nil Item is an item that does not exist.
type Item attr.Item

// Get implements Doc.
func (it Item) Get(name string) (attr.Value, bool, error) {
	v, ok := it[name]
	return v, ok, nil
}

// child returns the value one step below a value, or the zero Value if there is none.
func child(v attr.Value, s step) attr.Value {
	if !s.isIndex() {
		return v.Map()[s.name]
	}
	if list := v.List(); s.index < len(list) {
		return list[s.index]
	}
	return attr.Value{}
}
