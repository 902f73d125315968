package outbox

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Work is what one transaction of the driver does to items and batches: it reads each of them once, lets them be changed,
// and finish writes what has changed, with the views that follow. It implements intent.Queue.
//
//	w := r.box.begin(tx)
//	it, err := w.item(table, key)        // with base and pending batches
//	w.base(it, known, at)                // the cloud has this; at: when the read or send began that told it
//	entries := w.entries(it)             // pending on the item, in order
//	w.changed(entry)                     // it is to be written again
//	w.drop(batch)                         // it leaves the outbox
//	err = w.finish()                     // rows, shadows, batches; then the commit; then
//	r.moved(w)                           // memory follows: lanes, waiters
type Work struct {
	box     *Outbox
	Tx      *store.Tx
	Env     intent.Env
	items   map[string]*WorkItem
	Order   []*WorkItem
	batches map[ID]*Batch
	BySeq   map[uint64]*Batch
	dirty   map[ID]bool
	Gone    []*Batch
	marks   map[uint8][]uint64 // of lanes: what may be on its way
	tally   Tally

	replayed   LogSums
	Held       []*Batch // quarantined in this work
	Renumbered []ID     // where batches were that have another sequence now
	Many       bool     // more lead on an item than can be told each

	err error // the first of those that happened where none can be returned
	Bad []string
}

// WorkItem is one item in work.
type WorkItem struct {
	Item
	Remote  *Remote
	base    attr.Item // as it was when the work began
	loaded  bool      // its pending batches are in work.batches
	Dirty   bool      // the shadow has to be written
	Rebased bool      // the view has to be computed
	freed   bool      // a place that was not shared has gone from its queue, or somebody is held or not any more
	Heads   []ID      // who waits for nobody there that is held, when the work is finished, as far as that is news
	Refetch bool      // what the cloud has is to be read again
	Unknown bool      // there is a row, and the cloud has never had it
}

// Outbox is the outbox of a node: what the functions on it need beside a transaction.
type Outbox struct {
	Lanes int // one more than are for batches by their items: the last has what goes ahead
	Heads int // how many batches of an item are told that they lead: with more the lanes read the outbox anew
	Folds int // how many entries are folded into one
	Reads *Reads
	Env   func(tx *store.Tx) intent.Env
	Spec  func(table string) *store.TableSpec
	// Hint is called with a batch that a transaction has written, which may still be undone.
	Hint func(id ID)
	// RunAfter returns the last sequence from before this run.
	RunAfter func() uint64
	// Lost returns which batches had been marked when those of a lost history got their flag; nil: no history is lost.
	Lost func() (marked func(seq uint64) bool)
	// Flags counts the times that batches are flagged beside the lanes: those that were read before have to be read again.
	Flags atomic.Uint64
}

// Begin begins the work of a transaction.
func (b *Outbox) Begin(tx *store.Tx) *Work {
	w := &Work{
		box: b, Tx: tx, items: map[string]*WorkItem{}, batches: map[ID]*Batch{}, BySeq: map[uint64]*Batch{}, dirty: map[ID]bool{},
		tally: Tally{},
	}
	w.Env = b.Env(tx)
	return w
}

// Load returns an item with what is known of it. fault.NotFound: there is no such table.
func (w *Work) Load(table string, key attr.Item) (*WorkItem, error) {
	spec := w.Env.Spec(table)
	if spec == nil {
		return nil, fault.New(fault.NotFound, "no_table", "there is no table %s", table)
	}
	it, err := ItemOf(w.Tx, spec, key)
	if err != nil {
		return nil, err
	}
	if have := w.items[it.ID()]; have != nil {
		return have, nil
	}
	sh, err := RemoteOf(w.Tx, it)
	if err != nil {
		return nil, err
	}
	if sh == nil {
		sh = &Remote{}
	}
	wi := &WorkItem{Item: *it, Remote: sh, base: sh.Known.Item}
	w.items[it.ID()] = wi
	w.Order = append(w.Order, wi)
	return wi, nil
}

