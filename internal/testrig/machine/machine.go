// Package machine provides the clocks of a machine whose wall clock tests set.
package machine

import (
	"context"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// apart is how far the time of loops is behind the wall clock of a machine that is right: code that takes a value of one for a value of
// the other fails at once.
const apart = 1000 * time.Hour

// Clock is a clock and the three clocks of its machine.
type Clock struct {
	clock.Clock
	began time.Time

	mu    sync.Mutex
	ahead time.Duration
}

// New returns the clocks of a machine that is right: the wall clock of c.
func New(c clock.Clock) *Clock { return &Clock{Clock: c, began: c.Now()} }

// Set sets how far the wall clock is ahead of true time.
func (c *Clock) Set(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
}

// Now implements clock.Clock.
func (c *Clock) Now() time.Time { return c.Clock.Now().Add(-apart) }

// Wait implements clock.Clock.
func (c *Clock) Wait(ctx context.Context, until time.Time, sig *clock.Signal) error {
	if !until.IsZero() {
		until = until.Add(apart)
	}
	return c.Clock.Wait(ctx, until, sig)
}

// Wall implements clock.Clock.
func (c *Clock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Clock.Wall().Add(c.ahead)
}

// Times returns the machine's three clocks, for leases and clock.Jumps.
func (c *Clock) Times() clock.Times { return times{c} }

type times struct{ machine *Clock }

// Now implements clock.Times.
func (t times) Now() clock.Instant {
	passed := t.machine.Clock.Now().Sub(t.machine.began)
	return clock.Instant{Wall: t.machine.Wall(), Mono: passed, Boot: passed}
}
