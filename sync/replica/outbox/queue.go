package outbox

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Place is the position of a batch in the queue of an item. Batches that do not write the item share a place: they do not wait for each
// other, only for earlier writes; later writes wait for all of them.
type Place struct {
	ID

	Shared bool
}

// placeShared is a bit in the worker byte of a place. Places written by an earlier version lack it: each waits for the one before.
const placeShared = 1 << 7

// Index returns the position of a batch in the item's queue, or -1.
func (sh *Remote) Index(id ID) int {
	return slices.IndexFunc(sh.Pending, func(p Place) bool { return p.ID == id })
}

// EachPlace calls fn with the items in whose queues the batch has a place. Items that it writes have shared == false. Items that it
// only checks or waits for have shared == true: there it shares the place with other batches that do not write
// the item.
func (u *Batch) EachPlace(fn func(table string, key attr.Item, shared bool) error) error {
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
	for _, ref := range u.After {
		if err := fn(ref.Table, ref.Key, true); err != nil {
			return err
		}
	}
	return nil
}

// leads reports whether a batch need not wait for any other on an item. It waits for earlier batches, except held ones, because what
// is written behind a quarantine does not wait for it. If it does not write the item itself, it does not wait for others
// that do not either.
func leads(tx *store.Tx, it *Item, id ID) (bool, error) {
	b, err := tx.Side(SideRemote).Get([]byte(it.ID()))
	if err != nil || b == nil {
		return false, err
	}
	sh, _, _, err := decodeRemoteHead(b)
	if err != nil {
		return false, fault.Wrap(err, fault.Damaged, "shadow", "the replica metadata of an item of %s cannot be read", it.Spec.Name)
	}
	at := sh.Index(id)
	if at < 0 {
		return false, nil
	}
	for _, before := range sh.Pending[:at] {
		if before.Shared && sh.Pending[at].Shared {
			continue
		}
		u, err := Get(tx, before.ID)
		if err != nil || u == nil || !u.IsHeld() {
			return false, err
		}
	}
	return true, nil
}

// IsHead reports whether the batch leads on all of its items.
func (b *Outbox) IsHead(tx *store.Tx, u *Batch) (head bool, err error) {
	head = true
	err = u.EachPlace(func(table string, key attr.Item, _ bool) error {
		spec := b.Spec(table)
		if spec == nil || !head {
			return nil
		}
		it, err := ItemOf(tx, spec, key)
		if err != nil {
			return err
		}
		head, err = leads(tx, it, u.ID)
		return err
	})
	return head && err == nil, err
}

// EachItem calls fn with the items in whose queues the batch has a place.
func (w *Work) EachItem(u *Batch, fn func(*WorkItem)) error {
	return w.eachPlace(u, func(it *WorkItem, _ bool) { fn(it) })
}

// eachPlace is Batch.EachPlace, once per item. Conditions on a table that is gone have no place.
func (w *Work) eachPlace(u *Batch, fn func(it *WorkItem, shared bool)) error {
	seen := map[*WorkItem]bool{}
	return u.EachPlace(func(table string, key attr.Item, shared bool) error {
		it, err := w.Load(table, key)
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

// findHeads determines which batches lead on the changed items. Of batches that share a place, all are announced when the place
// becomes free; at other times only the first, because all have been announced before.
func (w *Work) findHeads() error {
	for _, it := range w.Order {
		it.Heads = nil
		if !it.Dirty {
			continue
		}
		for _, p := range it.Remote.Pending {
			if !p.Shared && len(it.Heads) > 0 {
				break
			}
			if u, err := w.Batch(p.ID); err != nil {
				return err
			} else if u == nil || u.IsHeld() {
				continue
			}
			it.Heads = append(it.Heads, p.ID)
			if w.Many = w.Many || len(it.Heads) >= w.box.Heads; !p.Shared || !it.freed || w.Many {
				break
			}
		}
	}
	return nil
}

// InOrder sorts the batches waiting on an item in the order they were written, the same on all items. Sorted by sequence, two
// transactions could wait for each other after one was renumbered.
func (w *Work) InOrder(it *WorkItem) error {
	batches, err := w.Pending(it)
	if err != nil {
		return err
	}
	slices.SortStableFunc(batches, func(a, b *Batch) int {
		return cmp.Compare(a.Entries[0].Earliest(), b.Entries[0].Earliest())
	})
	places := make([]Place, len(batches))
	for i, u := range batches {
		places[i] = it.Remote.Pending[it.Remote.Index(u.ID)]
	}
	it.Remote.Pending = places
	return nil
}

// StandsBehind reports whether a batch that waits for the other nodes is ahead of the given one on an item.
func StandsBehind(tx *store.Tx, it *Item, id ID) (bool, error) {
	sh, _, err := ReadRemote(tx, it)
	if err != nil || sh == nil {
		return false, err
	}
	for _, other := range sh.Pending {
		if other.ID == id {
			break
		}
		before, err := Get(tx, other.ID)
		if err != nil {
			return false, err
		}
		if before != nil && before.WaitsForOthers() {
			return true, nil
		}
	}
	return false, nil
}

// KeptMark is intent.Env.Kept for an item known here.
func KeptMark(tx *store.Tx, spec *store.TableSpec, key attr.Item, mark attr.Value) (bool, error) {
	if spec == nil {
		return false, nil
	}
	it, err := ItemOf(tx, spec, key)
	if err != nil {
		return false, err
	}
	sh, _, err := ReadRemote(tx, it)
	if err != nil || sh == nil {
		return false, err
	}
	for _, p := range sh.Pending {
		u, err := Get(tx, p.ID)
		if err != nil {
			return false, err
		}
		if u != nil && slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool { return e.VerifyingBefore() && e.Mark().Equal(mark) }) {
			return true, nil
		}
	}
	return false, nil
}