// Batch returns a batch of the outbox; nil: it is not there, or was dropped here.
func (w *Work) Batch(id ID) (*Batch, error) {
	if u := w.batches[id]; u != nil {
		if slices.Contains(w.Gone, u) {
			return nil, nil
		}
		return u, nil
	}
	u, err := Get(w.Tx, id)
	if err != nil || u == nil {
		return nil, err
	}
	marked, err := w.marked(id)
	if err != nil {
		return nil, err
	}
	if marked {
		u.Suspect(w.box.Lost())
	}
	w.Know(u)
	return u, nil
}

// marked reports whether a batch may be on its way while the outbox does not say so yet.
func (w *Work) marked(id ID) (bool, error) {
	marks, have := w.marks[id.Lane]
	if !have {
		var err error
		if marks, err = ReadAttempted(w.Tx, id.Lane); err != nil {
			return false, err
		}
		if w.marks == nil {
			w.marks = map[uint8][]uint64{}
		}
		w.marks[id.Lane] = marks
	}
	return slices.Contains(marks, id.Seq), nil
}

// Know has the work use a batch that was loaded before, and may have been changed since.
func (w *Work) Know(u *Batch) {
	w.batches[u.ID] = u
	for _, e := range u.Entries {
		w.BySeq[e.Seq] = u
	}
}

// Pending returns the batches that wait on an item, in their order.
func (w *Work) Pending(it *WorkItem) ([]*Batch, error) {
	out := make([]*Batch, 0, len(it.Remote.Pending))
	for _, p := range it.Remote.Pending {
		u, err := w.Batch(p.ID)
		switch {
		case err != nil:
			return nil, err
		case u == nil:
			return nil, fault.New(fault.Damaged, "outbox", "entry %d is pending and not in the outbox", p.Seq)
		}
		out = append(out, u)
	}
	it.loaded = true
	return out, nil
}

