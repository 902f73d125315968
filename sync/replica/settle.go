package replica

import (
	"container/heap"
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
)

// settle stores what has become of the lane's answered units, and marks those that are sent next if pick is set: in one
// transaction. If that fails for one of the units, each is settled alone, so that the others do not wait for it.
func (l *lane) settle(ctx context.Context, pick bool, now time.Time) error {
	done := slices.Clone(l.done) // which loses what is settled
	err := l.commit(ctx, done, pick, now)
	if err == nil || len(done) == 0 || l.r.store.Err() != nil || ctx.Err() != nil {
		return err
	}
	for _, f := range done {
		err := l.commit(ctx, []*flight{f}, false, now)
		switch {
		case err == nil:
		case fault.Is(err, fault.Full): // for the others too: they wait, with what they were answered, until there is room
			return err
		default:
			l.setStuck(f, err, now)
		}
	}
	return nil
}

// flush settles what was answered when the lane ends.
func (l *lane) flush(ctx context.Context) {
	if len(l.done) > 0 {
		if err := l.settle(ctx, false, l.r.clock.Now()); err != nil {
			l.r.log.Warn("answers could not be settled and will be looked up again", "lane", l.no, "error", err)
		}
	}
	for _, f := range append(l.done, l.window...) {
		l.finished(f)
	}
	for i := range l.stuck {
		l.finished(l.stuck[i].flight)
	}
	l.done, l.window, l.stuck = nil, nil, nil
}

// finished forgets a flight.
func (l *lane) finished(f *flight) {
	if f.read != nil {
		f.read.end()
		f.read = nil
	}
	delete(l.inHand, f.id.seq)
}

// commit is one transaction of settle. Memory moves behind it.
func (l *lane) commit(ctx context.Context, done []*flight, pick bool, now time.Time) error {
	var w *work
	var next picked
	l.r.cfg.Failpoint("settle")
	err := l.r.store.Update(ctx, func(tx *store.Tx) error {
		w = l.r.newWork(tx)
		if err := l.r.settleUnits(w, done, now); err != nil {
			return err
		}
		if pick {
			if err := l.pick(tx, &next, now); err != nil {
				return err
			}
		}
		return markAttempted(tx, l.no, l.marks(next.window, done))
	})
	if err != nil {
		for _, seq := range next.popped {
			heap.Push(&l.ready, seq)
		}
		for _, f := range done {
			f.unsettle()
		}
		return err
	}
	l.r.cfg.Failpoint("settled")
	l.moveOn(done, next, now)
	l.r.moved(w)
	return nil
}

// settleUnits stores what has become of units. Conflicts are recorded when all views are made: a merge handler writes on
// them.
func (r *Replica) settleUnits(w *work, done []*flight, now time.Time) error {
	var records []*Conflict
	for _, f := range done {
		c, err := r.settleUnit(w, f, now)
		if err != nil {
			return err
		}
		records = append(records, c...)
	}
	if err := w.finish(); err != nil {
		return err
	}
	for _, c := range records {
		if err := r.recordConflict(w.tx, c); err != nil {
			return err
		}
	}
	return nil
}

// marks are the units of the lane that may be on their way when the transaction is over.
func (l *lane) marks(next []*flight, done []*flight) (seqs []uint64) {
	for _, f := range append(append(slices.Clone(l.window), next...), l.done...) {
		if !slices.Contains(done, f) {
			seqs = append(seqs, f.id.seq)
		}
	}
	for i := range l.stuck {
		seqs = append(seqs, l.stuck[i].id.seq)
	}
	return seqs
}

// picked is what a transaction has chosen to be sent next.
type picked struct {
	popped []uint64 // out of ready
	window []*flight
	aside  []*flight // it is not time for them
}

