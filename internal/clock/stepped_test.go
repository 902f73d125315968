package clock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

func epoch() time.Time { return time.Date(2019, 7, 14, 10, 0, 0, 0, time.UTC) }

// Two loops with different periods are woken at their times, in order, however long their work takes.
func TestSteppedWakesInOrder(t *testing.T) {
	c := clock.NewStepped(epoch())
	var mu sync.Mutex
	var got []string
	var wg sync.WaitGroup
	starts := []func(){c.Join(), c.Join()}
	for i, period := range []time.Duration{3 * time.Second, 7 * time.Second} {
		wg.Go(func() {
			defer starts[i]()
			for range 4 {
				if err := clock.Sleep(t.Context(), c, period); err != nil {
					t.Error(err)
				}
				mu.Lock()
				got = append(got, fmt.Sprintf("%s@%d", period, int(c.Now().Sub(epoch()).Seconds())))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	want := []string{"3s@3", "3s@6", "7s@7", "3s@9", "3s@12", "7s@14", "7s@21", "7s@28"}
	if !slices.Equal(got, want) {
		t.Errorf("woken %v, want %v", got, want)
	}
}

// A signal set by a loop that then waits is handled before time moves.
func TestSteppedSignalHoldsTime(t *testing.T) {
	c := clock.NewStepped(epoch())
	sig := clock.NewSignal()
	leaveA, leaveB := c.Join(), c.Join()
	handled := make([]time.Time, 0, 1000)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() {
		defer leaveB()
		for c.Wait(ctx, time.Time{}, sig) == nil {
			handled = append(handled, c.Now())
		}
	})
	wg.Go(func() {
		defer leaveA()
		for range 1000 {
			_ = clock.Sleep(t.Context(), c, time.Second)
			sig.Set()
		}
		_ = clock.Sleep(t.Context(), c, time.Second)
		cancel()
	})
	wg.Wait()
	if len(handled) != 1000 {
		t.Fatalf("%d signals handled, want 1000", len(handled))
	}
	for i, at := range handled {
		if want := epoch().Add(time.Duration(i+1) * time.Second); !at.Equal(want) {
			t.Fatalf("signal %d handled at %s, want %s", i, at, want)
		}
	}
}

func TestScaledRunsFaster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.NewScaled(epoch(), 30)
		<-time.After(time.Hour) // costs nothing in the bubble
		if got := c.Now(); !got.Equal(epoch()) {
			t.Fatalf("the clock is at %s before the first loop", got)
		}
		defer c.Join()()
		start := time.Now()
		if err := clock.Sleep(t.Context(), c, time.Minute); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("a minute at 30x took %s, want 2s", took)
		}
		if got := c.Now().Sub(epoch()); got != time.Minute {
			t.Errorf("the clock moved %s, want 1m", got)
		}
	})
}

// A stopped clock stands still: it wakes nobody, only a signal or the end of the context does.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.NewScaled(epoch(), 30)
		defer c.Join()()
		time.AfterFunc(time.Second, c.Stop)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		if err := clock.Sleep(ctx, c, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a sleep across the stop ended with %v", err)
		}
		if took := time.Since(start); took != time.Hour {
			t.Errorf("it took %s", took)
		}
		if got := c.Now(); !got.Equal(epoch().Add(30 * time.Second)) {
			t.Errorf("the clock stands at %s", got)
		}
		sig := clock.NewSignal()
		sig.Set()
		if err := c.Wait(t.Context(), c.Now().Add(time.Minute), sig); err != nil {
			t.Errorf("a signal on a stopped clock: %v", err)
		}
	})
}

func TestWaitEnds(t *testing.T) {
	for name, c := range map[string]clock.Clock{
		"real":    clock.Real(),
		"scaled":  clock.NewScaled(epoch(), 1000),
		"stepped": clock.NewStepped(epoch()),
	} {
		t.Run(name, func(t *testing.T) {
			defer c.Join()()
			ctx, cancel := context.WithCancelCause(t.Context())
			cause := errors.New("enough")
			cancel(cause)
			if err := c.Wait(ctx, time.Time{}, nil); !errors.Is(err, cause) {
				t.Errorf("Wait on an ended context: %v, want its cause", err)
			}
			sig := clock.NewSignal()
			sig.Set()
			sig.Set()
			if err := c.Wait(t.Context(), time.Time{}, sig); err != nil {
				t.Errorf("Wait on a set signal: %v", err)
			}
			if err := c.Wait(t.Context(), c.Now().Add(-time.Second), sig); err != nil {
				t.Errorf("Wait for the past: %v", err)
			}
		})
	}
}
