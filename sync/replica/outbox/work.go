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

// Work is what one transaction of the replicator does to items and batches. It reads each of them once, lets the caller change them,
// and Finish writes the changes and the resulting views. It implements intent.Queue.
//
//	w := r.box.Begin(tx)
//	it, err := w.Load(table, key)        // with base and pending batches
//	w.Base(it, known, at)                // the cloud has this; at: when the read or send that showed it began
//	entries, err := w.Entries(it)        // pending on the item, in order
//	w.MarkChanged(entry)                 // write its batch again
//	w.Drop(batch)                        // it leaves the outbox
//	err = w.Finish()                     // rows, remote images, batches; then the commit; then
//	r.publishHeads(w)                    // memory follows: workers, waiters
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
	marks   map[uint8][]uint64 // by worker: batches that may be on their way
	tally   Tally

	replayed   LogSums
	Held       []*Batch // quarantined in this work
	Renumbered []ID     // former ids of renumbered batches
	Many       bool     // more batches lead on an item than can be announced one by one

	err error // the first error in a place that can return none
	Bad []string
}

// WorkItem is one item being worked on.
type WorkItem struct {
	Item
	Remote  *Remote
	base    attr.Item // as it was when the work began
	loaded  bool      // its pending batches are in Work.batches
	Dirty   bool      // the remote image must be written
	Rebased bool      // the view must be computed
	freed   bool      // an unshared place has left its queue, or a batch was changed, perhaps held or released
	Heads   []ID      // batches that lead once the work is finished, as far as that is new
	Refetch bool      // read the item again from the cloud
	Unknown bool      // a row exists that the cloud never had
}

// Outbox is a node's outbox: what its functions need besides a transaction.
type Outbox struct {
	Workers int // number of workers, including the last one, which has only the batches that go ahead
	Heads   int // batches of an item announced as leading; with more, the workers read the outbox again
	Folds   int // entries folded into one at most
	Reads   *Reads
	Env     func(tx *store.Tx) intent.Env
	Spec    func(table string) *store.TableSpec
	// Hint is called with a batch written by a transaction that may still be undone.
	Hint func(id ID)
	// RunAfter returns the last sequence before this run.
	RunAfter func() uint64
	// Lost returns which batches were marked when the batches of a lost history were flagged; nil: no history is lost.
	Lost func() (marked func(seq uint64) bool)
	// Flags counts how often batches were flagged while workers hold them: batches read before must be read again.
	Flags atomic.Uint64
}

// Begin starts the work of a transaction.
func (b *Outbox) Begin(tx *store.Tx) *Work {
	w := &Work{
		box: b, Tx: tx, items: map[string]*WorkItem{}, batches: map[ID]*Batch{}, BySeq: map[uint64]*Batch{}, dirty: map[ID]bool{},
		tally: Tally{},
	}
	w.Env = b.Env(tx)
	return w
}

// Load returns an item and its remote state, or fault.NotFound if the table does not exist.
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

// Batch returns a batch of the outbox, or nil if it is not there or was dropped in this work.
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
	marked, err := w.isMarked(id)
	if err != nil {
		return nil, err
	}
	if marked {
		u.Suspect(w.box.Lost())
	}
	w.Know(u)
	return u, nil
}

// isMarked reports whether a batch may be on its way although its record does not say so yet.
func (w *Work) isMarked(id ID) (bool, error) {
	marks, have := w.marks[id.Worker]
	if !have {
		var err error
		if marks, err = ReadAttempted(w.Tx, id.Worker); err != nil {
			return false, err
		}
		if w.marks == nil {
			w.marks = map[uint8][]uint64{}
		}
		w.marks[id.Worker] = marks
	}
	return slices.Contains(marks, id.Seq), nil
}

// Know registers a batch that was loaded before and may have been changed since.
func (w *Work) Know(u *Batch) {
	w.batches[u.ID] = u
	for _, e := range u.Entries {
		w.BySeq[e.Seq] = u
	}
}

// Pending returns the batches that wait on an item, in order.
func (w *Work) Pending(it *WorkItem) ([]*Batch, error) {
	out := make([]*Batch, 0, len(it.Remote.Pending))
	for _, p := range it.Remote.Pending {
		u, err := w.Batch(p.ID)
		switch {
		case err != nil:
			return nil, err
		case u == nil:
			return nil, fault.New(fault.Damaged, "outbox", "entry %d is pending but not in the outbox", p.Seq)
		}
		out = append(out, u)
	}
	it.loaded = true
	return out, nil
}

// Entries returns the pending entries of an item, in order, without other batches' conditions on it.
func (w *Work) Entries(it *WorkItem) ([]*intent.Entry, error) {
	batches, err := w.Pending(it)
	if err != nil {
		return nil, err
	}
	var out []*intent.Entry
	for _, u := range batches {
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
		for worker := range w.box.Workers {
			id := ID{Worker: uint8(worker), Seq: txn}
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

// Fail keeps the first error where none can be returned. Finish returns it.
func (w *Work) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Base sets what the cloud has of an item. The caller updates the pending entries (intent.Follow, intent.Rebase).
func (w *Work) Base(it *WorkItem, known intent.Known, at time.Time) {
	w.box.Reads.Touch(it.ID())
	it.Remote.setBase(known, at)
	it.Dirty, it.Rebased = true, true
}

// MarkChanged marks an entry's batch to be written again and the views of its items to be computed.
func (w *Work) MarkChanged(e *intent.Entry) {
	if u := w.BySeq[e.Seq]; u != nil {
		w.dirty[u.ID] = true
		w.touch(u)
	}
}

// touch marks the views of a batch's items to be computed.
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

// Drop removes a batch from the outbox.
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

// DropAll removes the batches that a rejected one takes along.
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
			w.MarkChanged(changed)
		}
	}
	return nil
}

// Renumber gives a batch new sequences; next draws one for each of its entries, in order. The old sequences become folds of the new
// ones, so a caller waiting for an old sequence keeps waiting.
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
		e := was.WithNewNumber(seq, digits)
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

// Rewrite marks a batch to be written again.
func (w *Work) Rewrite(u *Batch) { w.dirty[u.ID] = true }

// followRenumbered updates the entries behind a pending create with its new sequence.
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
				w.MarkChanged(later)
			}
		}
	}
	return nil
}
