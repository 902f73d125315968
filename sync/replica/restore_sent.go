package replica

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// requeueSent has what was sent and is not answered be made sure of too: what the table has lost may have been its effect,
// and the proof of a transaction is in another table. So has what lanes have on its way, of which the outbox does not say yet
// that it was sent: its mark does. It can be interrupted and repeated.
func (r *Replica) requeueSent(ctx context.Context, table string, b *tableBook) error {
	r.box.Flags.Add(1) // what lanes have on its way from before
	defer r.box.Flags.Add(1)
	for after, more := []byte(nil), true; more; {
		err := r.store.Update(ctx, func(tx *store.Tx) (err error) {
			after, more, err = r.requeueSentSome(tx, after, table, b)
			return err
		})
		if err != nil {
			return err
		}
		r.cfg.Failpoint("restore-flagged")
	}
	return nil
}

func (r *Replica) requeueSentSome(tx *store.Tx, after []byte, table string, b *tableBook) (next []byte, more bool, err error) {
	var units []*outbox.Batch
	looked := 0
	err = r.eachSentTo(tx, after, table, func(k []byte, u *outbox.Batch) bool {
		next = append([]byte(nil), k...)
		if u != nil {
			units = append(units, u)
		}
		looked++
		return looked < outbox.FlagBatch
	})
	if err != nil {
		return nil, false, err
	}
	t := outbox.Tally{}
	for _, u := range units {
		for _, e := range u.Entries {
			e.MakeSure(e.MakesSureOfBefore() && r.keepsBefore(b, e), b.Noticed)
		}
		b.Through = max(b.Through, u.Entries[len(u.Entries)-1].Seq)
		if err := outbox.Put(tx, u, t); err != nil {
			return nil, false, err
		}
	}
	if err := t.Keep(tx); err != nil {
		return nil, false, err
	}
	return next, looked == outbox.FlagBatch, r.keepThrough(tx, table, b)
}

// eachSentTo calls fn with each key of the outbox behind one, and with the batch if that was sent to a table: it is known to be
// unanswered, or may be proved by what another timeline has sent.
func (r *Replica) eachSentTo(tx *store.Tx, after []byte, table string, fn func(k []byte, u *outbox.Batch) bool) error {
	marked, err := r.box.AllMarked(tx)
	if err != nil {
		return err
	}
	env := r.env(tx)
	return tx.Side(outbox.SideOutbox).Each(nil, after, func(k, v []byte) (bool, error) {
		id, ok := outbox.ParseID(k)
		if !ok {
			return fn(k, nil), nil
		}
		u, err := outbox.Decode(id, v)
		if err != nil {
			return false, err
		}
		if slices.Contains(marked, id.Seq) {
			u.Suspect(r.box.Lost())
		}
		if !u.WasSentTo(table, env) {
			u = nil
		}
		return fn(k, u), nil
	})
}

// waitsSentTo reports whether any such batch waits.
func (r *Replica) waitsSentTo(tx *store.Tx, table string) (sent bool, err error) {
	err = r.eachSentTo(tx, nil, table, func(_ []byte, u *outbox.Batch) bool {
		sent = u != nil
		return !sent
	})
	return sent, err
}

// keepsBefore reports whether a write from before the instant of a restore that was noticed before, of this table or of
// another of its transaction, is so of this one too.
func (r *Replica) keepsBefore(b *tableBook, e *intent.Entry) bool {
	if b.Recreated {
		return false
	}
	r.restores.mu.Lock()
	defer r.restores.mu.Unlock()
	known, keeps := false, true
	for _, o := range r.restores.books {
		if e.NoticedAt(o.Noticed) {
			known, keeps = true, keeps && !o.Recreated && !b.RestoredAt.Before(o.RestoredAt)
		}
	}
	if known {
		return keeps
	}
	return !b.Earlier.IsZero() && !b.RestoredAt.Before(b.Earlier)
}

// goesBack reports whether others of the tables of a batch that is being verified have yet to be put back: what was
// written later proves what was written first, once it is there.
func (r *Replica) goesBack(u *outbox.Batch) bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool {
		if !e.MakesSure() {
			return false
		}
		b, ok := r.book(e.Table)
		return ok && b.loses(r.restores.run)
	})
}

// owes reports whether one of a batch's tables has lost what is still to be put back, even after the next start.
func (r *Replica) owes(u *outbox.Batch) bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool {
		b, ok := r.book(e.Table)
		return ok && !b.Noticed.IsZero() && !b.Requeued
	})
}

// stillHere leaves out of a settled batch what it wrote to tables that are gone here: they are nobody's any more, and the others
// have lost what they have lost all the same.
func (r *Replica) stillHere(w *outbox.Work, entries []*intent.Entry) []*intent.Entry {
	gone := func(e *intent.Entry) bool { return w.Env.Spec(e.Table) == nil }
	i := slices.IndexFunc(entries, gone)
	if i < 0 {
		return entries
	}
	here := slices.DeleteFunc(slices.Clone(entries), gone)
	r.log.Warn("restore: a write to a table dropped here is not sent again", "table", entries[i].Table, "seq", entries[i].Seq)
	for _, e := range here {
		if e.Txn != 0 {
			e.Txn = here[0].Seq
		}
	}
	if len(here) > 0 {
		here[0].Checks = entries[0].Checks
	}
	return here
}

// restoredSince reports whether a table of a batch was found to be restored since the request left whose answer says that
// it was applied: that may have been in what is no more. flagged: since it was read from the outbox; a transaction that
// was applied before may have read its images behind that.
func (r *Replica) restoredSince(f *flight, flagged bool) (b tableBook, yes bool) {
	same := f.epoch == r.restores.epoch.Load() && !flagged
	if f.outcome.Result != intent.OutApplied || same || f.Entries[0].Policy == store.PolicyState {
		return b, false
	}
	for _, e := range f.Entries {
		if of, ok := r.book(e.Table); ok && of.Noticed.After(b.Noticed) {
			b, yes = of, true // the last of them: a proof of before it proves nothing
		}
	}
	return b, yes
}

// reopen has such a batch stay, to be made sure of.
func (r *Replica) reopen(w *outbox.Work, f *flight, b *tableBook, now time.Time) {
	for _, e := range f.Entries {
		b.replay(e, r.acknowledged(f))
	}
	f.outcome, f.changed = intent.Outcome{Result: intent.OutParked}, true
	f.park(now, intent.WhyReplay)
	w.Rewrite(f.Batch)
	w.Fail(r.replaysThrough(w.Tx, f.Batch))
}

// replaysThrough notes of a batch that is made sure of beside what was put back that the node has not replayed before. If its
// transaction is undone, more is looked at than need be.
func (r *Replica) replaysThrough(tx *store.Tx, u *outbox.Batch) error {
	for _, e := range u.Entries {
		b, ok := r.book(e.Table)
		if !e.MakesSure() || !ok || b.Through >= e.Seq {
			continue
		}
		if err := r.changeBookIn(tx, e.Table, func(b *tableBook) { b.Through = e.Seq }); err != nil {
			return err
		}
	}
	return nil
}
