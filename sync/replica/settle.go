package replica

import (
	"container/heap"
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// settle stores what has become of the lane's answered batches, and marks those that are sent next if pick is set: in one
// transaction. If that fails for one of the batches, each is settled alone, so that the others do not wait for it.
func (l *worker) settle(ctx context.Context, pick bool, now time.Time) error {
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
func (l *worker) flush(ctx context.Context) {
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
func (l *worker) finished(f *flight) {
	if f.read != nil {
		f.read.End()
		f.read = nil
	}
	f.rest.End()
	f.rest = nil
	delete(l.inHand, f.ID.Seq)
}

// commit is one transaction of settle. Memory moves behind it.
func (l *worker) commit(ctx context.Context, done []*flight, pick bool, now time.Time) error {
	var w *outbox.Work
	var next picked
	l.r.cfg.Failpoint("settle")
	err := l.r.store.Update(ctx, func(tx *store.Tx) error {
		w = l.r.box.Begin(tx)
		if err := l.r.settleUnits(w, done, now); err != nil {
			return err
		}
		if pick {
			if err := l.pick(tx, &next, now); err != nil {
				return err
			}
		}
		return outbox.MarkAttempted(tx, l.no, l.marks(next.window, done))
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

// settleUnits stores what has become of batches.
func (r *Replica) settleUnits(w *outbox.Work, done []*flight, now time.Time) error {
	var records []*conflict.Record
	for _, f := range done {
		c, err := r.settleUnit(w, f, now)
		if err != nil {
			return err
		}
		records = append(records, c...)
	}
	return r.finish(w, records)
}

// finish ends the work of a transaction. Conflicts are recorded when all views are made: a merge handler writes on them.
func (r *Replica) finish(w *outbox.Work, records []*conflict.Record) error {
	if err := w.Finish(); err != nil {
		return err
	}
	for _, c := range records {
		if err := r.conflicts.Keep(w.Tx, c); err != nil {
			return err
		}
	}
	return nil
}

// marks are the batches of the lane that may be on their way when the transaction is over.
func (l *worker) marks(next []*flight, done []*flight) (seqs []uint64) {
	for _, f := range append(append(slices.Clone(l.window), next...), l.done...) {
		if !slices.Contains(done, f) {
			seqs = append(seqs, f.ID.Seq)
		}
	}
	for i := range l.stuck {
		seqs = append(seqs, l.stuck[i].ID.Seq)
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
func (l *worker) pick(tx *store.Tx, p *picked, now time.Time) error {
	for len(p.window) < l.width && len(l.ready) > 0 {
		seq := heap.Pop(&l.ready).(uint64) //nolint:forcetypeassert // it holds nothing else
		p.popped = append(p.popped, seq)
		u, err := outbox.Get(tx, outbox.ID{Lane: l.no, Seq: seq})
		if err != nil {
			return err
		}
		if u == nil || u.Held() {
			continue
		}
		head, err := l.r.box.IsHead(tx, u)
		if err != nil {
			return err
		}
		if !head {
			continue // who settles what is before it pushes it
		}
		if l.r.tables.GoesBack(u) {
			continue // who puts back the others has the outbox read anew
		}
		f := &flight{Batch: u, flagEpoch: l.r.box.Flags.Load()}
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
func (l *worker) moveOn(done []*flight, next picked, now time.Time) {
	for _, f := range done {
		l.finished(f)
		if o := f.outcome.Result; !o.Settled() && o != intent.OutQuarantine && o != intent.OutRenumber && !f.gone {
			l.setAside(f.ID.Seq, f.wait, now, f.Table(), f.why)
		}
		delete(l.missed, f.ID.Seq)
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
		l.inHand[f.ID.Seq] = struct{}{}
	}
	for _, f := range next.aside {
		l.setAside(f.ID.Seq, f.wait, now, f.Table(), f.why)
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

// settleUnit stores what has become of a batch. The records are kept when all views are made.
func (r *Replica) settleUnit(w *outbox.Work, f *flight, now time.Time) ([]*conflict.Record, error) {
	there, err := outbox.Get(w.Tx, f.ID)
	if err != nil {
		return nil, err
	}
	if there == nil { // a feed has seen its mark, or somebody has discarded it
		f.gone = true
		return nil, nil
	}
	f.Size, f.After = there.Size, there.After // put back meanwhile, it has no place behind others
	flagged := r.keepLost(f, there)
	w.Know(f.Batch)
	if b, yes := r.restoredSince(f, flagged); yes {
		r.reopen(w, f, &b, now)
		return nil, nil
	}
	switch o := f.outcome.Result; {
	case o.Settled():
		return r.leave(w, f)
	case o == intent.OutQuarantine:
		c, err := conflict.Quarantine(w, f.Batch, &f.outcome)
		return []*conflict.Record{c}, err
	case o == intent.OutRenumber:
		return nil, r.renumber(w, f)
	case f.changed, !f.idle && (o == intent.OutParked || o == intent.OutUnknown || o == intent.OutTimeline), f.outcome.Known != nil:
		if err := r.showBases(w, f, nil); err != nil {
			return nil, err
		}
		w.Rewrite(f.Batch)
	}
	return nil, nil
}

// unsettle has a flight be settled once more: its transaction was undone.
func (f *flight) unsettle() {
	f.gone = false
}

// showBases takes from an outcome what the cloud has. Where a base was set since the request left, nobody knows which is
// newer: the item is read again.
func (r *Replica) showBases(w *outbox.Work, f *flight, each func(i int, it *outbox.WorkItem)) error {
	for i, e := range f.Entries {
		it, err := w.Load(e.Table, e.Key)
		if err != nil {
			return err
		}
		if known := f.outcome.Known; i < len(known) && known[i] != nil {
			overtaken := f.read.Overtaken(it.ID())
			it.Refetch = it.Refetch || overtaken
			applied := f.outcome.Result == intent.OutApplied
			switch {
			case !applied && known[i].Item == nil && e.Policy != store.PolicyState && r.tables.LostItem(it):
				// A write that is refused because the item is not there deletes nothing of what the table has lost.
			case !overtaken && f.awaits(e) && known[i].Item == nil && it.Remote.Known.Item != nil:
				it.Remote.Lost, it.Dirty = true, true
			case !overtaken, applied && isLater(e, *known[i], it.Remote, w.Env.Exprs):
				w.Base(it, *known[i], f.began)
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

// leave takes a batch out of the outbox: it is applied, superseded or in conflict.
func (r *Replica) leave(w *outbox.Work, f *flight) ([]*conflict.Record, error) {
	o := &f.outcome
	var c *conflict.Record
	if o.Result != intent.OutApplied {
		var err error
		if c, err = conflict.NewRecord(w, f.Batch, o); err != nil {
			return nil, err
		}
	}
	if o.Result == intent.OutConflict {
		c.Tail = intent.Tail(&f.Batch.Batch, w)
	}
	if err := r.showBases(w, f, nil); err != nil {
		return nil, err
	}
	if err := w.Drop(f.Batch); err != nil {
		return nil, err
	}
	if c != nil {
		if err := w.DropAll(c.Tail); err != nil {
			return nil, err
		}
	}
	if err := f.rest.Adopt(w); err != nil {
		return nil, err
	}
	if err := w.Follow(f.Batch, o); err != nil {
		return nil, err
	}
	if o.Result == intent.OutApplied {
		return nil, w.Replay(f.Batch, r.acknowledged(f))
	}
	return []*conflict.Record{c}, nil
}

// settleShown settles a batch that an image has proved.
func (r *Replica) settleShown(w *outbox.Work, u *outbox.Batch) error {
	_, err := r.leave(w, &flight{Batch: u, outcome: intent.Outcome{Result: intent.OutApplied}})
	return err
}

// renumber gives a batch of a lost timeline new sequences (identity.NewSequence). The flight stays as it is: the transaction may be
// undone, and made once more.
func (r *Replica) renumber(w *outbox.Work, f *flight) error {
	moved, err := w.Renumber(f.Batch, func() (uint64, uint32, error) { return r.identity.NewSequence(w.Tx) })
	if err != nil {
		return err
	}
	return r.tables.Through(w.Tx, moved)
}

// isLater reports whether the image behind an applied entry is later than a base that was set while the answer was on its
// way: what is read may be older than a send that is answered, and its effect must not be lost to readers with the entry. It is
// told by the life and the count of our sends; the item is read again in any case.
func isLater(e *intent.Entry, after intent.Known, sh *outbox.Remote, exprs *expr.Cache) bool {
	before := sh.Known
	switch {
	case after.Item == nil: // it was deleted: unless it has another life by now
		return before.Item == nil || before.Side.Life == e.Life.ID || before.Side.Life == e.Label
	case before.Item == nil: // it was created, or deleted since
		return sh.Gone.Life == "" || sh.Gone.Life != after.Side.Life
	case before.Side.Life == after.Side.Life:
		return after.Side.Count > before.Side.Count
	}
	// Our first send to a foreign item has labelled it; and whoever reads an item that the entry has made has seen that already,
	// and has not seen the life of before.
	return before.Side.Life == "" || e.MakesOver(before.Item, exprs)
}
