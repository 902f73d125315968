// Package clock gives the node one injected notion of time. Real time serves a venue, scaled time a demo that a
// person watches, stepped time a replay at top speed: there the clock jumps to the next instant at which anything
// can happen, as soon as every loop of the node waits for it.
//
// Rules never see a Clock: they get now as a value. Only loops do, and they wait in one way, Wait.
package clock

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock is what a loop needs of time.
type Clock interface {
	// Now is the present instant, in UTC.
	Now() time.Time
	// Wait blocks until the clock reaches until (the zero time: never), until sig is set (nil: never; a set
	// signal is cleared by the return), or until ctx ends, in which case it returns the context's cause.
	Wait(ctx context.Context, until time.Time, sig *Signal) error
	// Join announces a loop before its goroutine starts. A stepped clock moves only while every joined loop is
	// inside Wait, so a loop must not block for long on anything else, and only a joined loop may call Wait.
	// leave ends the membership.
	Join() (leave func())
	// Suspend runs f outside the membership of the calling loop: for a loop that blocks on others that joined.
	Suspend(f func())
}

// Sleep waits for a duration on c.
func Sleep(ctx context.Context, c Clock, d time.Duration) error {
	return c.Wait(ctx, c.Now().Add(d), nil)
}

// Real is the wall clock.
func Real() Clock { return &scaled{speed: 1, wall: true} }

// Scaled stands at base until the first loop joins it, and then runs speed times as fast as the wall clock.
func Scaled(base time.Time, speed float64) Clock {
	return &scaled{base: base.UTC(), speed: speed}
}

type scaled struct {
	base  time.Time
	speed float64
	wall  bool                      // follow the system's clock, steps and all
	start atomic.Pointer[time.Time] // with its monotonic reading; nil before the first loop
}

// Now implements Clock.
func (c *scaled) Now() time.Time {
	if c.wall {
		return time.Now().UTC()
	}
	start := c.start.Load()
	if start == nil {
		return c.base
	}
	return c.base.Add(time.Duration(float64(time.Since(*start)) * c.speed))
}

// Wait implements Clock.
func (c *scaled) Wait(ctx context.Context, until time.Time, sig *Signal) error {
	var due <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Duration(float64(until.Sub(c.Now())) / c.speed))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-sig.C():
		sig.Clear()
	case <-due:
	}
	return nil
}

// Join implements Clock: running time moves by itself, whoever is busy.
func (c *scaled) Join() (leave func()) {
	now := time.Now()
	c.start.CompareAndSwap(nil, &now)
	return func() {}
}

// Suspend implements Clock.
func (c *scaled) Suspend(f func()) { f() }
