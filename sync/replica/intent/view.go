package intent

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// View returns what readers see of an item: its pending entries, in order, applied to the base. doubtful lists the sequences left out
// because their condition or guards do not hold, or because they cannot be applied. Quarantined entries are left out too, and so
// are entries put back that the base already has. View does not change its arguments.
func View(known Known, pending []*Entry, env Env) (item attr.Item, doubtful []uint64) {
	v, doubtful := view(known, pending, env)
	return v.item, doubtful
}

func view(known Known, pending []*Entry, env Env) (v viewing, doubtful []uint64) {
	v = viewing{node: env.Node, item: known.Item, life: lifeOf(known), time: known.Side.Time}
	for _, e := range pending {
		if e.isQuarantined() || e.replay && !e.lost && e.isReachedBy(known.Side, env.Node) {
			continue
		}
		if !v.applyEntry(e, env.Exprs) {
			doubtful = append(doubtful, e.Seq)
		}
	}
	return v, doubtful
}

// isReachedBy reports whether an image carries the mark of the entry or of a later one. An entry put back was applied before, and the
// base may date from then: applying an ADD to it again would count twice.
func (e *Entry) isReachedBy(side Sidecar, node string) bool {
	there := side.Marks[node]
	order, _ := attr.Compare(there, e.Mark())
	return there.Kind() == attr.KindN && order >= 0
}

// viewing is an item while entries are applied to it.
type viewing struct {
	node   string
	item   attr.Item
	life   Life
	behind uint64     // the pending entry that began the life, if any
	time   attr.Value // of policy newest
}

// applyEntry applies an entry; false: it is doubtful.
func (v *viewing) applyEntry(e *Entry, exprs *expr.Cache) bool {
	if !v.lets(e) || !e.holds(v.item, exprs) {
		return false
	}
	next, err := e.view(v.item, exprs)
	if err != nil {
		return false
	}
	switch {
	case next == nil:
		v.life, v.behind = Life{}, 0
	case e.ReplacesExpired || v.item == nil:
		v.life, v.behind = Life{Kind: LifeOurs, ID: e.lifeID(v.node)}, e.Seq
	}
	v.item = next
	if e.hasTimeGuard() {
		v.time = e.stamp()
	}
	return true
}

// MakesOver reports whether readers see what a pending create creates even though another item is there by now.
func (e *Entry) MakesOver(item attr.Item, exprs *expr.Cache) bool {
	return e.creates() && !e.ReplacesExpired && !e.hasTimeGuard() && e.holds(item, exprs)
}

// view is apply, except that an entry with ReplacesExpired creates its item anew.
func (e *Entry) view(item attr.Item, exprs *expr.Cache) (attr.Item, error) {
	if e.ReplacesExpired {
		return e.Item, nil
	}
	return e.apply(item, exprs)
}

// lets reports whether the guards would accept the entry, or move it to the existing life.
func (v *viewing) lets(e *Entry) bool {
	if e.hasTimeGuard() && v.item != nil && v.time.Kind() == attr.KindN {
		if order, _ := attr.Compare(v.time, e.stamp()); order >= 0 {
			return false
		}
	}
	switch {
	case e.Life.Kind == LifeNone, e.ReplacesExpired:
		return e.Op != store.OpDelete || v.item == nil
	case v.item == nil:
		return false
	case e.Behind != 0:
		return v.behind == e.Behind || v.behind == 0
	case v.behind != 0: // of what is put back it knows the name
		return v.life == e.Life
	}
	return v.life == e.Life || v.life.Kind == LifeForeign
}
