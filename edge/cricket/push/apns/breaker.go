package apns

import (
	"log/slog"
	"sync"
	"time"
)

// States of the circuit.
const (
	circuitClosed   = "closed"
	circuitHalfOpen = "half-open"
	circuitOpen     = "open"
)

// outcome is what a push reports to the breaker.
type outcome uint8

const (
	worked  outcome = iota
	failed          // counts towards opening
	wrong           // retrying cannot help: open at once
	nothing         // the caller gave up: says nothing about Apple
)

// breaker stops all pushes for a while after a run of failures, then lets one at a time through until one
// succeeds. Its waits follow the injected clock, like all retries: in a replay at top speed they cost nothing.
type breaker struct {
	after uint32
	wait  time.Duration
	now   func() time.Time
	log   *slog.Logger

	mu     sync.Mutex
	state  string
	run    uint32 // consecutive failures
	turn   uint64 // number of state changes: answers from before the last one are ignored
	until  time.Time
	trying bool
}

func newBreaker(cfg *Config) *breaker {
	return &breaker{
		after: cfg.TripAfter, wait: cfg.TripDuration, now: cfg.Clock.Now, log: cfg.Logger, state: circuitClosed,
	}
}

// enter asks to send a push; turn must be passed to leave with the outcome.
func (b *breaker) enter() (turn uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look()
	switch {
	case b.state == circuitOpen || b.state == circuitHalfOpen && b.trying:
		return b.turn, false
	case b.state == circuitHalfOpen:
		b.trying = true
	}
	return b.turn, true
}

// leave records the outcome of a push that enter allowed.
func (b *breaker) leave(turn uint64, o outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if turn != b.turn {
		return
	}
	b.trying = false
	switch o {
	case worked:
		b.run = 0
		if b.state == circuitHalfOpen {
			b.become(circuitClosed)
		}
	case failed, wrong:
		b.run++
		if o == wrong || b.state == circuitHalfOpen || b.run >= b.after {
			b.until = b.now().Add(b.wait)
			b.become(circuitOpen)
		}
	case nothing:
	}
}

// look ends a wait that has passed. Called with the lock held.
func (b *breaker) look() {
	if b.state == circuitOpen && !b.now().Before(b.until) {
		b.become(circuitHalfOpen)
	}
}

// become changes the state. Called with the lock held.
func (b *breaker) become(state string) {
	b.log.Warn("push circuit", "from", b.state, "to", state)
	b.state, b.run, b.trying = state, 0, false
	b.turn++
}

// current returns the present state.
func (b *breaker) current() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look()
	return b.state
}
