package conflict

import (
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// NewRecord returns the record of a decision, before the decision is carried out.
func NewRecord(w *outbox.Work, u *outbox.Batch, o *intent.Outcome) (*Record, error) {
	c := &Record{Head: Head{Kind: kindOf(o), Code: string(o.Code), Text: o.Text, At: w.Env.Now}}
	for i, e := range u.Entries {
		d := Decided{Entry: e}
		if i < len(o.Met) {
			d.Met = o.Met[i]
		}
		it, err := w.Load(e.Table, e.Key)
		if err != nil {
			return nil, err
		}
		d.Base = it.Remote.Known.Item
		if d.Seen, err = w.ItemSeenBy(it, e); err != nil {
			return nil, err
		}
		c.Decided = append(c.Decided, d)
	}
	return c, nil
}

// kindOf returns an outcome's kind for the conflict log.
func kindOf(o *intent.Outcome) Kind {
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
	case intent.CodeFencedOff:
		return KindFencedOff
	case intent.CodeLost, intent.CodeRestored:
		return KindLost
	}
	return KindRefused
}

// Quarantine holds a batch that the cloud can never accept, and everything behind it. State does not wait for it.
func Quarantine(w *outbox.Work, held *outbox.Batch, o *intent.Outcome) (*Record, error) {
	c, err := NewRecord(w, held, o)
	if err != nil {
		return nil, err
	}
	hold := func(u *outbox.Batch, e *intent.Entry, why intent.Hold) error {
		if e.Held == intent.HoldNone {
			e.Held = why
		}
		w.MarkChanged(e)
		return u.Index(w.Tx, false)
	}
	c.Tail = intent.QueuedBehind(&held.Batch, w)
	for _, e := range held.Entries {
		if err := hold(held, e, intent.HoldPoison); err != nil {
			return nil, err
		}
	}
	for _, e := range c.Tail {
		if u := w.BySeq[e.Seq]; u != nil {
			if err := hold(u, e, intent.HoldTail); err != nil {
				return nil, err
			}
			w.Held = append(w.Held, u)
		}
	}
	w.Held = append(w.Held, held)
	return c, nil
}
