package simcloud

import (
	"context"
	"sync"
	"time"
)

// Timer assigns instants to wake up at, and never the same nanosecond twice. In virtual time two goroutines that wake at the same instant
// run in an arbitrary order, so the same seed could give another trace.
type Timer struct {
	mu   sync.Mutex
	used map[int64]struct{}
}

// NewTimer returns a Timer.
func NewTimer() *Timer { return &Timer{used: map[int64]struct{}{}} }

// Span returns how long to wait until about d has passed, at an instant of its own.
func (t *Timer) Span(d time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now().UnixNano()
	if len(t.used) > 1<<12 {
		for at := range t.used {
			if at < now {
				delete(t.used, at)
			}
		}
	}
	at := now + int64(max(d, 1))
	for {
		if _, taken := t.used[at]; !taken {
			break
		}
		at++
	}
	t.used[at] = struct{}{}
	return time.Duration(at - now)
}

// Sleep waits for about d, or until ctx ends.
func (t *Timer) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(t.Span(d))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// After runs f after about d, on a goroutine of its own.
func (t *Timer) After(d time.Duration, f func()) { time.AfterFunc(t.Span(d), f) }
