package push

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/push/apns"
)

// AlarmStorm is the alarm for many rejected tokens at once.
const AlarmStorm = "token_storm"

// Alarm needs an operator. It stands until the process ends.
type Alarm struct {
	Reason string    `json:"reason"` // Apple's reason, or token_storm
	Count  int       `json:"count"`
	Since  time.Time `json:"since"`
	Last   time.Time `json:"last"`
	Advice string    `json:"advice"` // what is wrong and what to do, in plain words
}

// Status is the coordinator's status, for /statusz and the pages.
type Status struct {
	Paused  time.Time   `json:"pausedUntil,omitzero"` // no pushes before then: Apple blames this node
	Circuit string      `json:"circuit,omitempty"`    // of the pushes: closed, half-open or open
	Alarms  []Alarm     `json:"alarms"`               // latest first
	Matches []MatchView `json:"-"`                    // in play, by id
}

// Status returns the coordinator's status.
func (c *Coordinator) Status() Status {
	c.mu.Lock()
	out := Status{Alarms: slices.Collect(maps.Values(c.alarms)), Matches: slices.Collect(maps.Values(c.views))}
	c.mu.Unlock()
	out.Circuit, out.Paused = c.circuit.status()
	slices.SortFunc(out.Alarms, func(a, b Alarm) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Reason, b.Reason)) })
	slices.SortFunc(out.Matches, func(a, b MatchView) int { return cmp.Compare(a.MatchID, b.MatchID) })
	return out
}

// alarm raises an alarm, or counts it again.
func (c *Coordinator) alarm(reason string, n int) {
	c.metrics.alarms.WithLabelValues(reason).Add(float64(n))
	now := c.clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.alarms[reason]
	if !ok {
		a = Alarm{Reason: reason, Since: now, Advice: apns.Advice(reason)}
		if reason == AlarmStorm {
			a.Advice = apns.Advice("BadDeviceToken")
		}
	}
	a.Count += n
	a.Last = now
	c.alarms[reason] = a
}
