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

// settleAnswered stores the outcomes of the worker's answered batches and, if pick is set, marks those to be sent next, in one transaction. If
// that fails for one batch, each is settled separately, so that the others do not wait for it.
func (l *worker) settleAnswered(ctx context.Context, pick bool, now time.Time) error {
	done := slices.Clone(l.done) // because commit removes what is settled from it
	err := l.commit(ctx, done, pick, now)
	if err == nil || len(done) == 0 || l.r.store.Err() != nil || ctx.Err() != nil {
		return err
	}
	for _, f := range done {
		err := l.commit(ctx, []*flight{f}, false, now)
		switch {
		case err == nil:
		case fault.Is(err, fault.Full): // affects the others too: they wait with their answers until there is room
			return err
		default:
			l.setStuck(f, err, now)
		}
	}
	return nil
}

// flush settles the remaining answers when the worker ends.
func (l *worker) flush(ctx context.Context) {
	if len(l.done) > 0 {
		if err := l.settleAnswered(ctx, false, l.r.clock.Now()); err != nil {
			l.r.log.Warn("answers could not be settled and will be looked up again", "worker", l.no, "error", err)
		}
	}
	for _, f := range append(l.done, l.inFlight...) {
		l.forgetFlight(f)
	}
	for i := range l.stuck {
		l.forgetFlight(l.stuck[i].flight)
	}
	l.done, l.inFlight, l.stuck = nil, nil, nil
}

// forgetFlight forgets a flight.
func (l *worker) forgetFlight(f *flight) {
	if f.read != nil {
		f.read.End()
		f.read = nil
	}
	f.rest.End()
	f.rest = nil
	delete(l.inHand, f.ID.Seq)
}

