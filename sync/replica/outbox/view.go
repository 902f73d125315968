package outbox

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Finish writes the changes. An item that the store cannot accept is left unchanged and reported.
func (w *Work) Finish() error {
	if w.err != nil {
		return w.err
	}
	for _, u := range w.Held { // what is queued behind it does not wait for it
		if err := w.EachItem(u, func(it *WorkItem) { it.Dirty, it.freed = true, true }); err != nil {
			return err
		}
	}
	for _, u := range w.Gone {
		if err := Drop(w.Tx, u, w.tally); err != nil {
			return err
		}
	}
	for _, id := range w.dirtyIDs() {
		if err := Put(w.Tx, w.batches[id], w.tally); err != nil {
			return err
		}
	}
	if err := w.keepItems(); err != nil {
		return err
	}
	if err := w.findHeads(); err != nil {
		return err
	}
	if w.err != nil {
		return w.err
	}
	if err := w.keepReplayed(); err != nil {
		return err
	}
	return w.tally.AddToCounts(w.Tx)
}

// keepItems writes rows and remote images.
func (w *Work) keepItems() error {
	for _, it := range w.Order {
		if it.Rebased {
			if err := w.updateView(it); err != nil {
				return err
			}
		}
		if it.Dirty {
			if err := KeepRemote(w.Tx, &it.Item, it.Remote); err != nil {
				return err
			}
		}
	}
	return nil
}

// dirtyIDs lists the batches to write again, by sequence.
func (w *Work) dirtyIDs() []ID {
	out := make([]ID, 0, len(w.dirty))
	for id := range w.dirty {
		out = append(out, id)
	}
	slices.SortFunc(out, func(a, b ID) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

// updateView sets the row to what readers should see: the pending entries applied to the base.
func (w *Work) updateView(it *WorkItem) error {
	view := it.Remote.Known.Item
	var out []uint64
	if len(it.Remote.Pending) > 0 {
		entries, err := w.Entries(it)
		if err != nil {
			return err
		}
		view, out = intent.View(it.Remote.Known, entries, w.Env)
	}
	if err := w.keepSeen(it, out); err != nil {
		return err
	}
	doubtful := len(out)
	if doubtful != it.Remote.doubtful {
		if err := addDoubtful(w.Tx, doubtful-it.Remote.doubtful); err != nil {
			return err
		}
		it.Remote.doubtful, it.Dirty = doubtful, true
	}
	_, err := w.Tx.Adopt(it.Spec.Name, it.Key, view)
	if err != nil && fault.Is(err, fault.Invalid) {
		w.Bad = append(w.Bad, it.Spec.Name+": "+err.Error())
		return nil
	}
	return err
}

// keepSeen keeps the images from before entries left the view, as long as one of those entries is doubtful.
func (w *Work) keepSeen(it *WorkItem, doubtful []uint64) error {
	sh, have := it.Remote, len(it.Remote.seen)
	sh.seen = slices.DeleteFunc(sh.seen, func(s Seen) bool { return len(doubtful) == 0 || s.Seq < doubtful[0] })
	it.Dirty = it.Dirty || len(sh.seen) < have
	if len(doubtful) == 0 {
		return nil
	}
	last := doubtful[len(doubtful)-1]
	if n := len(sh.seen); n > 0 && sh.seen[n-1].Seq >= last {
		return nil
	}
	view, err := w.row(it)
	if err == nil {
		sh.seen, it.Dirty = append(sh.seen, Seen{Seq: last, Base: it.base, View: view}), true
	}
	return err
}

// ItemSeenBy returns an item while an entry was in the view, even if the base has changed since.
func (w *Work) ItemSeenBy(it *WorkItem, e *intent.Entry) (s Seen, err error) {
	if i := slices.IndexFunc(it.Remote.seen, func(s Seen) bool { return s.Seq >= e.Earliest() }); i >= 0 {
		return it.Remote.seen[i], nil
	}
	s = Seen{Seq: e.Seq, Base: it.Remote.Known.Item}
	s.View, err = w.row(it)
	return s, err
}

// row returns what readers saw before the work.
func (w *Work) row(it *WorkItem) (attr.Item, error) {
	w.Tx.ShowExpired()
	return w.Tx.Get(it.Spec.Name, it.Key)
}
