package replica

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// requeue puts back into the outbox what the table has lost: what was acknowledged after the restore point, less some
// minutes; everything, if it is a new one. A batch goes back in the transaction in which it leaves the replay log.
func (r *Replica) requeue(ctx context.Context, table string, b tableBook) error {
	if err := r.requeueSent(ctx, table, &b); err != nil {
		return err
	}
	r.restores.epoch.Add(1) // what is answered from here on was asked before the restore was known to the outbox
	defer r.rescan()        // lanes leave alone what goes back until then: goesBack
	for more := true; more; {
		err := r.store.Update(ctx, func(tx *store.Tx) (err error) {
			more, err = r.requeueSome(r.box.Begin(tx), table, &b)
			return err
		})
		if err != nil {
			return err
		}
		r.cfg.Failpoint("restore-requeued")
	}
	released := false
	err := r.changeBook(ctx, table, func(now *tableBook) {
		if released = now.is(&b); released {
			now.Requeued, now.Until = true, r.serverNow().Add(replayFor)
		}
	})
	if err == nil && released { // not before: what waits would overtake what was lost
		r.release(table, classAnother)
	}
	return err
}

// requeueSome puts some batches back; more: there are others.
func (r *Replica) requeueSome(w *outbox.Work, table string, b *tableBook) (more bool, err error) {
	type logged struct {
		at      time.Time
		entries []*intent.Entry
	}
	var found []logged
	now := r.serverNow().Add(restoreSharp)
	err = outbox.EachReplayed(w.Tx, b.Lost, func(at time.Time, entries []*intent.Entry) (bool, error) {
		if at.After(b.Noticed.Add(restoreSharp)) && at.Before(now) {
			return true, nil // it was sent to the table as it is now
		}
		if slices.ContainsFunc(entries, func(e *intent.Entry) bool { return e.Table == table }) {
			found = append(found, logged{at, entries})
		}
		return len(found) < requeueSlice, nil
	})
	if err != nil {
		return false, err
	}
	for _, l := range found {
		if err := r.putBack(w, l.entries, b, l.at); err != nil {
			return false, err
		}
		b.Through = max(b.Through, l.entries[len(l.entries)-1].Seq)
		if err := outbox.DropReplayed(w, l.at, l.entries); err != nil {
			return false, err
		}
	}
	if err := w.Finish(); err != nil {
		return false, err
	}
	return len(found) == requeueSlice, r.keepThrough(w.Tx, table, b)
}

// keepThrough stores how far what a table has lost is put back.
func (r *Replica) keepThrough(tx *store.Tx, table string, b *tableBook) error {
	return r.changeBookIn(tx, table, func(now *tableBook) {
		if now.is(b) {
			now.Through = max(now.Through, b.Through)
		}
	})
}

// putBack has a settled batch wait again, before all later ones of its items. It counts as unanswered.
func (r *Replica) putBack(w *outbox.Work, entries []*intent.Entry, b *tableBook, at time.Time) error {
	for _, e := range entries {
		b.replay(e, at)
	}
	if entries = r.stillHere(w, entries); len(entries) == 0 {
		return nil
	}
	it, err := w.Load(entries[0].Table, entries[0].Key)
	if err != nil {
		return err
	}
	u := &outbox.Batch{Batch: intent.Batch{Entries: entries}, ID: outbox.ID{Lane: r.box.LaneOf(&it.Item, false), Seq: entries[0].Seq}}
	if err := w.Put(u); err != nil {
		return err
	}
	if err := outbox.NoteFolds(w.Tx, u); err != nil {
		return err
	}
	return w.EachItem(u, func(it *outbox.WorkItem) {
		w.Fail(w.InOrder(it))
		it.Rebased = true
	})
}

// replay has an entry be made sure of in a table that was restored. at is when it was known to be applied, by the server's
// clock.
func (b *tableBook) replay(e *intent.Entry, at time.Time) {
	point := b.Lost.Add(restoreSlack)
	if b.Lost.IsZero() && !b.Recreated {
		point = b.RestoredAt // nobody knows what of it the table had: nothing is made that may have been deleted
	}
	e.MakeSure(at.Before(point.Add(-restoreSharp)), b.Noticed)
}

