package conflict

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// Log is a node's conflict log: decisions about writes that did not, or may not have, taken effect as the application intended.
type Log struct {
	store  *store.Store
	box    *outbox.Outbox
	clock  clock.Clock
	log    *slog.Logger
	rules  map[string]MergeFunc  // by table
	secret map[string]SecretFunc // by table
	moved  func(*outbox.Work)    // called after a commit that has changed the outbox
}

// NewLog returns a node's log. merge holds the applications' handlers by table; secret reports, by table, whose items' values must not
// be shown.
func NewLog(
	s *store.Store, box *outbox.Outbox, c clock.Clock, log *slog.Logger, merge map[string]MergeFunc, secret map[string]SecretFunc, moved func(*outbox.Work),
) *Log {
	return &Log{store: s, box: box, clock: c, log: log, rules: merge, secret: secret, moved: moved}
}

// StoreDecision stores a decision in the transaction that makes it; see Record. It runs the table's merge handler, whose writes then count as
// the application's.
func (d *Log) StoreDecision(tx *store.Tx, c *Record) error {
	if len(c.Decided) == 0 {
		return fault.New(fault.Internal, "empty_conflict", "a conflict without an entry (%s)", c.Code)
	}
	if c.At.IsZero() {
		c.At = tx.Now()
	}
	if c.State == "" {
		c.State = c.Kind.Begins()
	}
	if c.State == StateOpen && c.Kind.asksTheApplication() {
		if err := d.merge(tx, c); err != nil {
			return err
		}
	}
	l, err := Open(tx)
	if err != nil {
		return err
	}
	if err := l.Add(c); err != nil {
		return err
	}
	if _, err := l.Trim(tx.Now()); err != nil {
		return err
	}
	return l.Save()
}

// merge asks the table's handler. If its writes are refused, the reason is noted and a person is asked instead.
func (d *Log) merge(tx *store.Tx, c *Record) error {
	handler := d.rules[c.Decided[0].Entry.Table]
	if handler == nil {
		return nil
	}
	in := MergeCase{Code: c.Code, Tail: c.Tail, Get: tx.Get}
	tx.ShowExpired()
	for i := range c.Decided {
		one := &c.Decided[i]
		remote, err := tx.Get(one.Entry.Table, one.Entry.Key)
		if err != nil {
			return err
		}
		in.Entries = append(in.Entries, one.Entry)
		in.Items = append(in.Items, MergeItem{Base: one.Seen.Base, View: one.Seen.View, Remote: remote})
	}
	writes, ok := handler(in)
	if !ok {
		return nil
	}
	seqs, err := perform(tx, writes)
	switch {
	case err == nil:
		c.State, c.ClosedAt, c.NewSeqs = StateResolved, tx.Now(), seqs
		return nil
	case refusal(err), noRoom(err): // the decided entries leave the outbox, which makes room
		c.Note = joinNotes(c.Note, "the merge was refused: "+reasonOf(err))
		return nil
	default:
		return err
	}
}

// perform makes writes like the application, several as one transaction, and returns the sequences of their records.
func perform(tx *store.Tx, writes []store.WriteItem) (seqs []uint64, err error) {
	before := tx.Seq()
	switch {
	case len(writes) == 0:
		return nil, nil
	case len(writes) > 1 || writes[0].Check != nil:
		err = tx.TransactWrite(store.TransactWrite{Items: writes})
	case writes[0].Put != nil:
		_, err = tx.Put(*writes[0].Put)
	case writes[0].Update != nil:
		_, err = tx.Update(*writes[0].Update)
	case writes[0].Delete != nil:
		_, err = tx.Delete(*writes[0].Delete)
	}
	if err != nil {
		return nil, err
	}
	for seq := before + 1; seq <= tx.Seq(); seq++ {
		seqs = append(seqs, seq)
	}
	return seqs, nil
}

// refusal reports whether an error concerns the write, not the store.
func refusal(err error) bool {
	switch fault.KindOf(err) {
	case fault.Conflict, fault.Invalid, fault.NotFound, fault.TooLarge:
		return true
	case fault.Internal, fault.Unauthorized, fault.Forbidden, fault.Throttled, fault.Unavailable, fault.Full, fault.Locked, fault.Damaged, fault.Unreadable:
	}
	return false
}

// noRoom reports whether a budget, not the store, has refused a write.
func noRoom(err error) bool {
	_, is := errors.AsType[*flow.RefusedError](err)
	return is
}

// reasonOf returns an error's text for people.
func reasonOf(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return err.Error()
}

// Again returns an entry's operation as the application asked for it and, for the first entry of a transaction, also the transaction's
// conditions on other items. It is for merge handlers that repeat part of a refused write.
func Again(e *intent.Entry) (all []store.WriteItem) {
	switch e.Op {
	case store.OpPut:
		all = []store.WriteItem{{Put: &store.PutItem{Table: e.Table, Item: e.Item, Condition: e.Condition, Params: e.Params, NoOld: true}}}
	case store.OpUpdate:
		all = []store.WriteItem{{Update: &store.UpdateItem{Table: e.Table, Key: e.Key, Update: e.Update, Condition: e.Condition, Params: e.Params}}}
	default:
		all = []store.WriteItem{{Delete: &store.DeleteItem{Table: e.Table, Key: e.Key, Condition: e.Condition, Params: e.Params, NoOld: true}}}
	}
	for i := range e.Checks {
		k := &e.Checks[i]
		all = append(all, store.WriteItem{Check: &store.ConditionCheck{Table: k.Table, Key: k.Key, Condition: k.Condition, Params: k.Params}})
	}
	return all
}

