// Package clock provides the time of the node, injected into every loop. Real time is for a venue, scaled time for a demo with an
// audience, and stepped time for a replay at top speed: its clock jumps to the next instant at which anything can happen, as soon as
// every loop of the node waits for it.
//
// Rules never see a Clock: they get the time as a value. Only loops use one, and they wait in only one way, Wait.
package clock

import (
	"context"
	"time"
)

// Clock is the time as loops use it.
type Clock interface {
	// Now returns the current time, in UTC.
	Now() time.Time
	// Wait blocks until the clock reaches until (zero: no limit), until sig is set (nil: no signal; Wait clears a set signal), or until
	// ctx ends, in which case it returns the cause.
	Wait(ctx context.Context, until time.Time, sig *Signal) error
	// Join registers a loop before its goroutine starts. A stepped clock moves only while every joined loop is inside Wait, so a loop
	// must not block for long on anything else, and only joined loops may call Wait. leave unregisters the loop.
	Join() (leave func())
	// Suspend runs f as if the calling loop had left: for a loop that blocks on other joined loops.
	Suspend(f func())
}

// Sleep waits for a duration on c.
func Sleep(ctx context.Context, c Clock, d time.Duration) error {
	return c.Wait(ctx, c.Now().Add(d), nil)
}

// Real returns the wall clock.
func Real() Clock { return wall{} }

type wall struct{}

// Now implements Clock.
func (wall) Now() time.Time { return time.Now().UTC() }

// Wait implements Clock.
func (c wall) Wait(ctx context.Context, until time.Time, sig *Signal) error {
	_, err := wait(ctx, until.Sub(c.Now()), until.IsZero(), sig)
	return err
}

// Join implements Clock. It does nothing, because real time moves by itself.
func (wall) Join() (leave func()) { return func() {} }

// Suspend implements Clock.
func (wall) Suspend(f func()) { f() }

// wait waits in real time, for d or without limit.
func wait(ctx context.Context, d time.Duration, forever bool, sig *Signal) (signalled bool, err error) {
	var due <-chan time.Time
	if !forever {
		t := time.NewTimer(d)
		defer t.Stop()
		due = t.C
	}
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-sig.C():
		sig.Clear()
		return true, nil
	case <-due:
		return false, nil
	}
}
