package push

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/store"
)

// owed lists the claims to store in the match's row for the next process: those not proved yet, and those of alerts that a
// phone waits for and no push can have delivered. That a claim is no longer owed is committed before the first push of its
// alert.
func (m *match) owed() []waiting {
	out := slices.Clip(m.waiting)
	for _, a := range m.alerts {
		if m.untold(a) {
			out = append(out, a.claim)
		}
	}
	return out
}

// untold reports whether a phone waits for an alert that no push can have delivered.
func (m *match) untold(a *alert) bool {
	if a.left > 0 {
		return false
	}
	if s := m.broadcasting(); s != nil && s.told < a.no {
		return true
	}
	for _, s := range m.sessions {
		if s.row.Status == phone.SessionActive && s.row.UpdateToken != "" && s.told < a.no || m.waitsOrdinarily(s, a) {
			return true
		}
	}
	for _, s := range m.cardless {
		if m.waitsOrdinarily(s, a) {
			return true
		}
	}
	return false
}

// recordUndelivered notes that the alert of a push was not delivered after all.
func (j *job) recordUndelivered() {
	if j.alert != nil && j.push.ID != "" { // it was built
		j.alert.left--
	}
}

// came reports whether a push arrived or may have.
func (j *job) came() bool {
	return !j.skip && (j.result.Action == apns.Accepted || j.result.Maybe)
}

// expire drops alerts that are too old. If nobody got one, its event is marked stale.
func (c *Coordinator) expire(ctx context.Context, m *match, now time.Time) error {
	for len(m.alerts) > 0 {
		i := slices.IndexFunc(m.alerts, func(a *alert) bool { return !now.Before(a.until) })
		if i < 0 {
			break
		}
		if a := m.alerts[i]; m.untold(a) {
			if err := c.tooLate(ctx, m, a.event.Key); err != nil {
				return err
			}
		}
		m.alerts = slices.Delete(m.alerts, i, i+1)
	}
	for _, a := range m.alerts {
		if m.untold(a) {
			m.wake = earlier(m.wake, a.until)
		}
	}
	return nil
}

// tooLate marks an event as stale: nobody will be notified of it.
func (c *Coordinator) tooLate(ctx context.Context, m *match, key string) error {
	err := c.store.Update(ctx, func(tx *store.Tx) error { return matches.DropAlert(tx, m.id, key, cricket.StaleRule) })
	if err == nil {
		c.metrics.late.Inc()
		c.log.Warn("an alert was too old to be sent", "match", m.id, "event", key)
	}
	return err
}

// decided reports whether the stored row has a claim that is no longer owed.
func (m *match) decided() bool {
	owed := m.owed()
	return slices.ContainsFunc(m.kept.Waiting, func(w waiting) bool {
		return !slices.ContainsFunc(owed, func(still waiting) bool { return still.Seq == w.Seq })
	})
}
