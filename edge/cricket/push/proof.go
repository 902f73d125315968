package push

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
)

// proofEvery is how often the state of a claim is checked.
const proofEvery = 500 * time.Millisecond

// Proofs reports the outcome of this node's writes. If two nodes find the same event, only one of them has its row in the cloud.
type Proofs interface {
	// ProofOf returns the state of the write with a journal sequence: the creation of an event's row. It makes no request. Refused
	// means that another node created the row, or that the outcome cannot be known: this node does not announce the event.
	ProofOf(ctx context.Context, seq uint64) (replica.Proof, error)
}

// waiting is an alert whose claim is not proved yet. It is stored in the match's row, so that a restart continues to wait.
type waiting struct {
	Seq   uint64 `dynamodbav:"seq"`   // of the journal record that created the event
	Key   string `dynamodbav:"key"`   // of the event
	Until int64  `dynamodbav:"until"` // epoch ms; if proved later, it shows only in the banner

	event *cricket.Event // nil: not read yet
}

// claimed records a new event with an alert. It is announced when its claim is proved: without a cloud, in this round.
func (c *Coordinator) claimed(m *match, seq uint64, e *cricket.Event, until time.Time) {
	m.dirty = true
	known := func(w waiting) bool { return w.Seq == seq } // read again after a crash
	if !slices.ContainsFunc(m.waiting, known) {
		m.waiting = append(m.waiting, waiting{Seq: seq, Key: e.Key, Until: until.UnixMilli(), event: e})
	}
}

// release queues an alert for sending. Numbers follow the order of release, which may differ from the journal's.
func (c *Coordinator) release(m *match, e *cricket.Event, w *waiting) {
	c.alerts++
	m.alerts = append(m.alerts, &alert{no: c.alerts, event: *e, from: c.clock.Now(), until: time.UnixMilli(w.Until), claim: *w})
	m.dirty = true
}

// prove checks the claims of a match. A pending claim delays neither other claims nor anything else.
func (c *Coordinator) prove(ctx context.Context, m *match, now time.Time) error {
	var still []waiting
	for i := range m.waiting {
		w := m.waiting[i]
		proof, err := c.proved(ctx, w.Seq)
		if err != nil {
			return err
		}
		if proof == replica.ProofPending {
			still = append(still, w)
			continue
		}
		if err := c.decideClaim(ctx, m, &w, proof, now); err != nil {
			return err
		}
	}
	m.waiting = still
	if len(still) > 0 {
		m.wake = earlier(m.wake, now.Add(proofEvery))
	}
	return nil
}

// proved returns the state of a claim. If the node no longer has a cloud, the claim stands.
func (c *Coordinator) proved(ctx context.Context, seq uint64) (replica.Proof, error) {
	if c.cfg.Proofs == nil {
		return replica.ProofApplied, nil
	}
	return c.cfg.Proofs.ProofOf(ctx, seq)
}

func (c *Coordinator) decideClaim(ctx context.Context, m *match, w *waiting, proof replica.Proof, now time.Time) error {
	if proof == replica.ProofRefused {
		c.claimCame("refused")
		return nil
	}
	if !now.Before(time.UnixMilli(w.Until)) {
		c.claimCame("late")
		return c.tooLate(ctx, m, w.Key)
	}
	c.claimCame("proved")
	e, err := c.eventOf(ctx, m.id, w)
	if err == nil && e != nil {
		c.release(m, e, w)
	}
	return err
}

// claimCame counts the outcome of a claim that had to be proved.
func (c *Coordinator) claimCame(outcome string) {
	if c.cfg.Proofs != nil {
		c.metrics.claims.WithLabelValues(outcome).Inc()
	}
}

// eventOf returns the event of a claim, nil if it was withdrawn meanwhile (and perhaps announced again under a claim of its own).
func (c *Coordinator) eventOf(ctx context.Context, matchID string, w *waiting) (e *cricket.Event, err error) {
	if w.event != nil {
		return w.event, nil
	}
	err = c.store.View(ctx, func(tx *store.Tx) error {
		item, err := tx.Get(tables.Events, attr.Item{"matchId": attr.S(matchID), "eventKey": attr.S(w.Key)})
		if err != nil || item == nil {
			return err
		}
		e = &cricket.Event{}
		return attr.Unmarshal(item, e)
	})
	if err == nil && e != nil && e.At.After(time.UnixMilli(w.Until).Add(time.Second-lifeOf(e))) {
		return nil, nil
	}
	return e, err
}

// sameWaiting reports whether two lists would be stored alike.
func sameWaiting(a, b []waiting) bool {
	return slices.EqualFunc(a, b, func(x, y waiting) bool { return x.Seq == y.Seq && x.Key == y.Key && x.Until == y.Until })
}