// restoreSharp is how much earlier than it was an instant may seem by the server's clock, which tells whole seconds. Nobody
// can learn within it that a create is settled and delete its life without a tombstone.
const restoreSharp = 2 * time.Second

// acknowledged is when a batch was known to be applied, by the server's clock.
func (r *Replica) acknowledged(f *flight) time.Time {
	if f.answered.IsZero() {
		return r.serverNow()
	}
	return f.answered
}

// endReplays tells the cloud when this node's lost writes are settled again, and ends the waiting for others when all
// nodes have said so.
func (r *Replica) endReplays(ctx context.Context) {
	books, open := r.replays()
	if len(open) == 0 {
		return
	}
	done := attr.Item{} // those too that this node waits for no more: the row is what others wait for
	for table, b := range books {
		waits, err := r.replayWaits(ctx, table, b.Through)
		if err != nil {
			remote.Complain(r.log, "looking at what is sent again", err)
			return
		}
		if !waits {
			done[table] = attr.S(b.ID)
		}
	}
	if len(done) == 0 {
		return
	}
	if err := r.identity.TellReplayed(ctx, done); err != nil {
		remote.Complain(r.log, "telling the cloud what was sent again", err)
		return
	}
	rows, err := r.identity.Replayed(ctx)
	if err != nil {
		remote.Complain(r.log, "asking who has sent again what was lost", err)
		return
	}
	for _, table := range open {
		b := books[table]
		if !slices.ContainsFunc(rows, func(of attr.Item) bool { return of[table].Str() != b.ID }) && !done[table].IsZero() {
			err := r.changeBook(ctx, table, func(now *tableBook) {
				if now.is(&b) {
					now.Until = r.serverNow()
				}
			})
			if err != nil {
				remote.Complain(r.log, "ending a replay", err)
			}
		}
	}
}

// replays returns the tables that were restored, and of them those whose lost writes are still waited for, in their
// order.
func (r *Replica) replays() (books map[string]tableBook, open []string) {
	now := r.serverNow()
	r.restores.mu.Lock()
	defer r.restores.mu.Unlock()
	books = map[string]tableBook{}
	for table, b := range r.restores.books {
		if b.Requeued && !b.Noticed.IsZero() {
			books[table] = *b
		}
		if b.Requeued && now.Before(b.Until) {
			open = append(open, table)
		}
	}
	slices.Sort(open)
	return books, open
}

// replayWaits reports whether a batch that was put back for a table is still in the outbox, and has not
// been looked at.
func (r *Replica) replayWaits(ctx context.Context, table string, through uint64) (waits bool, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		for lane := range r.workers {
			units, err := outbox.PutBackIn(tx, uint8(lane), table, through)
			if err != nil {
				return err
			}
			if waits = len(units) == outbox.ReplayLooks; waits { // there are more than anything that waits for others
				return nil
			}
			for _, u := range units {
				if waits, err = r.ownTurn(tx, u); err != nil || waits {
					return err
				}
			}
		}
		return nil
	})
	return waits, err
}

// ownTurn reports whether a batch that was put back waits neither for the other nodes to replay nor behind one that does.
func (r *Replica) ownTurn(tx *store.Tx, u *outbox.Batch) (bool, error) {
	if u.WaitsForOthers() {
		return false, nil
	}
	for _, e := range u.Entries {
		spec := r.spec(e.Table)
		if spec == nil {
			continue
		}
		it, err := outbox.ItemOf(tx, spec, e.Key)
		if err != nil {
			return false, err
		}
		if behind, err := outbox.StandsBehind(tx, it, u.ID); err != nil || behind {
			return false, err
		}
	}
	return true, nil
}

// keptMark is intent.Env.Kept; no, if that cannot be read.
func (r *Replica) keptMark(tx *store.Tx, table string, key attr.Item, mark attr.Value) (kept bool) {
	err := r.readIn(tx, func(tx *store.Tx) (err error) {
		kept, err = outbox.KeptMark(tx, r.spec(table), key, mark)
		return err
	})
	if err != nil {
		r.log.Error("the waiting writes of an item cannot be read", "error", err)
	}
	return kept && err == nil
}
