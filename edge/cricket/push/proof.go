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

// proofEvery is how often it is asked what has become of a claim.
const proofEvery = 500 * time.Millisecond

// Proofs reports the outcome of this node's writes: of two nodes that find the same event, one has its row in the cloud.
type Proofs interface {
	// Proved is about the write with a sequence of the journal: the creation of an event's row. It asks nobody. Of one that is
	// refused, another node has created the row, or it cannot be known: nothing is told here.
	Proved(ctx context.Context, seq uint64) (replica.Proof, error)
}

// waiting is an alert whose claim is not proved yet. It is in the match's row, so that a restart goes on waiting.
type waiting struct {
	Seq   uint64 `dynamodbav:"seq"`   // of the journal record that created the event
	Key   string `dynamodbav:"key"`   // of the event
	Until int64  `dynamodbav:"until"` // epoch ms; proved later it is only in the banner

	event *cricket.Event // nil: not read yet
}

// claimed takes a new event with an alert: it is told when its claim is proved, without a cloud in this round.
func (c *Coordinator) claimed(m *match, seq uint64, e *cricket.Event, until time.Time) {
	m.dirty = true
	known := func(w waiting) bool { return w.Seq == seq } // read again after a crash
	if !slices.ContainsFunc(m.waiting, known) {
		m.waiting = append(m.waiting, waiting{Seq: seq, Key: e.Key, Until: until.UnixMilli(), event: e})
	}
}

// release has an alert told. The numbers rise in the order in which alerts are released, which need not be that of the
// journal.
func (c *Coordinator) release(m *match, e *cricket.Event, w *waiting) {
	c.alerts++
	m.alerts = append(m.alerts, &alert{no: c.alerts, event: *e, until: time.UnixMilli(w.Until), claim: *w})
	m.dirty = true
}

// prove looks what has become of the claims of a match. None waits for another, nor does anything else.
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

// proved asks what has become of a claim. Without a cloud, which there was when it was made, it stands.
func (c *Coordinator) proved(ctx context.Context, seq uint64) (replica.Proof, error) {
	if c.cfg.Proofs == nil {
		return replica.ProofApplied, nil
	}
	return c.cfg.Proofs.Proved(ctx, seq)
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

// claimCame counts what came of a claim that had to be proved.
func (c *Coordinator) claimCame(outcome string) {
	if c.cfg.Proofs != nil {
		c.metrics.claims.WithLabelValues(outcome).Inc()
	}
}

// eventOf returns the event of a claim, nil where it is gone: it was taken back meanwhile, and perhaps told anew under a
// claim of its own.
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

// sameWaiting compares what rows say.
func sameWaiting(a, b []waiting) bool {
	return slices.EqualFunc(a, b, func(x, y waiting) bool { return x.Seq == y.Seq && x.Key == y.Key && x.Until == y.Until })
}
