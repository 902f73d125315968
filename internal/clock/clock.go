// Package clock provides the time of the node, injected into every loop. Real time is for a venue, scaled time for a demo with an
// audience, and stepped time for a replay at top speed: its clock jumps to the next instant at which anything can happen, as soon as
// every loop of the node waits for it.
//
// Rules never see a Clock: they get the time as a value. Only loops use one, and they wait in only one way, Wait.
//
// # Two times
//
// People and time servers set the wall clock of a machine, by hours and both ways. So a clock has two times, which are never mixed:
//
//   - Now is the time of loops. Nobody can set it, and it counts while the machine is suspended. A duration, a deadline, an age or a
//     pause is a difference of two values of Now, and Wait waits for one. Now is not stored, sent or shown: after the wall clock was
//     set it is wrong for people, and after a restart of the process it begins anew.
//   - Wall is the time for people and for other machines. What is stored, sent or shown is a value of Wall, and what comes from a row, a
//     request, a feed or a token is compared only with Wall. The difference of two readings of Wall is not how long something took.
//
// NowAt and WallAt convert between them: a loop that waits for a stored time waits until NowAt of it, and a page that shows when a loop
// last ran shows WallAt of that. A conversion is good until the wall clock is set. Jumps notices that and wakes the waiting loops
// (Waking), which then convert anew: so a loop converts before each wait, and keeps the stored time.
//
// A store's transaction has only one time, Tx.Now, which is Wall. A deadline of a connection or a context is given as a duration, or as
// Wall plus a duration, because the standard library compares it with the wall clock at once. internal/archtest finds values of Now that
// are written down (steady_test.go); it cannot find all of them.
package clock

import (
	"context"
	"time"
)

// Clock is the time as loops use it.
type Clock interface {
	// Now returns the time of loops, in UTC and without a monotonic reading: values can be compared by == and truncated.
	Now() time.Time
	// Wall returns what the wall clock shows, in UTC and without a monotonic reading.
	Wall() time.Time
	// Wait blocks until Now reaches until (zero: no limit), until sig is set (nil: no signal; Wait clears a set signal), or until ctx
	// ends, in which case it returns the cause. It may return earlier: after a jump of the wall clock, see Waking.
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

// NowAt returns the value of Now at which the wall clock will show wall if nobody sets it. The zero time stays zero.
func NowAt(c Clock, wall time.Time) time.Time {
	if wall.IsZero() {
		return wall
	}
	return c.Now().Add(wall.Sub(c.Wall()))
}

// WallAt returns what the wall clock, as it is set at present, showed or will show when Now is now. The zero time stays zero.
func WallAt(c Clock, now time.Time) time.Time {
	if now.IsZero() {
		return now
	}
	return c.Wall().Add(now.Sub(c.Now()))
}

// WasSet reports whether a clock that shows this time can have been set. A machine without a battery starts in 1970, and the age of what
// it writes before it learns the time is unknown.
func WasSet(wall time.Time) bool { return wall.Year() >= 2000 }

// Real returns the clock of the machine.
func Real() Clock { return machine{} }

type machine struct{}

// Now implements Clock. It is the wall clock's time at the start of the process, plus the time that has passed since. So all real clocks
// of a process agree.
func (machine) Now() time.Time { return processStart.now() }

// Wall implements Clock.
func (machine) Wall() time.Time { return time.Now().UTC() }

// Wait implements Clock.
func (c machine) Wait(ctx context.Context, until time.Time, sig *Signal) error {
	_, err := wait(ctx, until.Sub(c.Now()), until.IsZero(), sig)
	return err
}

// Join implements Clock. It does nothing, because real time moves by itself.
func (machine) Join() (leave func()) { return func() {} }

// Suspend implements Clock.
func (machine) Suspend(f func()) { f() }

// wait waits in real time, for d or without limit. The timers of Go stand still while the machine is suspended.
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

// ByWall returns a clock whose Now is c's wall clock, for a loop most of whose times are stored ones. Such a loop must look after its own
// pauses and deadlines: when the wall clock is set, its waits return early (Waking), and it has to move them by as much.
func ByWall(c Clock) Clock { return byWall{c} }

type byWall struct{ Clock }

// Now implements Clock.
func (b byWall) Now() time.Time { return b.Wall() }

// Wait implements Clock.
func (b byWall) Wait(ctx context.Context, until time.Time, sig *Signal) error {
	return b.Clock.Wait(ctx, NowAt(b.Clock, until), sig)
}
