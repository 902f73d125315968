package apns

import (
	"log/slog"
	"sync"
	"time"
)

// The states of a circuit.
const (
	circuitClosed   = "closed"
	circuitHalfOpen = "half-open"
	circuitOpen     = "open"
)

// outcome is what a push that was let through tells the breaker.
type outcome uint8

const (
	worked  outcome = iota
	failed          // one of a run
	wrong           // nothing will get better by trying: open at once
	nothing         // the caller gave up: no word on Apple
)

// breaker lets nothing through after a run of failures, for a while by the node's clock, then one push at a time until
// one works. Its waits follow the injected clock as all retries do: in a replay at top speed they cost nothing.
type breaker struct {
	after uint32
	wait  time.Duration
	now   func() time.Time
	log   *slog.Logger

	mu     sync.Mutex
	state  string
	run    uint32 // failures in a row
	turn   uint64 // changes of state: an answer from before the last one counts for nothing
	until  time.Time
	trying bool
}

func newBreaker(cfg *Config) *breaker {
	return &breaker{
		after: cfg.TripAfter, wait: cfg.TripDuration, now: cfg.Clock.Now, log: cfg.Logger, state: circuitClosed,
	}
}

// enter asks to send; turn is to be given back with the outcome.
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

// leave notes the outcome of a push that was let through.
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

// look lets a wait end. Called with the lock held.
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

// current is the state now.
func (b *breaker) current() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look()
	return b.state
}
