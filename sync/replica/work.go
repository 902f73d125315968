package replica

import (
	"cmp"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// work is what one transaction of the driver does to items and units: it reads each of them once, lets them be changed,
// and finish writes what has changed, with the views that follow. It implements intent.Queue.
//
//	w := r.newWork(tx)
//	it, err := w.item(table, key)        // with base and pending units
//	w.base(it, known, at)                // the cloud has this; at: when the read or send began that told it
//	entries := w.entries(it)             // pending on the item, in order
//	w.changed(entry)                     // it is to be written again
//	w.drop(unit)                         // it leaves the outbox
//	err = w.finish()                     // rows, shadows, units; then the commit; then
//	r.moved(w)                           // memory follows: lanes, waiters
type work struct {
	r     *Replica
	tx    *store.Tx
	env   intent.Env
	items map[string]*workItem
	order []*workItem
	units map[unitID]*unit
	bySeq map[uint64]*unit
	dirty map[unitID]bool
	gone  []*unit
	marks map[uint8][]uint64 // of lanes: what may be on its way
	tally tally

	replayed   replaySums
	held       []*unit  // quarantined in this work
	renumbered []unitID // where units were that have another sequence now
	many       bool     // more lead on an item than can be told each

	err error // the first of those that happened where none can be returned
	bad []string
}

// workItem is one item in work.
type workItem struct {
	item
	sh      *shadow
	loaded  bool     // its pending units are in work.units
	dirty   bool     // the shadow has to be written
	rebased bool     // the view has to be computed
	freed   bool     // a place that was not shared has gone from its queue, or somebody is held or not any more
	heads   []unitID // who waits for nobody there that is held, when the work is finished, as far as that is news
	refetch bool     // what the cloud has is to be read again
	unknown bool     // there is a row, and the cloud has never had it
}

func (r *Replica) newWork(tx *store.Tx) *work {
	w := &work{
		r: r, tx: tx, items: map[string]*workItem{}, units: map[unitID]*unit{}, bySeq: map[uint64]*unit{}, dirty: map[unitID]bool{},
		tally: tally{},
	}
	w.env = r.env(tx)
	return w
}

// item returns an item with what is known of it. fault.NotFound: there is no such table.
func (w *work) item(table string, key attr.Item) (*workItem, error) {
	spec := w.env.Spec(table)
	if spec == nil {
		return nil, fault.New(fault.NotFound, "no_table", "there is no table %s", table)
	}
	it, err := itemOf(w.tx, spec, key)
	if err != nil {
		return nil, err
	}
	if have := w.items[it.id()]; have != nil {
		return have, nil
	}
	sh, err := w.r.shadowOf(w.tx, it)
	if err != nil {
		return nil, err
	}
	if sh == nil {
		sh = &shadow{}
	}
	wi := &workItem{item: *it, sh: sh}
	w.items[it.id()] = wi
	w.order = append(w.order, wi)
	return wi, nil
}

// unit returns a unit of the outbox; nil: it is not there, or was dropped here.
func (w *work) unit(id unitID) (*unit, error) {
	if u := w.units[id]; u != nil {
		if slices.Contains(w.gone, u) {
			return nil, nil
		}
		return u, nil
	}
	u, err := getUnit(w.tx, id)
	if err != nil || u == nil {
		return nil, err
	}
	marked, err := w.marked(id)
	if err != nil {
		return nil, err
	}
	if marked {
		u.suspect(w.r.stateNow().Lost)
	}
	w.know(u)
	return u, nil
}

// marked reports whether a unit may be on its way while the outbox does not say so yet.
func (w *work) marked(id unitID) (bool, error) {
	marks, have := w.marks[id.lane]
	if !have {
		var err error
		if marks, err = readAttempted(w.tx, id.lane); err != nil {
			return false, err
		}
		if w.marks == nil {
			w.marks = map[uint8][]uint64{}
		}
		w.marks[id.lane] = marks
	}
	return slices.Contains(marks, id.seq), nil
}

// suspect marks the entries as those of a marked unit after a restart: sent, without an answer. What has been
// flagged as of a lost history is not sent before it is stored without the flag: of that, what was marked by then.
func (u *unit) suspect(lost *lostQueue) {
	for _, e := range u.Entries {
		if e.Lost && lost != nil && !slices.Contains(lost.Marked, u.id.seq) {
			continue
		}
		e.Sent, e.Unsure = max(e.Sent, 1), true
	}
}

// know has the work use a unit that was loaded before, and may have been changed since.
func (w *work) know(u *unit) {
	w.units[u.id] = u
	for _, e := range u.Entries {
		w.bySeq[e.Seq] = u
	}
}

// pending returns the units that wait on an item, in their order.
func (w *work) pending(it *workItem) ([]*unit, error) {
	out := make([]*unit, 0, len(it.sh.pending))
	for _, p := range it.sh.pending {
		u, err := w.unit(p.unitID)
		switch {
		case err != nil:
			return nil, err
		case u == nil:
			return nil, fault.New(fault.Damaged, "outbox", "entry %d is pending and not in the outbox", p.seq)
		}
		out = append(out, u)
	}
	it.loaded = true
	return out, nil
}

// entries returns the pending entries of an item, in their order, without the conditions that others put on it.
func (w *work) entries(it *workItem) ([]*intent.Entry, error) {
	units, err := w.pending(it)
	if err != nil {
		return nil, err
	}
	var out []*intent.Entry
	for _, u := range units {
		for _, e := range u.Entries {
			if e.Table == it.spec.Name && attr.EqualItems(e.Key, it.key) {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// Item implements intent.Queue.
func (w *work) Item(table string, key attr.Item) []*intent.Entry {
	it, err := w.item(table, key)
	if err != nil {
		w.fail(err)
		return nil
	}
	entries, err := w.entries(it)
	w.fail(err)
	return entries
}

// Transaction implements intent.Queue.
func (w *work) Transaction(txn uint64) []*intent.Entry {
	u := w.bySeq[txn]
	if u == nil {
		for lane := range w.r.lanes {
			id := unitID{lane: uint8(lane), seq: txn}
			found, err := w.unit(id)
			if w.fail(err); found != nil {
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

func (w *work) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// base sets what the cloud has of an item. The pending entries are told by the caller (intent.Follow, intent.Rebase).
func (w *work) base(it *workItem, known intent.Known, at time.Time) {
	w.r.setBase(&it.item, it.sh, known, at)
	it.dirty, it.rebased = true, true
}

// changed has the unit of an entry written again, and the views of its items computed.
func (w *work) changed(e *intent.Entry) {
	if u := w.bySeq[e.Seq]; u != nil {
		w.dirty[u.id] = true
		w.touch(u)
	}
}

// touch has the views of a unit's items computed.
func (w *work) touch(u *unit) {
	for _, e := range u.Entries {
		it, err := w.item(e.Table, e.Key)
		if w.fail(err); err == nil {
			it.rebased, it.dirty, it.freed = true, true, true
		}
	}
}

// put adds a unit to the outbox, behind what waits on its items.
func (w *work) put(u *unit) error {
	w.know(u)
	w.dirty[u.id] = true
	return w.eachPlace(u, func(it *workItem, shared bool) {
		it.sh.pending, it.dirty = append(it.sh.pending, place{u.id, shared}), true
	})
}

// drop takes a unit out of the outbox.
func (w *work) drop(u *unit) error {
	w.gone = append(w.gone, u)
	delete(w.dirty, u.id)
	return w.eachPlace(u, func(it *workItem, _ bool) {
		if i := it.sh.index(u.id); i >= 0 {
			it.freed = it.freed || !it.sh.pending[i].shared
			it.sh.pending = slices.Delete(it.sh.pending, i, i+1)
		}
		it.dirty, it.rebased = true, true
	})
}

// finish writes what has changed. An item that the store cannot take is left as it is, and told.
func (w *work) finish() error {
	if w.err != nil {
		return w.err
	}
	for _, u := range w.held { // what stands behind it does not wait for it
		if err := w.eachItem(u, func(it *workItem) { it.dirty, it.freed = true, true }); err != nil {
			return err
		}
	}
	for _, u := range w.gone {
		if err := dropUnit(w.tx, u, w.tally); err != nil {
			return err
		}
	}
	for _, id := range w.dirtyUnits() {
		if err := putUnit(w.tx, w.units[id], w.tally); err != nil {
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
	return w.tally.keep(w.tx)
}

// keepItems writes rows and shadows.
func (w *work) keepItems() error {
	for _, it := range w.order {
		if it.rebased {
			if err := w.show(it); err != nil {
				return err
			}
		}
		if it.dirty {
			if err := w.r.keepShadow(w.tx, &it.item, it.sh); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *work) dirtyUnits() []unitID {
	out := make([]unitID, 0, len(w.dirty))
	for id := range w.dirty {
		out = append(out, id)
	}
	slices.SortFunc(out, func(a, b unitID) int { return cmp.Compare(a.seq, b.seq) })
	return out
}

// show makes the row what readers are to see: the pending entries applied to the base.
func (w *work) show(it *workItem) error {
	view := it.sh.known.Item
	doubtful := 0
	if len(it.sh.pending) > 0 {
		entries, err := w.entries(it)
		if err != nil {
			return err
		}
		var seqs []uint64
		view, seqs = intent.View(it.sh.known, entries, w.env)
		doubtful = len(seqs)
	}
	if doubtful != it.sh.doubtful {
		if err := addDoubtful(w.tx, doubtful-it.sh.doubtful); err != nil {
			return err
		}
		it.sh.doubtful, it.dirty = doubtful, true
	}
	_, err := w.tx.Adopt(it.spec.Name, it.key, view)
	if err != nil && fault.Is(err, fault.Invalid) {
		w.bad = append(w.bad, it.spec.Name+": "+err.Error())
		return nil
	}
	return err
}