// commit is one transaction of settle. Memory changes after it.
func (l *worker) commit(ctx context.Context, done []*flight, pick bool, now time.Time) error {
	var w *outbox.Work
	var next picked
	l.r.cfg.Failpoint("settle")
	err := l.r.store.Update(ctx, func(tx *store.Tx) error {
		w = l.r.box.Begin(tx)
		if err := l.r.settleBatches(w, done, now); err != nil {
			return err
		}
		if pick {
			if err := l.pickWindow(tx, &next, now); err != nil {
				return err
			}
		}
		return outbox.MarkAttempted(tx, l.no, l.marks(next.inFlight, done))
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
	l.r.publishHeads(w)
	return nil
}

// settleBatches stores the outcomes of batches.
func (r *Replica) settleBatches(w *outbox.Work, done []*flight, now time.Time) error {
	var records []*conflict.Record
	for _, f := range done {
		c, err := r.settleBatch(w, f, now)
		if err != nil {
			return err
		}
		records = append(records, c...)
	}
	return r.finish(w, records)
}

// finish ends the work of a transaction. Conflicts are recorded once all views are computed, because merge handlers write on them.
func (r *Replica) finish(w *outbox.Work, records []*conflict.Record) error {
	if err := w.Finish(); err != nil {
		return err
	}
	for _, c := range records {
		if err := r.conflicts.StoreDecision(w.Tx, c); err != nil {
			return err
		}
	}
	return nil
}

// marks returns the worker's batches that may be on their way once the transaction is committed.
func (l *worker) marks(next []*flight, done []*flight) (seqs []uint64) {
	for _, f := range append(append(slices.Clone(l.inFlight), next...), l.done...) {
		if !slices.Contains(done, f) {
			seqs = append(seqs, f.ID.Seq)
		}
	}
	for i := range l.stuck {
		seqs = append(seqs, l.stuck[i].ID.Seq)
	}
	return seqs
}

// picked is what a transaction has chosen to send next.
type picked struct {
	popped   []uint64 // removed from ready
	inFlight []*flight
	aside    []*flight // not due yet
}

// pickWindow chooses the next in-flight window.
func (l *worker) pickWindow(tx *store.Tx, p *picked, now time.Time) error {
	most := min(l.width, l.r.net.WindowLimit())
	for len(p.inFlight) < most && len(l.ready) > 0 {
		seq := heap.Pop(&l.ready).(uint64) //nolint:forcetypeassert // it holds nothing else
		p.popped = append(p.popped, seq)
		u, err := outbox.Get(tx, outbox.ID{Worker: l.no, Seq: seq})
		if err != nil {
			return err
		}
		if u == nil || u.IsHeld() {
			continue
		}
		head, err := l.r.box.IsHead(tx, u)
		if err != nil {
			return err
		}
		if !head {
			continue // it is pushed when the batch before it settles
		}
		if l.r.tables.GoesBack(u) {
			continue // the outbox is read again once the others are put back
		}
		f := &flight{Batch: u, flagEpoch: l.r.box.Flags.Load()}
		f.wait, f.why = l.waitOf(u, now)
		if f.wait.After(now) {
			p.aside = append(p.aside, f)
			continue
		}
		p.inFlight = append(p.inFlight, f)
	}
	return nil
}

// moveOn updates the worker's memory after a commit.
func (l *worker) moveOn(done []*flight, next picked, now time.Time) {
	for _, f := range done {
		l.forgetFlight(f)
		if f.why != whyNoAnswer && f.why != whyUnreached {
			delete(l.unanswered, f.ID.Seq)
		}
		if o := f.outcome.Result; !o.IsSettled() && o != intent.OutQuarantine && o != intent.OutRenumber && !f.gone {
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
	for _, f := range next.inFlight {
		l.inHand[f.ID.Seq] = struct{}{}
	}
	for _, f := range next.aside {
		l.setAside(f.ID.Seq, f.wait, now, f.Table(), f.why)
	}
	if len(next.popped) > 0 {
		l.inFlight = append(l.inFlight, next.inFlight...)
		if len(next.inFlight) >= l.width {
			l.width = min(2*l.width, l.r.limits.InFlight)
		} else {
			l.width = min(max(4, len(next.inFlight)), l.r.limits.InFlight)
		}
	}
}

// settleBatch stores the outcome of a batch. The caller stores the records once all views are computed.
func (r *Replica) settleBatch(w *outbox.Work, f *flight, now time.Time) ([]*conflict.Record, error) {
	there, err := outbox.Get(w.Tx, f.ID)
	if err != nil {
		return nil, err
	}
	if there == nil { // a feed has seen its mark, or it was discarded
		f.gone = true
		return nil, nil
	}
	f.Size, f.After = there.Size, there.After // put back meanwhile, it waits behind no other item
	flagged := r.keepLost(f, there)
	w.Know(f.Batch)
	if b, yes := r.restoredSince(f, flagged); yes {
		r.reopen(w, f, &b, now)
		return nil, nil
	}
	switch o := f.outcome.Result; {
	case o.IsSettled():
		return r.removeBatch(w, f)
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

// unsettle prepares a flight to be settled again after its transaction was undone.
func (f *flight) unsettle() {
	f.gone = false
}

// showBases takes the cloud's images from an outcome. If a base was set since the request left, nobody knows which is newer, and the
// item is read again.
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
				// A write refused because its item is missing does not delete what the table has lost.
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

// removeBatch removes a batch from the outbox: it is applied, superseded or in conflict.
func (r *Replica) removeBatch(w *outbox.Work, f *flight) ([]*conflict.Record, error) {
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
		return nil, w.Replay(f.Batch, r.timeApplied(f))
	}
	return []*conflict.Record{c}, nil
}

// settleShown settles a batch that an image has proved.
func (r *Replica) settleShown(w *outbox.Work, u *outbox.Batch) error {
	_, err := r.removeBatch(w, &flight{Batch: u, outcome: intent.Outcome{Result: intent.OutApplied}})
	return err
}

// renumber gives a batch of a lost timeline new sequences (identity.NewSequence). The flight stays unchanged, because the transaction
// may be undone and repeated.
func (r *Replica) renumber(w *outbox.Work, f *flight) error {
	moved, err := w.Renumber(f.Batch, func() (uint64, uint32, error) { return r.identity.NewSequence(w.Tx) })
	if err != nil {
		return err
	}
	return r.tables.RecordVerified(w.Tx, moved)
}

// isLater reports whether the image after an applied entry is later than a base set while the answer was on its way. That base may come
// from a read older than the send, and readers must not lose the entry's effect with the entry. The life and the count of our
// sends decide; the item is read again in any case.
func isLater(e *intent.Entry, after intent.Known, sh *outbox.Remote, exprs *expr.Cache) bool {
	before := sh.Known
	switch {
	case after.Item == nil: // it was deleted, unless it has another life by now
		return before.Item == nil || before.Side.Life == e.Life.ID || before.Side.Life == e.Label
	case before.Item == nil: // it was created, or deleted since
		return sh.Gone.Life == "" || sh.Gone.Life != after.Side.Life
	case before.Side.Life == after.Side.Life:
		return after.Side.Count > before.Side.Count
	}
	// Our first send to a foreign item has labelled it. And a read that saw the item which the entry created has not seen the earlier
	// life.
	return before.Side.Life == "" || e.MakesOver(before.Item, exprs)
}
