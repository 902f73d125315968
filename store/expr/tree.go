package expr

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/store/attr"
)

// tree is a set of document paths of which none contains another: the places that an update changes or a projection shows. It lets both
// process an item in one walk, and detects overlaps while it is built.
type tree struct {
	step   step
	leaf   int // the number of the path that ends here; noLeaf if paths continue
	first  int // the number of the first path that passes through here
	subs   []*tree
	byStep map[step]*tree // index of subs, if there are many
}

const (
	noLeaf   = -1
	manySubs = 8
)

// plant builds the tree of paths. It refuses paths that overlap (a and a.b) or conflict (a.b and a[0]); the error names the first such
// two.
func plant(paths []path, names []string) (*tree, error) {
	elements := 0
	for _, p := range paths {
		elements += len(p)
	}
	room := make([]tree, 0, 1+elements) // one allocation for all nodes: a tree is built for every request
	root := newTree(&room, step{}, 0)
	for number, p := range paths {
		if other, why := root.add(p, names, number, &room); why != "" {
			if one, two, ok := overlap(paths, names); ok { // an overlap is reported before a conflict, wherever it is
				other, why, p = one, "overlap", paths[two]
			}
			return nil, refuse("Two document paths %s with each other; must remove or rewrite one of these paths; "+
				"path one: %s, path two: %s", why, describe(paths[other].steps(names)), describe(p.steps(names)))
		}
	}
	root.sort()
	return root, nil
}

// overlap returns the first two paths of which one contains the other.
func overlap(paths []path, names []string) (one, two int, ok bool) {
	for two = range paths {
		for one = range two {
			short, long := paths[one], paths[two]
			if len(short) > len(long) {
				short, long = long, short
			}
			if short.isSamePath(long[:len(short)], names) {
				return one, two, true
			}
		}
	}
	return 0, 0, false
}

// add adds a path. If it cannot, it returns the number of the other path and the reason.
func (t *tree) add(p path, names []string, number int, room *[]tree) (other int, why string) {
	for i := range p {
		s := p[i].step(names)
		if t.leaf != noLeaf {
			return t.leaf, "overlap"
		}
		if len(t.subs) > 0 && t.subs[0].step.isIndex() != s.isIndex() {
			return t.subs[0].first, "conflict"
		}
		sub := t.find(s)
		if sub != nil && i == len(p)-1 {
			return sub.first, "overlap"
		}
		if sub == nil {
			sub = newTree(room, s, number)
			t.addTree(sub)
		}
		t = sub
	}
	t.leaf = number
	return 0, ""
}

func (t *tree) find(s step) *tree {
	if t.byStep != nil {
		return t.byStep[s]
	}
	for _, sub := range t.subs {
		if sub.step == s {
			return sub
		}
	}
	return nil
}

func newTree(room *[]tree, s step, number int) *tree {
	*room = append(*room, tree{step: s, leaf: noLeaf, first: number})
	return &(*room)[len(*room)-1]
}

func (t *tree) addTree(sub *tree) {
	t.subs = append(t.subs, sub)
	switch {
	case t.byStep != nil:
		t.byStep[sub.step] = sub
	case len(t.subs) > manySubs:
		t.byStep = make(map[step]*tree)
		for _, child := range t.subs {
			t.byStep[child.step] = child
		}
	}
}

// sort puts list indexes in ascending order: elements past the end of a list are appended in that order.
func (t *tree) sort() {
	if len(t.subs) > 0 && t.subs[0].step.isIndex() {
		slices.SortFunc(t.subs, func(a, b *tree) int { return cmp.Compare(a.step.index, b.step.index) })
	}
	for _, sub := range t.subs {
		sub.sort()
	}
}

// pickParts returns the parts of a value that the paths lead to, or false if there are none. Lists have no holes.
func (t *tree) pickParts(v attr.Value) (attr.Value, bool) {
	if t.leaf != noLeaf {
		return v, true
	}
	switch v.Kind() {
	case attr.KindM:
		it := t.pickNames(v.Map())
		return attr.M(it), len(it) > 0
	case attr.KindL:
		list := t.pickIndexes(v.List())
		return attr.L(list...), len(list) > 0
	}
	return attr.Value{}, false
}

func (t *tree) pickNames(from attr.Item) attr.Item {
	to := make(attr.Item, min(len(t.subs), len(from)))
	for _, sub := range t.subs {
		if v, ok := from[sub.step.name]; ok && !sub.step.isIndex() {
			if part, ok := sub.pickParts(v); ok {
				to[sub.step.name] = part
			}
		}
	}
	return to
}

func (t *tree) pickIndexes(from []attr.Value) []attr.Value {
	var to []attr.Value
	for _, sub := range t.subs {
		if sub.step.isIndex() && sub.step.index < len(from) {
			if part, ok := sub.pickParts(from[sub.step.index]); ok {
				to = append(to, part)
			}
		}
	}
	return to
}

// attributes returns the first steps of the paths, each once.
func (t *tree) attributes() []string {
	names := make([]string, len(t.subs))
	for i, sub := range t.subs {
		names[i] = sub.step.name
	}
	return names
}

// nestedNames returns the first steps of the paths with more than one step, each once.
func (t *tree) nestedNames() (names []string) {
	for _, sub := range t.subs {
		if len(sub.subs) > 0 {
			names = append(names, sub.step.name)
		}
	}
	return names
}
