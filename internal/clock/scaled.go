package clock

import (
	"context"
	"sync"
	"time"
)

// Scaled is a clock that stands still until the first loop joins, then runs speed times as fast as the wall clock, and stands still again
// after Stop.
type Scaled struct {
	speed float64

	mu      sync.Mutex
	base    time.Time // the time while it stands
	start   time.Time // when it started to run from base, with a monotonic reading
	running bool
	stopped bool // for good
}

// NewScaled returns a clock that stands at base.
func NewScaled(base time.Time, speed float64) *Scaled { return &Scaled{base: base.UTC(), speed: speed} }

// Now implements Clock.
func (c *Scaled) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// Wall implements Clock. It is the same time: nobody sets it.
func (c *Scaled) Wall() time.Time { return c.Now() }

func (c *Scaled) now() time.Time {
	if !c.running {
		return c.base
	}
	return c.base.Add(time.Duration(float64(time.Since(c.start)) * c.speed))
}

// Stop stops the clock for good. Loops that wait for a later time wait until they are signalled or their context ends.
func (c *Scaled) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.running, c.stopped = c.now(), false, true
}

// Wait implements Clock.
func (c *Scaled) Wait(ctx context.Context, until time.Time, sig *Signal) error {
	for {
		d, forever := c.realTimeLeft(until)
		signalled, err := wait(ctx, d, forever, sig)
		if err != nil || signalled || !until.After(c.Now()) {
			return err
		}
		// The clock was stopped in the meantime, or the timer fired early by a rounding error.
	}
}

// realTimeLeft returns how long to wait in real time.
func (c *Scaled) realTimeLeft(until time.Time) (d time.Duration, forever bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := until.Sub(c.now())
	if until.IsZero() || c.stopped && left > 0 {
		return 0, true
	}
	return time.Duration(float64(left) / c.speed), false
}

// Join implements Clock. The first call starts the clock.
func (c *Scaled) Join() (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running && !c.stopped {
		c.start, c.running = time.Now(), true
	}
	return func() {}
}

// Suspend implements Clock.
func (c *Scaled) Suspend(f func()) { f() }