// List returns records, newest first; next is the number to continue before, 0 at the end.
func (d *Log) List(ctx context.Context, q Query) (found []*Record, next uint64, err error) {
	err = d.store.View(ctx, func(tx *store.Tx) error {
		l, err := Open(tx)
		if err == nil {
			found, next, err = l.List(q)
		}
		return err
	})
	return found, next, err
}

// Find returns a record; an unknown one is fault.NotFound.
func (d *Log) Find(ctx context.Context, id uint64) (c *Record, err error) {
	err = d.store.View(ctx, func(tx *store.Tx) error {
		l, err := Open(tx)
		if err == nil {
			c, err = l.existingRecord(id)
		}
		return err
	})
	return c, err
}

func (l *LogTx) existingRecord(id uint64) (*Record, error) {
	c, err := l.Get(id)
	if err == nil && c == nil {
		err = fault.New(fault.NotFound, "conflict_not_found", "There is no conflict %d; records are kept for 30 days.", id)
	}
	return c, err
}

// Retry writes again what a record holds, all or none: the same operations, evaluated on the present items, compiled and journaled under
// new sequences. If one is refused nothing changes, and fault.Conflict or fault.Invalid says why. An already decided record is
// fault.Conflict.
func (d *Log) Retry(ctx context.Context, id uint64) (*Record, error) {
	return d.decide(ctx, id, d.retry)
}

// Discard gives up the writes of a record. Quarantined writes leave the outbox and the view.
func (d *Log) Discard(ctx context.Context, id uint64) (*Record, error) {
	return d.decide(ctx, id, func(w *outbox.Work, c *Record) error {
		c.State = StateDiscarded
		if c.Kind != KindQuarantine {
			return nil
		}
		if c.unsure() {
			c.Note = joinNotes(c.Note, "it had been sent and not answered: a late copy of it may still be applied")
		}
		if err := d.freeQuarantine(w, c); err != nil {
			return err
		}
		return w.Finish()
	})
}

// decide changes an undecided record in one transaction.
func (d *Log) decide(ctx context.Context, id uint64, do func(w *outbox.Work, c *Record) error) (c *Record, err error) {
	var w *outbox.Work
	err = d.store.Update(ctx, func(tx *store.Tx) error {
		l, err := Open(tx)
		if err != nil {
			return err
		}
		if c, err = l.existingRecord(id); err != nil {
			return err
		}
		if c.State.isClosed() {
			return fault.New(fault.Conflict, "conflict_closed", "Conflict %d was %s at %s UTC.", id, c.State, c.ClosedAt.UTC().Format(time.DateTime))
		}
		if c.Kind == KindQuarantine {
			if err := d.live(tx, c); err != nil {
				return err
			}
		}
		w = d.box.Begin(tx)
		if err := do(w, c); err != nil {
			return err
		}
		c.ClosedAt = tx.Now()
		if l, err = Open(tx); err != nil { // the writes may have created records of their own
			return err
		}
		if err := l.Change(c); err != nil {
			return err
		}
		return l.Save()
	})
	if err != nil {
		return nil, err
	}
	d.moved(w)
	d.log.Info("conflict decided", "conflict", id, "kind", c.Kind, "state", c.State, "table", c.Decided[0].Entry.Table)
	return c, nil
}

// retry writes what a record holds: former transactions as transactions, the rest one by one, in order.
func (d *Log) retry(w *outbox.Work, c *Record) error {
	c.State = StateRetried
	if c.Kind == KindQuarantine {
		if c.unsure() {
			c.Note = joinNotes(c.Note, "it had been sent and not answered, so it goes on under its own number")
			if err := d.letGo(w, c); err != nil {
				return err
			}
			return w.Finish()
		}
		if err := d.freeQuarantine(w, c); err != nil {
			return err
		}
		if err := w.Finish(); err != nil {
			return err
		}
	}
	for _, group := range c.groups() {
		seqs, err := rewrite(w.Tx, group)
		if err != nil {
			return retryRefused(c.ID, group[0], err)
		}
		c.NewSeqs = append(c.NewSeqs, seqs...)
	}
	return nil
}

// groups returns the record's entries as they were written: single, or with the others of their transaction, in order.
func (c *Record) groups() (out [][]*intent.Entry) {
	entries := c.Entries()
	slices.SortStableFunc(entries, func(a, b *intent.Entry) int { return cmp.Compare(a.Earliest(), b.Earliest()) })
	of := map[uint64]int{}
	for _, e := range entries {
		if i, known := of[e.Txn]; known && e.Txn != 0 {
			out[i] = append(out[i], e)
			continue
		}
		of[e.Txn] = len(out)
		out = append(out, []*intent.Entry{e})
	}
	return out
}

// rewrite makes the writes of a batch again, including its conditions on other items.
func rewrite(tx *store.Tx, group []*intent.Entry) (seqs []uint64, err error) {
	var writes []store.WriteItem
	for _, e := range group {
		writes = append(writes, Again(e)...)
	}
	return perform(tx, writes)
}

// retryRefused says which write a failed retry was refused for.
func retryRefused(id uint64, e *intent.Entry, err error) error {
	if !refusal(err) {
		return err
	}
	return fault.Wrap(err, fault.KindOf(err), "retry_refused", "Conflict %d cannot be retried: its %s on %s is refused here already: %s",
		id, e.Op, e.Table, reasonOf(err))
}
