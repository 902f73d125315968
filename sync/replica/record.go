package replica

import (
	"github.com/touchline/touchline/sync/replica/intent"
)

// record makes the record of a decision, before anything of it is done.
func (r *Replica) record(w *work, f *flight) (*Conflict, error) {
	o := &f.outcome
	c := &Conflict{Kind: kindOf(o), Code: string(o.Code), Text: o.Text, At: w.env.Now}
	for i, e := range f.Entries {
		d := Decided{Entry: e}
		if i < len(o.Met) {
			d.Met = o.Met[i]
		}
		it, err := w.item(e.Table, e.Key)
		if err != nil {
			return nil, err
		}
		d.Base = it.sh.known.Item
		w.tx.ShowExpired()
		if d.View, err = w.tx.Get(e.Table, e.Key); err != nil {
			return nil, err
		}
		c.Decided = append(c.Decided, d)
	}
	return c, nil
}

// kindOf sorts an outcome for the conflict log.
func kindOf(o *intent.Outcome) ConflictKind {
	if o.Result == intent.OutQuarantine {
		return KindQuarantine
	}
	if o.Result == intent.OutSuperseded {
		return KindSuperseded
	}
	switch o.Code {
	case intent.CodeGone, intent.CodeDeleted:
		return KindGone
	case intent.CodeUnknown, intent.CodeOverwritten, intent.CodeHalf:
		return KindUnknown
	case intent.CodeDeposed:
		return KindDeposed
	case intent.CodeLost, intent.CodeRestored:
		return KindLost
	}
	return KindRefused
}

// quarantine holds a unit that the cloud can never take, and everything behind it. State does not wait for it.
func (r *Replica) quarantine(w *work, f *flight) ([]*Conflict, error) {
	c, err := r.record(w, f)
	if err != nil {
		return nil, err
	}
	hold := func(u *unit, e *intent.Entry, why intent.Hold) error {
		if e.Held == intent.HoldNone {
			e.Held = why
		}
		w.changed(e)
		return u.index(w.tx, false)
	}
	c.Tail = intent.Behind(&f.Unit, w)
	for _, e := range f.Entries {
		if err := hold(f.unit, e, intent.HoldPoison); err != nil {
			return nil, err
		}
	}
	for _, e := range c.Tail {
		if u := w.bySeq[e.Seq]; u != nil {
			if err := hold(u, e, intent.HoldTail); err != nil {
				return nil, err
			}
			w.held = append(w.held, u)
		}
	}
	w.held = append(w.held, f.unit)
	return []*Conflict{c}, w.err
}
