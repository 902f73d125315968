package restore

import (
	"context"
	"slices"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// requeueSent marks for verification also batches that were sent and not answered: the table may have lost their effect, and the proof of
// a transaction is in another table. That includes batches now on their way, whose outbox record does not say yet that they were
// sent; their mark does. It can be interrupted and repeated.
func (t *Tables) requeueSent(ctx context.Context, table string, b *Book) error {
	t.Box.Flags.Add(1) // for batches that workers already hold
	defer t.Box.Flags.Add(1)
	for after, more := []byte(nil), true; more; {
		err := t.Store.Update(ctx, func(tx *store.Tx) (err error) {
			after, more, err = t.requeueSentSome(tx, after, table, b)
			return err
		})
		if err != nil {
			return err
		}
		t.Failpoint("restore-flagged")
	}
	return nil
}

func (t *Tables) requeueSentSome(tx *store.Tx, after []byte, table string, b *Book) (next []byte, more bool, err error) {
	var batches []*outbox.Batch
	scanned := 0
	err = t.eachSentTo(tx, after, table, func(k []byte, u *outbox.Batch) bool {
		next = append([]byte(nil), k...)
		if u != nil {
			batches = append(batches, u)
		}
		scanned++
		return scanned < outbox.FlagBatch
	})
	if err != nil {
		return nil, false, err
	}
	tally := outbox.Tally{}
	for _, u := range batches {
		for _, e := range u.Entries {
			e.Verify(e.VerifyingBefore() && t.keepsBefore(b, e), b.Noticed)
		}
		b.Through = max(b.Through, u.Entries[len(u.Entries)-1].Seq)
		if err := outbox.Put(tx, u, tally); err != nil {
			return nil, false, err
		}
	}
	if err := tally.AddToCounts(tx); err != nil {
		return nil, false, err
	}
	return next, scanned == outbox.FlagBatch, t.keepThrough(tx, table, b)
}

// eachSentTo calls fn with each outbox key after the given one, and with the batch if it was sent to the table: it is unanswered, or
// may be proved by what another timeline has sent.
func (t *Tables) eachSentTo(tx *store.Tx, after []byte, table string, fn func(k []byte, u *outbox.Batch) bool) error {
	marked, err := t.Box.AllMarked(tx)
	if err != nil {
		return err
	}
	env := t.Box.Env(tx)
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
			u.Suspect(t.Box.Lost())
		}
		if !u.WasSentTo(table, env) {
			u = nil
		}
		return fn(k, u), nil
	})
}

// waitsSentTo reports whether any such batch waits.
func (t *Tables) waitsSentTo(tx *store.Tx, table string) (sent bool, err error) {
	err = t.eachSentTo(tx, nil, table, func(_ []byte, u *outbox.Batch) bool {
		sent = u != nil
		return !sent
	})
	return sent, err
}

// keepsBefore reports whether a write from before the instant of an earlier restore, of this table or of another one in its transaction,
// is also from before this one's.
func (t *Tables) keepsBefore(b *Book, e *intent.Entry) bool {
	if b.Recreated {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known, keeps := false, true
	for _, o := range t.books {
		if e.NoticedAt(o.Noticed) {
			known, keeps = true, keeps && !o.Recreated && !b.RestoredAt.Before(o.RestoredAt)
		}
	}
	if known {
		return keeps
	}
	return !b.Earlier.IsZero() && !b.RestoredAt.Before(b.Earlier)
}

// GoesBack reports whether writes to a table of a batch under verification have yet to be put back. The batch waits for them: a later
// write proves an earlier one, once it is back in the outbox.
func (t *Tables) GoesBack(u *outbox.Batch) bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool {
		if !e.Verifying() {
			return false
		}
		b, ok := t.book(e.Table)
		return ok && b.loses(t.run)
	})
}

// Owes reports whether a table of the batch has lost writes that are still to be put back, even after the next start.
func (t *Tables) Owes(u *outbox.Batch) bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool {
		b, ok := t.book(e.Table)
		return ok && !b.Noticed.IsZero() && !b.Requeued
	})
}

// stillHere drops from a settled batch the writes to tables that no longer exist here: nobody needs them, and the other tables have
// lost their writes all the same.
func (t *Tables) stillHere(w *outbox.Work, entries []*intent.Entry) []*intent.Entry {
	gone := func(e *intent.Entry) bool { return w.Env.Spec(e.Table) == nil }
	i := slices.IndexFunc(entries, gone)
	if i < 0 {
		return entries
	}
	here := slices.DeleteFunc(slices.Clone(entries), gone)
	t.Log.Warn("restore: a write to a table dropped here is not sent again", "table", entries[i].Table, "seq", entries[i].Seq)
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

// NoticedSince returns that of some entries' tables which was last noticed to be another one; false: none was. An earlier proof of such an
// entry may have been in data that is gone.
func (t *Tables) NoticedSince(entries []*intent.Entry) (b Book, yes bool) {
	for _, e := range entries {
		if of, ok := t.book(e.Table); ok && of.Noticed.After(b.Noticed) {
			b, yes = of, true
		}
	}
	return b, yes
}

// RecordVerified records a batch that is verified beside those put back as not yet replayed. If its transaction is undone, more is looked at
// than needed.
func (t *Tables) RecordVerified(tx *store.Tx, u *outbox.Batch) error {
	for _, e := range u.Entries {
		b, ok := t.book(e.Table)
		if !e.Verifying() || !ok || b.Through >= e.Seq {
			continue
		}
		if err := t.changeBookIn(tx, e.Table, func(b *Book) { b.Through = e.Seq }); err != nil {
			return err
		}
	}
	return nil
}
