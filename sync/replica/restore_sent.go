package replica

import (
	"context"
	"encoding/json"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
)

// requeueSent has what was sent and is not answered be made sure of too: what the table has lost may have been its effect,
// and the proof of a transaction is in another table. It can be interrupted and repeated.
func (r *Replica) requeueSent(ctx context.Context, table string, b *tableBook) error {
	r.identity.history.Add(1) // what lanes have on its way from before
	defer r.identity.history.Add(1)
	for after, more := []byte(nil), true; more; {
		err := r.store.Update(ctx, func(tx *store.Tx) (err error) {
			after, more, err = requeueSentSome(tx, after, table, b)
			return err
		})
		if err != nil {
			return err
		}
		r.cfg.Fail("restore-flagged")
	}
	return nil
}

func requeueSentSome(tx *store.Tx, after []byte, table string, b *tableBook) (next []byte, more bool, err error) {
	var units []*unit
	looked := 0
	err = tx.Side(sideOutbox).Each(nil, after, func(k, v []byte) (bool, error) {
		next = append([]byte(nil), k...)
		looked++
		id, ok := unitIDOf(k)
		if !ok {
			return true, nil
		}
		u, err := readUnit(id, v)
		if err == nil && u.wasSentTo(table) {
			units = append(units, u)
		}
		return err == nil && looked < flagBatch, err
	})
	if err != nil {
		return nil, false, err
	}
	t := tally{}
	for _, u := range units {
		for _, e := range u.Entries {
			before := e.Replay && e.Before // by a restore before this one
			b.replay(e, b.RestoredAt)
			e.Before = before
		}
		b.Through = max(b.Through, u.Entries[len(u.Entries)-1].Seq)
		if err := putUnit(tx, u, t); err != nil {
			return nil, false, err
		}
	}
	return next, looked == flagBatch, t.keep(tx)
}

// wasSentTo tells of a unit that it was sent and is not answered, or that a lost timeline may have sent it and had its proof,
// and has an entry for a table. State has a newer one.
func (u *unit) wasSentTo(table string) bool {
	if u.held() || u.Entries[0].Policy == store.PolicyState {
		return false
	}
	there, sent := false, false
	for _, e := range u.Entries {
		there, sent = there || e.Table == table, sent || e.Sent > 0 || e.Unsure || e.Lost && e.Txn != 0
	}
	return there && sent
}

// restoredSince tells whether a table of a unit was found to be restored since the request left whose answer says that it
// was applied: that may have been in what is no more.
func (r *Replica) restoredSince(f *flight) (b tableBook, yes bool) {
	if f.outcome.Result != intent.OutApplied || f.turn == r.identity.restores.turn.Load() || f.Entries[0].Policy == store.PolicyState {
		return b, false
	}
	for _, e := range f.Entries {
		if b, yes = r.book(e.Table); yes && !b.Noticed.IsZero() {
			return b, true
		}
	}
	return b, false
}

// reopen has such a unit stay, to be made sure of.
func (r *Replica) reopen(w *work, f *flight, b *tableBook, now time.Time) {
	for _, e := range f.Entries {
		b.replay(e, r.acknowledged(f))
	}
	f.outcome, f.changed = intent.Outcome{Result: intent.OutParked}, true
	f.park(now, intent.WhyReplay)
	w.dirty[f.id] = true
	w.fail(r.replaysThrough(w.tx, f.unit))
}

// replaysThrough notes of a unit that is made sure of beside what was put back that the node has not replayed before. If its
// transaction is undone, more is looked at than need be.
func (r *Replica) replaysThrough(tx *store.Tx, u *unit) error {
	id := &r.identity
	id.mu.Lock()
	defer id.mu.Unlock()
	for _, e := range u.Entries {
		b := id.restores.books[e.Table]
		if !e.Replay || b == nil || b.Through >= e.Seq {
			continue
		}
		raised := *b
		raised.Through = e.Seq
		data, err := json.Marshal(&raised)
		if err != nil {
			return err
		}
		if err := tx.Side(sideIdentity).Set([]byte(tableBookPrefix+e.Table), data); err != nil {
			return err
		}
		id.restores.books[e.Table] = &raised
	}
	return nil
}