// pick chooses the next window.
func (l *lane) pick(tx *store.Tx, p *picked, now time.Time) error {
	for len(p.window) < l.width && len(l.ready) > 0 {
		seq := heap.Pop(&l.ready).(uint64) //nolint:forcetypeassert // it holds nothing else
		p.popped = append(p.popped, seq)
		u, err := getUnit(tx, unitID{lane: l.no, seq: seq})
		if err != nil {
			return err
		}
		if u == nil || u.held() {
			continue
		}
		head, err := l.r.isHead(tx, u)
		if err != nil {
			return err
		}
		if !head {
			continue // who settles what is before it pushes it
		}
		if l.r.goesBack(u) {
			continue // who puts back the others has the outbox read anew
		}
		f := &flight{unit: u, flagEpoch: l.r.identity.flagEpoch.Load()}
		f.wait, f.why = l.waitOf(u, now)
		if f.wait.After(now) {
			p.aside = append(p.aside, f)
			continue
		}
		p.window = append(p.window, f)
	}
	return nil
}

// moveOn moves the lane's memory behind a commit.
func (l *lane) moveOn(done []*flight, next picked, now time.Time) {
	for _, f := range done {
		l.finished(f)
		if o := f.outcome.Result; !o.Settled() && o != intent.OutQuarantine && o != intent.OutRenumber && !f.gone {
			l.setAside(f.id.seq, f.wait, now, f.table(), f.why)
		}
		delete(l.missed, f.id.seq)
	}
	l.done = slices.DeleteFunc(l.done, func(f *flight) bool { return slices.Contains(done, f) })
	if len(l.done) == 0 {
		l.urgent.Store(false)
	}
	for _, seq := range next.popped {
		delete(l.missed, seq)
		delete(l.inHand, seq)
	}
	for _, f := range next.window {
		l.inHand[f.id.seq] = struct{}{}
	}
	for _, f := range next.aside {
		l.setAside(f.id.seq, f.wait, now, f.table(), f.why)
	}
	if len(next.popped) > 0 {
		l.window = append(l.window, next.window...)
		if len(next.window) >= l.width {
			l.width = min(2*l.width, l.r.limits.Window)
		} else {
			l.width = min(max(4, len(next.window)), l.r.limits.Window)
		}
	}
}

// settleUnit stores what has become of a unit. The records are kept when all views are made.
func (r *Replica) settleUnit(w *work, f *flight, now time.Time) ([]*Conflict, error) {
	there, err := getUnit(w.tx, f.id)
	if err != nil {
		return nil, err
	}
	if there == nil { // a feed has seen its mark, or somebody has discarded it
		f.gone = true
		return nil, nil
	}
	f.size, f.after = there.size, there.after // put back meanwhile, it has no place behind others
	flagged := r.keepLost(f, there)
	w.know(f.unit)
	if b, yes := r.restoredSince(f, flagged); yes {
		r.reopen(w, f, &b, now)
		return nil, nil
	}
	switch o := f.outcome.Result; {
	case o.Settled():
		return r.leave(w, f)
	case o == intent.OutQuarantine:
		return r.quarantine(w, f)
	case o == intent.OutRenumber:
		return nil, r.renumber(w, f)
	case f.changed, !f.idle && (o == intent.OutParked || o == intent.OutUnknown || o == intent.OutTimeline), f.outcome.Known != nil:
		if err := r.showBases(w, f, nil); err != nil {
			return nil, err
		}
		w.dirty[f.id] = true
	}
	return nil, nil
}

// unsettle has a flight be settled once more: its transaction was undone.
func (f *flight) unsettle() {
	f.gone = false
}

// showBases takes from an outcome what the cloud has. Where a base was set since the request left, nobody knows which is
// newer: the item is read again.
func (r *Replica) showBases(w *work, f *flight, each func(i int, it *workItem)) error {
	for i, e := range f.Entries {
		it, err := w.item(e.Table, e.Key)
		if err != nil {
			return err
		}
		if known := f.outcome.Known; i < len(known) && known[i] != nil {
			overtaken := f.read.overtaken(it.id())
			it.refetch = it.refetch || overtaken
			applied := f.outcome.Result == intent.OutApplied
			switch {
			case !applied && known[i].Item == nil && e.Policy != store.PolicyState && r.lostItem(it):
				// A write that is refused because the item is not there deletes nothing of what the table has lost.
			case !overtaken && f.awaits(e) && known[i].Item == nil && it.sh.known.Item != nil:
				it.sh.lost, it.dirty = true, true
			case !overtaken, applied && isLater(e, *known[i], it.sh, w.env.Exprs):
				w.base(it, *known[i], f.began)
			}
		}
		if each != nil {
			each(i, it)
		}
	}
	return nil
}

