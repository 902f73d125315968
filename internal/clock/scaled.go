package clock

import (
	"context"
	"sync"
	"time"
)

// Scaled is a clock that stands until the first loop joins it, then runs a number of times as fast as the wall clock,
// and stands again once it is stopped.
type Scaled struct {
	speed float64

	mu      sync.Mutex
	base    time.Time // what it shows while it stands
	start   time.Time // when it began to run from base, with its monotonic reading
	running bool
	stopped bool // for good
}

// NewScaled makes a clock that stands at base.
func NewScaled(base time.Time, speed float64) *Scaled { return &Scaled{base: base.UTC(), speed: speed} }

// Now implements Clock.
func (c *Scaled) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Scaled) now() time.Time {
	if !c.running {
		return c.base
	}
	return c.base.Add(time.Duration(float64(time.Since(c.start)) * c.speed))
}

// Stop has the clock stand for good. Who waits for a later instant waits until their context ends.
func (c *Scaled) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.running, c.stopped = c.now(), false, true
}

// Wait implements Clock.
func (c *Scaled) Wait(ctx context.Context, until time.Time, sig *Signal) error {
	for {
		d, forever := c.left(until)
		signalled, err := wait(ctx, d, forever, sig)
		if err != nil || signalled || !until.After(c.Now()) {
			return err
		}
		// The clock has been stopped meanwhile, or the timer was a rounding error early.
	}
}

// left is how long to wait in real time.
func (c *Scaled) left(until time.Time) (d time.Duration, forever bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := until.Sub(c.now())
	if until.IsZero() || c.stopped && left > 0 {
		return 0, true
	}
	return time.Duration(float64(left) / c.speed), false
}

// Join implements Clock: the first one sets the clock going, and then it moves by itself, whoever is busy.
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
