package clock_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// machine is a machine's three clocks, which tests move.
type machine struct {
	mu  sync.Mutex
	set time.Duration // how far the wall clock was set
	off time.Duration // how long it was suspended
}

func (m *machine) Now() clock.Instant {
	m.mu.Lock()
	defer m.mu.Unlock()
	passed := time.Since(epoch())
	return clock.Instant{Wall: time.Now().Add(m.set).Round(0), Mono: passed - m.off, Boot: passed}
}

func (m *machine) change(set, off time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set += set
	m.off += off
}

func TestJumpsNotices(t *testing.T) {
	tests := []struct {
		name     string
		set, off time.Duration
		want     string // the line in the log; empty: none
	}{
		{"nothing", 0, 0, ""},
		{"less than a second", 900 * time.Millisecond, 0, ""},
		{"back", -10 * time.Minute, 0, "the machine's clock was set back by 10m0s"},
		{"forward", 6 * time.Hour, 0, "the machine's clock went forward by 6h0m0s: it was set, or the machine was stopped and resumed"},
		{"suspended", 0, 8 * time.Hour, "the machine was suspended for 8h0m0s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				m := &machine{}
				j := clock.NewJumps(m, slog.New(slog.NewTextHandler(&log, nil)))
				ctx, cancel := context.WithCancel(t.Context())
				var ran sync.WaitGroup
				ran.Go(func() { j.Run(ctx) })
				called := 0
				stop := j.Subscribe(func(clock.Jump) { called++ })
				<-time.After(10 * time.Second)
				m.change(tt.set, tt.off)
				<-time.After(time.Minute)
				stop()
				m.change(tt.set, tt.off)
				<-time.After(time.Minute)
				cancel()
				ran.Wait()
				want := 0
				if tt.want != "" {
					want = 1
				}
				if lines := strings.Count(log.String(), tt.want); tt.want != "" && lines != 2 || tt.want == "" && log.Len() > 0 {
					t.Errorf("logged\n%swant %q for each of two jumps", &log, tt.want)
				}
				if _, number := j.Latest(); number != 2*want {
					t.Errorf("%d jumps counted, want %d", number, 2*want)
				}
				if called != want {
					t.Errorf("the subscriber was called %d times, want %d: at the jump before it left", called, want)
				}
			})
		})
	}
}

// A loop that waits for a time of the wall clock is woken by a jump and waits for the rest.
func TestJumpWakesWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{}
		j := clock.NewJumps(m, slog.New(slog.DiscardHandler))
		c := clock.Waking(wallOf{clock.Real(), m}, j)
		began, alarm := c.Now(), c.Wall().Add(time.Hour)
		var rang sync.WaitGroup
		woken := 0
		rang.Go(func() {
			for c.Wall().Before(alarm) {
				if err := c.Wait(t.Context(), clock.NowAt(c, alarm), nil); err != nil {
					t.Error(err)
				}
				woken++
			}
		})
		synctest.Wait()
		m.change(50*time.Minute, 0)
		if jump, jumped := j.CheckClocks(); !jumped || jump.Set != 50*time.Minute {
			t.Errorf("noticed %v, %v", jump, jumped)
		}
		rang.Wait()
		if took := c.Now().Sub(began); took != 10*time.Minute || woken != 2 {
			t.Errorf("the alarm rang after %s, woken %d times; want 10m0s and 2", took, woken)
		}
	})
}

// wallOf is a real clock with the wall clock of a machine.
type wallOf struct {
	clock.Clock
	m *machine
}

func (w wallOf) Wall() time.Time { return w.m.Now().Wall }

// A signal still wakes a loop that a jump could wake, and is cleared.
func TestWakingKeepsSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := clock.NewJumps(&machine{}, slog.New(slog.DiscardHandler))
		c, sig := clock.Waking(clock.Real(), j), clock.NewSignal()
		began := time.Now()
		sig.Set()
		for range 2 {
			if err := c.Wait(t.Context(), c.Now().Add(time.Minute), sig); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("two waits took %s, want 1m0s: the first at once", took)
		}
	})
}

// Conversions between the two times are inverse to each other and keep the zero time, which means none.
func TestConversions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{set: -3 * time.Hour}
		c := wallOf{clock.Real(), m}
		wall := c.Wall().Add(time.Minute)
		if at := clock.NowAt(c, wall); !at.Equal(c.Now().Add(time.Minute)) || !clock.WallAt(c, at).Equal(wall) {
			t.Errorf("%s by the wall clock is %s for loops, and that is %s by the wall clock", wall, at, clock.WallAt(c, at))
		}
		if !clock.NowAt(c, time.Time{}).IsZero() || !clock.WallAt(c, time.Time{}).IsZero() {
			t.Error("the zero time became another one")
		}
	})
}

// Outside a bubble the real clocks run with the machine's, and all agree.
func TestRealClocksAgree(t *testing.T) {
	before, a, b, after := time.Now(), clock.Real().Now(), clock.Real().Now(), time.Now()
	if a.After(b) || b.Sub(a) > after.Sub(before) {
		t.Errorf("two real clocks show %s and %s", a, b)
	}
	if apart := clock.Real().Wall().Sub(b).Abs(); apart > time.Minute {
		t.Errorf("the wall clock is %s from the time of loops, shortly after the start", apart)
	}
}