// Entries returns the pending entries of an item, in their order, without the conditions that others put on it.
func (w *Work) Entries(it *WorkItem) ([]*intent.Entry, error) {
	units, err := w.Pending(it)
	if err != nil {
		return nil, err
	}
	var out []*intent.Entry
	for _, u := range units {
		for _, e := range u.Entries {
			if e.Table == it.Spec.Name && attr.EqualItems(e.Key, it.Key) {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// Item implements intent.Queue.
func (w *Work) Item(table string, key attr.Item) []*intent.Entry {
	it, err := w.Load(table, key)
	if err != nil {
		w.Fail(err)
		return nil
	}
	entries, err := w.Entries(it)
	w.Fail(err)
	return entries
}

// Transaction implements intent.Queue.
func (w *Work) Transaction(txn uint64) []*intent.Entry {
	u := w.BySeq[txn]
	if u == nil {
		for lane := range w.box.Lanes {
			id := ID{Lane: uint8(lane), Seq: txn}
			found, err := w.Batch(id)
			if w.Fail(err); found != nil {
				u = found
				break
			}
		}
	}
	if u == nil {
		return nil
	}
	return u.Entries
}

// Fail keeps the first error of places that can return none: Finish returns it.
func (w *Work) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Base sets what the cloud has of an item. The pending entries are told by the caller (intent.Follow, intent.Rebase).
func (w *Work) Base(it *WorkItem, known intent.Known, at time.Time) {
	w.box.Reads.Touch(it.ID())
	it.Remote.setBase(known, at)
	it.Dirty, it.Rebased = true, true
}

// Changed has the batch of an entry written again, and the views of its items computed.
func (w *Work) Changed(e *intent.Entry) {
	if u := w.BySeq[e.Seq]; u != nil {
		w.dirty[u.ID] = true
		w.touch(u)
	}
}

// touch has the views of a batch's items computed.
func (w *Work) touch(u *Batch) {
	for _, e := range u.Entries {
		it, err := w.Load(e.Table, e.Key)
		if w.Fail(err); err == nil {
			it.Rebased, it.Dirty, it.freed = true, true, true
		}
	}
}

// Put adds a batch to the outbox, behind what waits on its items.
func (w *Work) Put(u *Batch) error {
	w.Know(u)
	w.dirty[u.ID] = true
	return w.eachPlace(u, func(it *WorkItem, shared bool) {
		it.Remote.Pending, it.Dirty = append(it.Remote.Pending, Place{u.ID, shared}), true
	})
}

// Drop takes a batch out of the outbox.
func (w *Work) Drop(u *Batch) error {
	w.Gone = append(w.Gone, u)
	delete(w.dirty, u.ID)
	return w.eachPlace(u, func(it *WorkItem, _ bool) {
		if i := it.Remote.Index(u.ID); i >= 0 {
			it.freed = it.freed || !it.Remote.Pending[i].Shared
			it.Remote.Pending = slices.Delete(it.Remote.Pending, i, i+1)
		}
		it.Dirty, it.Rebased = true, true
	})
}

// DropAll takes out the batches of what a rejected one takes along.
func (w *Work) DropAll(entries []*intent.Entry) error {
	for _, e := range entries {
		if u := w.BySeq[e.Seq]; u != nil && !slices.Contains(w.Gone, u) {
			if err := w.Drop(u); err != nil {
				return err
			}
		}
	}
	return nil
}

// Follow applies the outcome of a batch to the entries behind it.
func (w *Work) Follow(u *Batch, o *intent.Outcome) error {
	for _, e := range u.Entries {
		it, err := w.Load(e.Table, e.Key)
		if err != nil {
			return err
		}
		if len(it.Remote.Pending) == 0 {
			continue
		}
		later, err := w.Entries(it)
		if err != nil {
			return err
		}
		for _, changed := range intent.Follow(e, *o, it.Remote.Known, later, w.Env) {
			w.Changed(changed)
		}
	}
	return nil
}

// Renumber gives a batch other sequences, which next draws for each of its entries in their order. Under the old ones it is found as
// what was folded into it: who waits for one of them is not told that it is done.
//
//	7 (folds 5, 6), renumbered to 40: entry 40 with the folds 5, 6, 7; what stood behind the pending create 7 stands behind 40
func (w *Work) Renumber(old *Batch, next func() (seq uint64, digits uint32, err error)) (moved *Batch, err error) {
	if err := Drop(w.Tx, old, w.tally); err != nil {
		return nil, err
	}
	delete(w.batches, old.ID)
	moved = &Batch{ID: old.ID, After: old.After}
	for i, was := range old.Entries {
		seq, digits, err := next()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			moved.ID.Seq = seq
		}
		e := was.Renumbered(seq, digits)
		if e.Txn != 0 {
			e.Txn = moved.ID.Seq
		}
		moved.Entries = append(moved.Entries, e)
	}
	if err := NoteFolds(w.Tx, moved); err != nil {
		return nil, err
	}
	w.Know(moved)
	w.Rewrite(moved)
	w.box.Hint(moved.ID)
	w.Renumbered = append(w.Renumbered, old.ID)
	err = w.EachItem(moved, func(it *WorkItem) {
		if i := it.Remote.Index(old.ID); i >= 0 {
			it.Remote.Pending[i].ID = moved.ID
		}
		it.Dirty = true
	})
	if err != nil {
		return nil, err
	}
	return moved, w.followRenumbered(old, moved)
}

// Rewrite has a batch of the outbox written again.
func (w *Work) Rewrite(u *Batch) { w.dirty[u.ID] = true }

// followRenumbered tells the entries behind a pending create which sequence it has now.
func (w *Work) followRenumbered(old, now *Batch) error {
	for i, e := range now.Entries {
		it, err := w.Load(e.Table, e.Key)
		if err != nil {
			return err
		}
		entries, err := w.Entries(it)
		if err != nil {
			return err
		}
		for _, later := range entries {
			if later.Behind == old.Entries[i].Seq {
				later.Behind = e.Seq
				w.Changed(later)
			}
		}
	}
	return nil
}
