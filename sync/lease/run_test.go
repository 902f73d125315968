package lease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// goTimes is the clocks of a synctest bubble, in which a machine is never suspended.
type goTimes struct{ start time.Time }

func (g goTimes) Now() Instant {
	now := time.Now()
	return Instant{Wall: now.Round(0), Mono: now.Sub(g.start), Boot: now.Sub(g.start)}
}

// slow is a table with latency: it answers after delay, unless it is cut off.
type slow struct {
	Table
	mu    sync.Mutex
	delay time.Duration
	cut   bool
	asked []time.Time // when updates were sent
	limit []time.Duration
}

func (s *slow) Update(ctx context.Context, c Change) (Record, error) {
	s.mu.Lock()
	delay, cut := s.delay, s.cut
	s.asked = append(s.asked, time.Now())
	if end, ok := ctx.Deadline(); ok {
		s.limit = append(s.limit, time.Until(end))
	}
	s.mu.Unlock()
	if cut {
		<-ctx.Done()
		return Record{}, ctx.Err()
	}
	select {
	case <-ctx.Done():
		return Record{}, ctx.Err()
	case <-time.After(delay):
	}
	return s.Table.Update(ctx, c)
}

func (s *slow) set(delay time.Duration, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay, s.cut = delay, cut
}

func (s *slow) sent() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// running starts a manager in a bubble.
func running(t *testing.T, log *slog.Logger) (m *Manager, table *slow, stop func()) {
	t.Helper()
	table = &slow{Table: Local(newWorld(t).store, locks), delay: 100 * time.Millisecond}
	m, err := New(Config{Table: table, Node: "a", Boot: "b1", Times: goTimes{time.Now()}, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	return m, table, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func sleep(d time.Duration) { <-time.After(d) }

func TestRunRenews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, table, stop := running(t, nil)
		began := time.Now()
		l, err := m.Acquire(t.Context(), match)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := l.Context(t.Context())
		defer cancel()
		sleep(time.Minute)
		if ctx.Err() != nil || l.Check() != nil {
			t.Errorf("the lease ended: %v", context.Cause(ctx))
		}
		sent := table.sent()
		if len(sent) != 19 { // one to acquire, then one every third of ten seconds
			t.Errorf("%d requests in a minute", len(sent))
		}
		for i := 1; i < len(sent); i++ {
			if d := sent[i].Sub(sent[i-1]); d != ttl/3 {
				t.Errorf("renewal %d after %v", i, d)
			}
		}
		for _, limit := range table.limit {
			if limit != ttl/6 {
				t.Errorf("a request had %v", limit)
			}
		}
		if want := sent[len(sent)-1].Add(7 * time.Second); !l.Deadline().Equal(want) {
			t.Errorf("deadline %v, want %v", l.Deadline().Sub(began), want.Sub(began))
		}
		stop()
		r, _, err := table.Get(t.Context(), match)
		if err != nil || !r.IsReleased() || ctx.Err() == nil {
			t.Errorf("after the end: %+v, %v, work %v", r, err, ctx.Err())
		}
		if _, err := m.Acquire(t.Context(), match); !fault.Is(err, fault.Unavailable) {
			t.Errorf("acquired after the end: %v", err)
		}
	})
}

// Cut off from the table, work ends at the deadline, not when a request returns.
func TestRunCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		m, table, stop := running(t, slog.New(slog.NewTextHandler(&logged, nil)))
		l, err := m.Acquire(t.Context(), match)
		if err != nil {
			t.Fatal(err)
		}
		sleep(4 * time.Second) // renewed at 3.33 s
		table.set(0, true)
		ctx, cancel := l.Context(t.Context())
		defer cancel()
		<-ctx.Done()
		sent := table.sent()
		if worked := time.Since(sent[1]); worked != 7*time.Second {
			t.Errorf("worked for %v after the last renewal that was answered", worked)
		}
		if _, lost := errors.AsType[*LostError](context.Cause(ctx)); !lost || l.Check() == nil {
			t.Errorf("ended with %v", context.Cause(ctx))
		}
		if retries := len(sent) - 2; retries < 2 {
			t.Errorf("%d tries before the deadline", retries)
		}
		table.set(0, false)
		sleep(time.Minute)
		if l.Check() == nil {
			t.Error("the lease came back to life")
		}
		second, err := m.Acquire(t.Context(), match)
		if err != nil || second.Fence() <= l.Fence() {
			t.Errorf("again: %v", err)
		}
		stop()
		if !strings.Contains(logged.String(), "was not renewed") || !strings.Contains(logged.String(), "is over") {
			t.Errorf("log: %s", logged.String())
		}
	})
}

