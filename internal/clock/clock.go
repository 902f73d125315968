// Package clock gives the node one injected notion of time. Real time serves a venue, scaled time a demo that a
// person watches, stepped time a replay at top speed: there the clock jumps to the next instant at which anything
// can happen, as soon as every loop of the node waits for it.
//
// Rules never see a Clock: they get now as a value. Only loops do, and they wait in one way, Wait.
package clock

import (
	"context"
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
func Real() Clock { return wall{} }

type wall struct{}

// Now implements Clock.
func (wall) Now() time.Time { return time.Now().UTC() }

// Wait implements Clock.
func (c wall) Wait(ctx context.Context, until time.Time, sig *Signal) error {
	_, err := wait(ctx, until.Sub(c.Now()), until.IsZero(), sig)
	return err
}

// Join implements Clock: real time moves by itself, whoever is busy.
func (wall) Join() (leave func()) { return func() {} }

// Suspend implements Clock.
func (wall) Suspend(f func()) { f() }

// wait waits in real time, for ever or for a while.
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
