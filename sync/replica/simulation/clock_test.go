package simulation_test

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/sync/lease"
)

// now returns the machine's wall clock.
func (n *simNode) now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wall()
}

func (n *simNode) wall() time.Time {
	passed := time.Since(n.s.began)
	return n.s.began.Add(time.Duration(float64(passed)*n.rate) + n.offset).UTC()
}

// Now implements lease.Times.
func (n *simNode) Now() lease.Instant {
	n.mu.Lock()
	defer n.mu.Unlock()
	boot := time.Duration(float64(time.Since(n.s.began)) * n.rate)
	return lease.Instant{Wall: n.wall().Round(0), Mono: boot - n.slept, Boot: boot}
}

// gate blocks a goroutine of a paused machine.
func (n *simNode) gate() {
	for {
		n.mu.Lock()
		left := time.Until(n.paused)
		n.mu.Unlock()
		if left <= 0 {
			return
		}
		n.s.sleep(left)
	}
}

// stands reports whether the machine is paused.
func (n *simNode) stands() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Before(n.paused)
}

// pause stops the machine for a while from now on; a machine already paused stays paused at least as long. If it is suspended, its
// monotonic clock stands still for the time that this adds.
func (n *simNode) pause(d time.Duration, suspended bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	until, from := time.Now().Add(d), time.Now()
	if from.Before(n.paused) {
		from = n.paused
	}
	if !until.After(from) {
		return
	}
	n.paused = until
	if suspended {
		n.slept += until.Sub(from)
	}
}

// setClock sets how far the machine's wall clock is ahead of true time; ahead returns it.
func (n *simNode) setClock(ahead time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.offset = ahead
}

func (n *simNode) ahead() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.offset
}

// simClock is the clock of one process. The order of two things that could wake it is never left to chance.
type simClock struct{ l *simLife }

// Now implements clock.Clock. A step of the wall clock does not move it.
func (c simClock) Now() time.Time { return c.l.now() }

// Wall implements clock.Clock.
func (c simClock) Wall() time.Time { return c.l.n.now() }

// writes is the store's clock, which is read when a transaction begins. As in a node, it is corrected by the cloud's.
func (l *simLife) writes() time.Time {
	l.n.s.writer.Store(l)
	return l.n.now().Add(l.link.Skew() + l.n.fast)
}

// simApart is how far the time of loops is behind true time: code that takes it for the wall clock's fails.
const simApart = 1000 * time.Hour

func (l *simLife) now() time.Time {
	passed := time.Since(l.n.s.began)
	return l.n.s.began.Add(time.Duration(float64(passed)*l.n.rate) - simApart).UTC()
}

// Wait implements clock.Clock.
func (c simClock) Wait(ctx context.Context, until time.Time, sig *clock.Signal) error {
	defer c.l.n.gate()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if sig != nil {
		c.order(sig)
	}
	woken := sig.C()
	if woken != nil {
		select {
		case <-woken:
			return c.turn(ctx, sig)
		default:
		}
	}
	var due <-chan time.Time
	if !until.IsZero() {
		left := until.Sub(c.Now())
		if left <= 0 {
			return nil
		}
		timer := time.NewTimer(c.l.n.s.timer.Span(time.Duration(float64(left) / c.l.n.rate)))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-woken:
		return c.turn(ctx, sig)
	case <-due:
	}
	return nil
}

// turn waits for the turn of a signalled loop: several may have been signalled at once, and each continues at a time of its own.
func (c simClock) turn(ctx context.Context, sig *clock.Signal) error {
	no := c.order(sig)
	err := c.l.n.s.timer.Sleep(ctx, time.Duration(no)*time.Microsecond+time.Duration(c.l.n.no)*time.Nanosecond)
	sig.Clear()
	return err
}

func (c simClock) order(sig *clock.Signal) int {
	c.l.turnsMu.Lock()
	defer c.l.turnsMu.Unlock()
	no, ok := c.l.turns[sig]
	if !ok {
		no = len(c.l.turns) + 1
		c.l.turns[sig] = no
	}
	return no
}

// Join implements clock.Clock. Loops begin one after the other, each at a time of its own.
func (c simClock) Join() (leave func()) {
	c.l.n.s.sleep(time.Microsecond)
	return func() {}
}

// Suspend implements clock.Clock.
func (simClock) Suspend(f func()) { f() }
