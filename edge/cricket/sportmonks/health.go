package sportmonks

import (
	"time"

	"github.com/sony/gobreaker/v2"
)

// State is the state of an endpoint.
type State string

// The states of an endpoint.
const (
	StateClosed   State = "closed"    // in use
	StateOpen     State = "open"      // resting after consecutive failures
	StateHalfOpen State = "half-open" // the next reading is a trial
	StateRefused  State = "refused"   // resting after 401 or 403
	StateResting  State = "resting"   // resting because the feed asked for it, with 429 or 503
	StateBroke    State = "broke"     // budget used up, except perhaps for final reads
)

// Health is an endpoint's state for operators.
type Health struct {
	State    State     `json:"state"`
	Until    time.Time `json:"until,omitzero"`      // no calls before then; zero: now
	Alarm    string    `json:"alarm,omitempty"`     // a person has to act: the token is refused. It stands until the endpoint answers well again
	AlarmAt  time.Time `json:"alarmSince,omitzero"` // when it was raised
	Calls    int64     `json:"calls"`               // attempts sent
	Failed   int64     `json:"failed"`              // failed readings, except those not sent
	GoodAt   time.Time `json:"lastGoodAt,omitzero"` // the last good answer, zero if none
	LastFail string    `json:"lastError,omitempty"` // the last failure; it is kept
}

// Health returns the state of every endpoint, with times for people.
func (c *Client) Health() map[Endpoint]Health {
	out := make(map[Endpoint]Health, len(c.endpoints))
	for name, e := range c.endpoints {
		out[name] = e.health()
	}
	return out
}

// RestsUntil returns until when an endpoint is resting: the feed asked for it, fails or refuses the token, or
// the hour's calls are used up. Zero: it may be called, or is not read. It is a time of loops.
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
		Alarm: e.alarm, AlarmAt: e.wallAt(e.alarmAt),
		Calls: e.calls, Failed: e.failed, GoodAt: e.wallAt(e.goodAt), LastFail: e.lastFail,
	}
	until, state := e.rests(now)
	h.Until, h.State = e.wallAt(until), state
	if h.State == "" {
		h.State = StateClosed
		if trial {
			h.State = StateHalfOpen
		}
	}
	return h
}

// rests returns until when the endpoint is resting, and in which state; empty if it is not.
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

// good and bad record how a reading ended.
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
