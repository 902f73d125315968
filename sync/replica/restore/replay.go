package restore

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

// requeue puts back into the outbox what the table has lost: everything acknowledged after the restore point less some minutes, or
// everything if the table is new. A batch goes back in the transaction in which it leaves the replay log.
func (t *Tables) requeue(ctx context.Context, table string, b Book) error {
	if err := t.requeueSent(ctx, table, &b); err != nil {
		return err
	}
	t.epoch.Add(1)   // answers from here on may belong to requests made before the outbox knew of the restore
	defer t.Rescan() // until then workers leave alone what goes back: GoesBack
	for more := true; more; {
		err := t.Store.Update(ctx, func(tx *store.Tx) (err error) {
			more, err = t.requeueSome(t.Box.Begin(tx), table, &b)
			return err
		})
		if err != nil {
			return err
		}
		t.Failpoint("restore-requeued")
	}
	released := false
	err := t.changeBook(ctx, table, func(now *Book) {
		if released = now.is(&b); released {
			now.Requeued, now.Until = true, t.serverNow().Add(replayFor)
		}
	})
	if err == nil && released { // not earlier: waiting writes would overtake lost ones
		t.release(table, classAnother)
	}
	return err
}

// requeueSome puts some batches back; more reports whether others are left.
func (t *Tables) requeueSome(w *outbox.Work, table string, b *Book) (more bool, err error) {
	type logged struct {
		at      time.Time
		entries []*intent.Entry
	}
	var found []logged
	now := t.serverNow().Add(restoreSharp)
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
		if err := t.putBack(w, l.entries, b, l.at); err != nil {
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
	return len(found) == requeueSlice, t.keepThrough(w.Tx, table, b)
}

// keepThrough stores how far the put-back has come.
func (t *Tables) keepThrough(tx *store.Tx, table string, b *Book) error {
	return t.changeBookIn(tx, table, func(now *Book) {
		if now.is(b) {
			now.Through = max(now.Through, b.Through)
		}
	})
}

// putBack makes a settled batch wait again, before all later ones of its items. It counts as unanswered.
func (t *Tables) putBack(w *outbox.Work, entries []*intent.Entry, b *Book, at time.Time) error {
	for _, e := range entries {
		b.Replay(e, at)
	}
	if entries = t.stillHere(w, entries); len(entries) == 0 {
		return nil
	}
	it, err := w.Load(entries[0].Table, entries[0].Key)
	if err != nil {
		return err
	}
	u := &outbox.Batch{Batch: intent.Batch{Entries: entries}, ID: outbox.ID{Worker: t.Box.WorkerOf(&it.Item, false), Seq: entries[0].Seq}}
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

// Replay marks an entry for verification in a restored table. at is when it was known to be applied, by the server's clock.
func (b *Book) Replay(e *intent.Entry, at time.Time) {
	point := b.Lost.Add(restoreSlack)
	if b.Lost.IsZero() && !b.Recreated {
		point = b.RestoredAt // nobody knows how much of it the table had, so nothing is created that may have been deleted
	}
	e.Verify(at.Before(point.Add(-restoreSharp)), b.Noticed)
}

// restoreSharp is how much too early an instant may seem by the server's clock, which has whole seconds. It is too short for anyone to
// learn that a create is settled and to delete its life without a tombstone.
const restoreSharp = 2 * time.Second

// EndReplays tells the cloud when this node's lost writes are settled again, and stops waiting for other nodes once all of them have
// reported the same.
func (t *Tables) EndReplays(ctx context.Context) {
	books, open := t.replays()
	if len(open) == 0 {
		return
	}
	done := attr.Item{} // including tables this node no longer waits for: others wait for the row
	for table, b := range books {
		waits, err := t.replayWaits(ctx, table, b.Through)
		if err != nil {
			remote.Complain(t.Log, "looking at what is sent again", err)
			return
		}
		if !waits {
			done[table] = attr.S(b.ID)
		}
	}
	if len(done) == 0 {
		return
	}
	if err := t.Identity.TellReplayed(ctx, done); err != nil {
		remote.Complain(t.Log, "telling the cloud what was sent again", err)
		return
	}
	rows, err := t.Identity.ReplayedReports(ctx)
	if err != nil {
		remote.Complain(t.Log, "asking who has sent again what was lost", err)
		return
	}
	for _, table := range open {
		b := books[table]
		if !slices.ContainsFunc(rows, func(of attr.Item) bool { return of[table].Str() != b.ID }) && !done[table].IsZero() {
			err := t.changeBook(ctx, table, func(now *Book) {
				if now.is(&b) {
					now.Until = t.serverNow()
				}
			})
			if err != nil {
				remote.Complain(t.Log, "ending a replay", err)
			}
		}
	}
}

// replays returns the restored tables and, in order, those whose lost writes are still waited for.
func (t *Tables) replays() (books map[string]Book, open []string) {
	now := t.serverNow()
	t.mu.Lock()
	defer t.mu.Unlock()
	books = map[string]Book{}
	for table, b := range t.books {
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

// replayWaits reports whether a batch that was put back for a table is still in the outbox and has not been looked at.
func (t *Tables) replayWaits(ctx context.Context, table string, through uint64) (waits bool, err error) {
	err = t.Store.View(ctx, func(tx *store.Tx) error {
		for worker := range t.Box.Workers {
			batches, err := outbox.PutBackIn(tx, uint8(worker), table, through)
			if err != nil {
				return err
			}
			if waits = len(batches) == outbox.ReplayScan; waits { // more than could be waiting for others
				return nil
			}
			for _, u := range batches {
				if waits, err = t.ownTurn(tx, u); err != nil || waits {
					return err
				}
			}
		}
		return nil
	})
	return waits, err
}

// ownTurn reports whether a batch that was put back waits neither for other nodes' replays nor behind one that does.
func (t *Tables) ownTurn(tx *store.Tx, u *outbox.Batch) (bool, error) {
	if u.WaitsForOthers() {
		return false, nil
	}
	for _, e := range u.Entries {
		spec := t.Box.Spec(e.Table)
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
