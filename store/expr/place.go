package expr

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// Place is the part of a document path that consists of names: an attribute, then names in maps. A path into a list stands for the whole
// list, because list elements have no fixed places: the Place of a.b[2].c is a.b.
type Place []string

// ValueIn returns the value of an item at the place, or the zero Value if there is none.
func (p Place) ValueIn(it attr.Item) attr.Value {
	v := it[p[0]]
	for _, name := range p[1:] {
		v = v.Map()[name]
	}
	return v
}

// placeSeparator does not occur in attribute names in practice. If it does, two places may share a text.
const placeSeparator = "\x00"

// String returns the place in a form that ParsePlace parses.
func (p Place) String() string { return strings.Join(p, placeSeparator) }

// ParsePlace is the inverse of String.
func ParsePlace(text string) Place { return strings.Split(text, placeSeparator) }

func (p path) place(names []string) Place {
	var out Place
	for _, e := range p {
		s := e.step(names)
		if s.isIndex() {
			break
		}
		out = append(out, s.name)
	}
	return out
}

// Places returns the places that the condition uses, in the order of the text. Places may repeat. A nil Condition has none.
func (c *Condition) Places() []Place {
	if c == nil {
		return nil
	}
	return appendPlaces(nil, c.root, c.names)
}

// Places returns the places that the update changes, in the order of the text.
func (u *Update) Places() []Place {
	out := make([]Place, len(u.actions))
	for i := range u.actions {
		out[i] = u.actions[i].path.place(u.names)
	}
	return out
}

func appendPlaces(to []Place, n *node, names []string) []Place {
	if n.op == opPath {
		to = append(to, n.path.place(names))
	}
	for i := range n.args {
		to = appendPlaces(to, &n.args[i], names)
	}
	return to
}

// Change is an action on a whole attribute with a value from the request.
type Change struct {
	Verb  string // SET, REMOVE, ADD, DELETE
	Name  string
	Value attr.Value // zero for REMOVE
}

// Changes returns the update as changes of whole attributes with values from the request. It returns false if any action is different:
// into a map or list, or computed from the item. "SET a = :x REMOVE b" is two changes; "SET a = a + :x" is not one.
func (u *Update) Changes() ([]Change, bool) {
	out := make([]Change, len(u.actions))
	for i := range u.actions {
		a := &u.actions[i]
		if len(a.path) != 1 || a.kind == actionSet && a.value.op != opValue {
			return nil, false
		}
		out[i] = Change{Verb: a.kind.String(), Name: a.path[0].step(u.names).name}
		if a.kind != actionRemove {
			out[i].Value = u.values[a.value.value]
		}
	}
	return out, true
}

// Verbs reports which clauses the update has, and whether it appends to lists.
func (u *Update) Verbs() (set, remove, add, del, appends bool) {
	for i := range u.actions {
		switch u.actions[i].kind {
		case actionSet:
			set = true
			appends = appends || uses(&u.actions[i].value, opListAppend)
		case actionRemove:
			remove = true
		case actionAdd:
			add = true
		case actionDelete:
			del = true
		}
	}
	return set, remove, add, del, appends
}

func uses(n *node, o op) bool {
	return n.op == o || slices.ContainsFunc(n.args, func(arg node) bool { return uses(&arg, o) })
}
