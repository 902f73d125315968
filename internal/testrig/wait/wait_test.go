package wait

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// recorder is a test whose end is recorded.
type recorder struct{ fatal string }

func (r *recorder) Helper() {}

func (r *recorder) Fatal(args ...any) { r.fatal = fmt.Sprint(args...) }

func TestUntilEndsWithTheCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		Until(t, "a minute", func() bool { return time.Since(began) >= time.Minute })
		if waited := time.Since(began); waited > time.Minute+longPause {
			t.Errorf("it waited %v", waited)
		}
	})
}

// A wait that fails names what it waited for, for how long, and the state last seen.
func TestUntilSaysWhatItWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, tries := &recorder{}, 0
		never := func() bool { tries++; return false }
		Until(r, "the node is ready", never, func() any { return "offline" }, func() any { return 7 })
		want := fmt.Sprintf("waited 3m0s for this, and tried %d times: the node is ready\nlast seen: offline\nlast seen: 7", tries)
		if r.fatal != want {
			t.Errorf("got %q, want %q", r.fatal, want)
		}
	})
}

// A limit may be longer, where time is virtual.
func TestWithinHasALimitOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		Within(t, 2*time.Hour, "an hour", func() bool { return time.Since(began) >= time.Hour })
		r := &recorder{}
		Within(r, 2*time.Hour, "nothing", func() bool { return false })
		if err := Try(time.Hour, "nothing", func() bool { return false }); err == nil || !strings.HasPrefix(err.Error(), "waited 1h0m0s for this") {
			t.Error(err)
		}
		if err := Try(time.Hour, "at once", func() bool { return true }); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited < 4*time.Hour || waited > 4*time.Hour+time.Minute || r.fatal == "" {
			t.Errorf("it waited %v, and ended with %q", waited, r.fatal)
		}
	})
}

// In a bubble a wait goes on as the test lets time pass, and tries once each time. It fails by virtual time alone, and says how much.
func TestPassing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pass := func() { <-time.After(time.Second) }
		began := time.Now()
		Passing(t, time.Hour, pass, "a minute", func() bool { return time.Since(began) >= time.Minute })
		Passing(t, 0, pass, "what holds", func() bool { return true })
		if waited := time.Since(began); waited != time.Minute {
			t.Errorf("it waited %v", waited)
		}
		r, tries := &recorder{}, 0
		never := func() bool { tries++; return false }
		Passing(r, time.Hour, pass, "the node is ready", never, func() any { return "offline" })
		if want := "waited 1h0m0s for this, and tried 3601 times: the node is ready\nlast seen: offline"; r.fatal != want || tries != 3601 {
			t.Errorf("got %q after %d tries, want %q", r.fatal, tries, want)
		}
	})
}

func TestReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		values, r := make(chan int, 1), &recorder{}
		values <- 7
		if v, ok := Receive(t, "a value", values); v != 7 || !ok {
			t.Error(v, ok)
		}
		if _, ok := Receive(r, "another value", values, func() any { return "none" }); ok ||
			!strings.Contains(r.fatal, ": another value\nlast seen: none") {
			t.Error(ok, r.fatal)
		}
		close(values)
		if _, ok := Receive(t, "the end", values); ok {
			t.Error("a closed channel gave a value")
		}
	})
}

// On a machine that gives few turns a wait goes on, but not for ever.
func TestWaitGoesOnWhileThereAreFewTurns(t *testing.T) {
	for name, tt := range map[string]struct {
		waited time.Duration
		tries  int // before this one
		want   bool
	}{
		"in time":                 {usual, 10 * fewest, false},
		"late, with many tries":   {usual + 1, fewest - 1, true},
		"late, with few tries":    {usual + 1, fewest - 2, false},
		"much later, with few":    {longest*usual + 1, 0, true},
		"as late as it may be":    {longest * usual, 0, false},
		"in time, with few tries": {time.Second, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := begin(0)
			w.tries = tt.tries
			<-time.After(tt.waited)
			if got := w.failed(); got != tt.want {
				t.Errorf("%s: %v", name, got)
			}
		})
	}
}
