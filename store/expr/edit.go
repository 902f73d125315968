package expr

import (
	"maps"
	"slices"

	"github.com/touchline/touchline/store/attr"
)

// editNames returns a copy of a map with the changes of the tree applied: results has the new value of each path, and the zero Value
// removes it. The given map is not changed.
func (t *tree) editNames(from attr.Item, results []attr.Value) attr.Item {
	to := make(attr.Item, len(from)+len(t.subs))
	maps.Copy(to, from)
	for _, sub := range t.subs {
		if v := sub.edit(from[sub.step.name], results); v.IsZero() {
			delete(to, sub.step.name)
		} else {
			to[sub.step.name] = v
		}
	}
	return to
}

// editIndexes is editNames for a list. Indexes refer to the list before the update; values past its end are appended, and removed
// elements leave no holes: REMOVE a[0] SET a[1] = :x, a[9] = :y turns [1, 2] into [x, y].
func (t *tree) editIndexes(from []attr.Value, results []attr.Value) []attr.Value {
	to := make([]attr.Value, len(from), len(from)+len(t.subs))
	copy(to, from)
	for _, sub := range t.subs {
		if i := sub.step.index; i < len(from) {
			to[i] = sub.edit(from[i], results)
		} else {
			to = append(to, sub.edit(attr.Value{}, results))
		}
	}
	return slices.DeleteFunc(to, attr.Value.IsZero)
}

// edit returns the new value at a node of the tree; the zero Value means none. Where paths continue, the old value is a map or a list as
// they require: scope.reach has checked that.
func (t *tree) edit(old attr.Value, results []attr.Value) attr.Value {
	switch {
	case t.leaf != noLeaf:
		return results[t.leaf]
	case old.Kind() == attr.KindM:
		return attr.M(t.editNames(old.Map(), results))
	}
	return attr.L(t.editIndexes(old.List(), results)...)
}