// A lease survives a short outage.
func TestRunBlip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, table, stop := running(t, nil)
		defer stop()
		l, err := m.Acquire(t.Context(), match)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			sleep(3 * time.Second)
			table.set(0, true)
			sleep(3 * time.Second)
			table.set(0, false)
			sleep(6 * time.Second)
			if l.Check() != nil {
				t.Fatal(l.Check())
			}
		}
	})
}

// Many leases renew in parallel: one that hangs delays no other.
func TestRunMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, table, stop := running(t, nil)
		defer stop()
		table.set(time.Second, false)
		var leases []*Lease
		for _, key := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
			l, err := m.Acquire(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			leases = append(leases, l)
		}
		sleep(time.Minute)
		for _, l := range leases {
			if l.Check() != nil {
				t.Error(l.Check())
			}
		}
	})
}

// Two nodes hand a lock over: the second waits for its term to end, and never works beside the first.
func TestRunHandover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, table, stop := running(t, nil)
		other, err := New(Config{Table: table.Table, Node: "b", Boot: "b1", Times: goTimes{time.Now()}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := m.Acquire(t.Context(), match)
		if err != nil {
			t.Fatal(err)
		}
		sleep(30 * time.Second)
		table.set(0, true)
		began := time.Now()
		for {
			second, err := other.Acquire(t.Context(), match)
			if err == nil {
				if l.Err() == nil || second.Fence() <= l.Fence() {
					t.Errorf("two at once, or fence %d after %d", second.Fence(), l.Fence())
				}
				break
			}
			held, ok := errors.AsType[*HeldError](err)
			if !ok {
				t.Fatal(err)
			}
			sleep(min(held.Retry, time.Second))
		}
		if waited := time.Since(began); waited > 12*time.Second {
			t.Errorf("taken over after %v", waited)
		}
		stop()
	})
}

// Hundreds of leases that keep failing are logged as one line, and after a minute as one more with their number.
func TestRunComplainsOnce(t *testing.T) {
	// The race detector of Go 1.26 breaks where two processors run many timers of a bubble at one instant (golang/go 78156).
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		m, table, stop := running(t, slog.New(slog.NewTextHandler(&logged, nil)))
		defer stop()
		lose := func() (lines int) {
			table.set(0, false)
			for i := range 50 {
				if _, err := m.Acquire(t.Context(), fmt.Sprint("match:", i)); err != nil {
					t.Fatal(err)
				}
			}
			table.set(0, true)
			sleep(2 * ttl) // all leases are over
			synctest.Wait()
			return strings.Count(logged.String(), "was not renewed")
		}
		if lines := lose(); lines != 1 {
			t.Errorf("%d lines of the first failures", lines)
		}
		sleep(complainEvery)
		if lines := lose(); lines != 2 {
			t.Errorf("%d lines after a minute", lines)
		}
	})
}

// A node that cannot do the work its locks are for releases them, and takes none until it can.
func TestRunUnfit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, table, stop := running(t, nil)
		var unfit atomic.Bool
		m.fit = func() error {
			if unfit.Load() {
				return fault.New(fault.Unavailable, "unfit", "it cannot write")
			}
			return nil
		}
		l, err := m.Acquire(t.Context(), match)
		if err != nil {
			t.Fatal(err)
		}
		sleep(time.Minute)
		unfit.Store(true)
		sleep(ttl / 3)
		r, _, err := table.Get(t.Context(), match)
		if l.Check() == nil || err != nil || !r.IsReleased() {
			t.Errorf("a third of the TTL later the lock is %+v (%v), the lease %v", r, err, l.Err())
		}
		_, err = m.Acquire(t.Context(), match)
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != "unfit" {
			t.Errorf("an unfit node takes the lock: %v", err)
		}
		unfit.Store(false)
		if _, err := m.Acquire(t.Context(), match); err != nil {
			t.Errorf("fit again: %v", err)
		}
		stop()
	})
}
