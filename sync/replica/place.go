package replica

import (
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// place is where a unit stands in the queue of an item. Units that write nothing there share it: none of them waits for
// another, but for what is written before them, and what is written behind them waits for all.
type place struct {
	unitID

	shared bool
}

// placeShared is set in the byte of a place's lane. Places of an earlier version do not have it: each waits for the one before.
const placeShared = 1 << 7

// index is where a unit stands in the queue of the item; -1: it does not.
func (sh *shadow) index(id unitID) int {
	return slices.IndexFunc(sh.pending, func(p place) bool { return p.unitID == id })
}

// eachPlace calls fn with the items that the unit has a place with: those it writes, which it has for itself, and those that
// it has conditions on or stands behind, whose place it shares with others that write nothing there either.
func (u *unit) eachPlace(fn func(table string, key attr.Item, shared bool) error) error {
	for _, e := range u.Entries {
		if err := fn(e.Table, e.Key, false); err != nil {
			return err
		}
	}
	for i := range u.Entries[0].Checks {
		c := &u.Entries[0].Checks[i]
		if err := fn(c.Table, c.Key, true); err != nil {
			return err
		}
	}
	for _, ref := range u.after {
		if err := fn(ref.Table, ref.Key, true); err != nil {
			return err
		}
	}
	return nil
}

// leads reports whether a unit need not wait for another on an item: for what was written before it, but for what is held,
// since what is written behind a quarantine does not wait for it; and where the unit writes nothing itself, for no other
// that does not.
func leads(tx *store.Tx, it *item, id unitID) (bool, error) {
	b, err := tx.Side(sideShadow).Get([]byte(it.id()))
	if err != nil || b == nil {
		return false, err
	}
	sh, _, _, err := decodeShadowHead(b)
	if err != nil {
		return false, fault.Wrap(err, fault.Damaged, "shadow", "what is known of an item of %s cannot be read", it.spec.Name)
	}
	at := sh.index(id)
	if at < 0 {
		return false, nil
	}
	for _, before := range sh.pending[:at] {
		if before.shared && sh.pending[at].shared {
			continue
		}
		u, err := getUnit(tx, before.unitID)
		if err != nil || u == nil || !u.held() {
			return false, err
		}
	}
	return true, nil
}

// isHead reports whether nothing that was written before a unit waits on any of its items.
func (r *Replica) isHead(tx *store.Tx, u *unit) (head bool, err error) {
	head = true
	err = u.eachPlace(func(table string, key attr.Item, _ bool) error {
		spec := r.spec(table)
		if spec == nil || !head {
			return nil
		}
		it, err := itemOf(tx, spec, key)
		if err != nil {
			return err
		}
		head, err = leads(tx, it, u.id)
		return err
	})
	return head && err == nil, err
}

// eachItem calls fn with the items that the unit has a place with.
func (w *work) eachItem(u *unit, fn func(*workItem)) error {
	return w.eachPlace(u, func(it *workItem, _ bool) { fn(it) })
}

// eachPlace is unit.eachPlace, once for each item. Conditions on a table that is gone have none.
func (w *work) eachPlace(u *unit, fn func(it *workItem, shared bool)) error {
	seen := map[*workItem]bool{}
	return u.eachPlace(func(table string, key attr.Item, shared bool) error {
		it, err := w.item(table, key)
		switch {
		case shared && fault.Is(err, fault.NotFound):
			return nil
		case err == nil && !seen[it]:
			seen[it] = true
			fn(it, shared)
		}
		return err
	})
}

// findHeads finds which units lead on the items that have changed. Of those that share a place all have been told before
// but when it came free.
func (w *work) findHeads() error {
	for _, it := range w.order {
		it.heads = nil
		if !it.dirty {
			continue
		}
		for _, p := range it.sh.pending {
			if !p.shared && len(it.heads) > 0 {
				break
			}
			if u, err := w.unit(p.unitID); err != nil {
				return err
			} else if u == nil || u.held() {
				continue
			}
			it.heads = append(it.heads, p.unitID)
			if w.many = w.many || len(it.heads) >= w.r.limits.Heads; !p.shared || !it.freed || w.many {
				break
			}
		}
	}
	return nil
}

// moved has memory follow a commit of the driver: lanes learn which units are heads now, and who waits is told.
func (r *Replica) moved(w *work) {
	for _, it := range w.order {
		for _, id := range it.heads {
			r.push(id)
		}
		if it.refetch {
			r.bookReread(it.spec.Name, it.key)
		}
	}
	for _, u := range w.gone {
		r.waiting.ended(u)
		r.events.settled(r, u)
	}
	for _, id := range w.renumbered { // who waits looks where it is now
		r.waiting.settled(id.seq)
	}
	for _, u := range w.held {
		r.waiting.ended(u)
		r.events.settled(r, u)
	}
	if w.many {
		r.rescan()
	}
	for _, text := range w.bad {
		r.log.Error("the cloud has an item that this node cannot store", "error", text)
	}
}

// writes reports whether the unit has an entry on an item, and not a ConditionCheck alone.
func (u *unit) writes(table string, key attr.Item) bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool {
		return e.Table == table && attr.EqualItems(e.Key, key)
	})
}
