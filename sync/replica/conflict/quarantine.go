package conflict

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// The entries of a quarantine stay in the outbox, held, with what waited behind them; later writes to their items bypass them. An
// operator's decision removes them or lets them go on.

// freeQuarantine removes the entries of a record from the outbox and the view, within w. Entries held only because they stand behind
// them go on.
func (d *Log) freeQuarantine(w *outbox.Work, c *Record) error {
	dropped := map[outbox.ID]bool{}
	for _, e := range c.Entries() {
		u, err := d.box.Find(w.Tx, e.Seq)
		if err != nil {
			return err
		}
		if u == nil || dropped[u.ID] {
			continue
		}
		if u, err = w.Batch(u.ID); err != nil || u == nil {
			return err
		}
		dropped[u.ID] = true
		if err := w.Drop(u); err != nil {
			return err
		}
	}
	return d.goOn(w, c)
}

// goOn releases the entries behind those of a record, unless something else on their items is held too.
func (d *Log) goOn(w *outbox.Work, c *Record) error {
	for _, e := range c.Entries() {
		it, err := w.Load(e.Table, e.Key)
		if err != nil {
			return err
		}
		behind, err := w.Entries(it)
		if err != nil {
			return err
		}
		for _, later := range behind {
			if later.Held == intent.HoldPoison {
				break
			}
			if later.Held == intent.HoldTail {
				later.Held, later.Why = intent.HoldNone, ""
				w.MarkChanged(later)
			}
		}
	}
	return nil
}

// letGo releases the entries of a record under their own sequences: one of them was sent and not answered, and under a new sequence
// might be applied twice.
func (d *Log) letGo(w *outbox.Work, c *Record) error {
	for _, e := range c.Entries() {
		u, err := d.box.Find(w.Tx, e.Seq)
		if err != nil {
			return err
		}
		if u == nil {
			continue
		}
		if u, err = w.Batch(u.ID); err != nil || u == nil {
			return err
		}
		for _, held := range u.Entries {
			if held.Held == intent.HoldPoison || held.Held == intent.HoldTail {
				held.Held, held.Why = intent.HoldNone, ""
				w.MarkChanged(held)
			}
		}
	}
	return nil
}

// live replaces the record's entries by their present state in the outbox: they may have been sent since.
func (d *Log) live(tx *store.Tx, c *Record) error {
	fresh := func(e *intent.Entry) (*intent.Entry, error) {
		u, err := d.box.Find(tx, e.Seq)
		if err != nil || u == nil {
			return e, err
		}
		for _, have := range u.Entries {
			if have.Seq == e.Seq {
				return have, nil
			}
		}
		return e, nil
	}
	var err error
	for i := range c.Decided {
		if c.Decided[i].Entry, err = fresh(c.Decided[i].Entry); err != nil {
			return err
		}
	}
	for i := range c.Tail {
		if c.Tail[i], err = fresh(c.Tail[i]); err != nil {
			return err
		}
	}
	return nil
}
