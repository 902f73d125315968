package sportmonks

import (
	"time"

	"github.com/sony/gobreaker/v2"
)

// State is how an endpoint stands.
type State string

// The states of an endpoint.
const (
	StateClosed   State = "closed"    // it is asked
	StateOpen     State = "open"      // left alone after failures in a row
	StateHalfOpen State = "half-open" // the next reading is a trial
	StateRefused  State = "refused"   // left alone after 401 or 403
	StateResting  State = "resting"   // left alone because it asked for that, by 429 or 503
	StateBroke    State = "broke"     // its budget is used up, but perhaps for final states
)

// Health is what an operator should know of an endpoint.
type Health struct {
	State    State     `json:"state"`
	Until    time.Time `json:"until,omitzero"`      // nothing is asked before; zero: now
	Alarm    string    `json:"alarm,omitempty"`     // a person has to act: the token is refused. It stands until the endpoint answers well again
	AlarmAt  time.Time `json:"alarmSince,omitzero"` // when it was raised
	Calls    int64     `json:"calls"`               // attempts that left
	Failed   int64     `json:"failed"`              // readings without a good answer, those that were not asked left out
	GoodAt   time.Time `json:"lastGoodAt,omitzero"` // the last good answer, zero if there was none
	LastFail string    `json:"lastError,omitempty"` // what the last failure was; it stays
}

// Health reports how every endpoint stands.
func (c *Client) Health() map[Endpoint]Health {
	out := make(map[Endpoint]Health, len(c.endpoints))
	for name, e := range c.endpoints {
		out[name] = e.health()
	}
	return out
}

// RestsUntil returns until when an endpoint is left alone: the feed asks for it, fails, refuses us, or the calls of the hour are
// used up. Zero: it is asked, or not read.
func (c *Client) RestsUntil(name Endpoint) time.Time {
	e, ok := c.endpoints[name]
	if !ok {
		return time.Time{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	if until, _ := e.rests(now); until.After(now) {
		return until
	}
	return time.Time{}
}

func (e *endpoint) health() Health {
	trial := e.breaker.State() != gobreaker.StateClosed
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	h := Health{
		Alarm: e.alarm, AlarmAt: e.alarmAt,
		Calls: e.calls, Failed: e.failed, GoodAt: e.goodAt, LastFail: e.lastFail,
	}
	if h.Until, h.State = e.rests(now); h.State == "" {
		h.State = StateClosed
		if trial {
			h.State = StateHalfOpen
		}
	}
	return h
}

// rests returns until when the endpoint is left alone, and as what; empty: it is not.
func (e *endpoint) rests(now time.Time) (until time.Time, as State) {
	switch {
	case now.Before(e.until):
		return e.until, stateOf(e.why)
	case !e.budget.affords(now, false):
		return e.budget.next(now), StateBroke
	}
	return time.Time{}, ""
}

func stateOf(why *Error) State {
	switch why.Fault.Code {
	case CodeUnauthorized, CodeForbidden:
		return StateRefused
	case CodeResting:
		return StateOpen
	}
	return StateResting
}

// good and bad note how a reading ended.
func (e *endpoint) good() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.goodAt, e.alarm, e.alarmAt = e.now(), "", time.Time{}
}

func (e *endpoint) bad(err *Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failed++
	e.lastFail = err.Fault.Message
	switch err.Fault.Code {
	case CodeUnauthorized, CodeForbidden:
		if e.alarm == "" {
			e.alarmAt = e.now()
		}
		e.alarm = err.Fault.Message
	}
}
