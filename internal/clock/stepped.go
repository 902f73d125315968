package clock

import (
	"context"
	"sync"
	"time"
)

// Stepped is a clock that stands still while any joined loop works, and jumps to the earliest awaited instant when all of them wait. Time
// costs nothing, and a run is the same on any machine.
type Stepped struct {
	mu      sync.Mutex
	now     time.Time
	joined  int
	waiters map[*waiter]struct{}
}

type waiter struct {
	until time.Time
	sig   *Signal
	due   chan struct{}
}

// NewStepped returns a stepped clock that stands at now.
func NewStepped(now time.Time) *Stepped {
	return &Stepped{now: now.UTC(), waiters: map[*waiter]struct{}{}}
}

// Now implements Clock.
func (c *Stepped) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Wall implements Clock. It is the same time: nobody sets it.
func (c *Stepped) Wall() time.Time { return c.Now() }

// Join implements Clock.
func (c *Stepped) Join() (leave func()) {
	c.add(1)
	return sync.OnceFunc(func() { c.add(-1) })
}

// Suspend implements Clock.
func (c *Stepped) Suspend(f func()) {
	c.add(-1)
	defer c.add(1)
	f()
}

// Wait implements Clock.
func (c *Stepped) Wait(ctx context.Context, until time.Time, sig *Signal) error {
	w := &waiter{until: until, sig: sig, due: make(chan struct{})}
	if !c.enter(w) {
		return context.Cause(ctx)
	}
	defer c.exit(w)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-sig.C():
	case <-w.due:
	}
	return nil
}

// enter registers w unless its time has already come.
func (c *Stepped) enter(w *waiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !w.until.IsZero() && !w.until.After(c.now) {
		return false
	}
	c.waiters[w] = struct{}{}
	c.step()
	return true
}

// exit unregisters w before its signal is cleared: until then the set signal keeps the clock still.
func (c *Stepped) exit(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiters, w)
	if w.sig.isSet() {
		w.sig.Clear()
	}
}

func (c *Stepped) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.joined += n
	c.step()
}

// step moves the clock if no loop is working. The caller holds the lock.
func (c *Stepped) step() {
	if len(c.waiters) < c.joined {
		return
	}
	var next time.Time
	for w := range c.waiters {
		if w.sig.isSet() {
			return
		}
		if !w.until.IsZero() && (next.IsZero() || w.until.Before(next)) {
			next = w.until
		}
	}
	if next.IsZero() {
		return // all wait for external signals
	}
	c.now = next
	for w := range c.waiters {
		if !w.until.IsZero() && !w.until.After(next) {
			delete(c.waiters, w)
			close(w.due)
		}
	}
}