// awaits reports whether an answer has parked an entry until all nodes have replayed.
func (f *flight) awaits(e *intent.Entry) bool {
	return f.outcome.Result == intent.OutParked && e.Why == intent.WhyReplay
}

// leave takes a unit out of the outbox: it is applied, superseded or in conflict.
func (r *Replica) leave(w *work, f *flight) ([]*Conflict, error) {
	o := &f.outcome
	var c *Conflict
	if o.Result != intent.OutApplied {
		var err error
		if c, err = r.record(w, f); err != nil {
			return nil, err
		}
	}
	if o.Result == intent.OutConflict {
		c.Tail = intent.Tail(&f.Unit, w)
	}
	if err := r.showBases(w, f, nil); err != nil {
		return nil, err
	}
	if err := w.drop(f.unit); err != nil {
		return nil, err
	}
	if c != nil {
		if err := w.dropAll(c.Tail); err != nil {
			return nil, err
		}
	}
	if err := w.follow(f); err != nil {
		return nil, err
	}
	if o.Result == intent.OutApplied {
		return nil, w.replay(f.unit, r.acknowledged(f))
	}
	return []*Conflict{c}, w.err
}

// dropAll takes out the units of what a rejected one takes along.
func (w *work) dropAll(entries []*intent.Entry) error {
	for _, e := range entries {
		if u := w.bySeq[e.Seq]; u != nil && !slices.Contains(w.gone, u) {
			if err := w.drop(u); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow applies the outcome of a unit to the entries behind it.
func (w *work) follow(f *flight) error {
	for _, e := range f.Entries {
		it, err := w.item(e.Table, e.Key)
		if err != nil {
			return err
		}
		if len(it.sh.pending) == 0 {
			continue
		}
		later, err := w.entries(it)
		if err != nil {
			return err
		}
		for _, changed := range intent.Follow(e, f.outcome, it.sh.known, later, w.env) {
			w.changed(changed)
		}
	}
	return nil
}

// renumber gives a unit of a lost timeline new sequences, see newSequence. Under the old ones it is found as what was
// folded into it: who waits for one of them is not told that it is done. The flight stays as it is: the transaction may be
// undone, and made once more.
func (r *Replica) renumber(w *work, f *flight) error {
	old := f.unit
	if err := dropUnit(w.tx, old, w.tally); err != nil {
		return err
	}
	delete(w.units, f.id)
	moved := &unit{id: f.id, after: old.after}
	for i, was := range old.Entries {
		seq, digits, err := r.newSequence(w.tx)
		if err != nil {
			return err
		}
		if i == 0 {
			moved.id.seq = seq
		}
		e := *was
		e.Seq, e.Digits, e.Begun, e.Lost = seq, digits, 0, false
		if e.Txn != 0 {
			e.Txn = moved.id.seq
		}
		e.Folds = append(slices.Clone(was.Folds), was.Seq)
		moved.Entries = append(moved.Entries, &e)
	}
	if err := foldInto(w.tx, moved); err != nil {
		return err
	}
	if err := r.replaysThrough(w.tx, moved); err != nil {
		return err
	}
	w.know(moved)
	w.dirty[moved.id] = true
	r.hint(moved.id)
	w.renumbered = append(w.renumbered, f.id)
	err := w.eachItem(moved, func(it *workItem) {
		if i := it.sh.index(f.id); i >= 0 {
			it.sh.pending[i].unitID = moved.id
		}
		it.dirty = true
	})
	if err != nil {
		return err
	}
	return w.followRenumbered(old, moved)
}
