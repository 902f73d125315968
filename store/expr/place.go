package expr

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// Place is where a document path leads as far as names go: the attribute, then names in maps. A path into a list is the
// list as a whole, for its elements have no fixed places.
type Place []string

// In returns what an item holds there; the zero Value is nothing.
func (p Place) In(it attr.Item) attr.Value {
	v := it[p[0]]
	for _, name := range p[1:] {
		v = v.Map()[name]
	}
	return v
}

// placeSeparator cannot be in an attribute name that anybody uses; if it is, two places share a text and are told apart
// by nobody who compares values of both.
const placeSeparator = "\x00"

// String returns the place as a text from which ParsePlace makes it again.
func (p Place) String() string { return strings.Join(p, placeSeparator) }

// ParsePlace is String the other way round.
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

// Places returns what the condition looks at, in the order of the text; one may occur more than once. A nil Condition
// looks at nothing.
func (c *Condition) Places() []Place {
	if c == nil {
		return nil
	}
	return appendPlaces(nil, c.root, c.names)
}

// Places returns what the update changes, in the order of the text.
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

// Change is an action on a whole attribute by a value of the request.
type Change struct {
	Verb  string // SET, REMOVE, ADD, DELETE
	Name  string
	Value attr.Value // not of a REMOVE
}

// Changes returns the update as changes of whole attributes by values of the request; false if an action is of another
// sort: into a map or list, or computed from the item.
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

// Verbs returns which clauses the update has, and whether it appends to lists.
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
