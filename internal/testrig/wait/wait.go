// Package wait is how tests wait for what goes on outside their bubble: other processes, servers, goroutines in real time. A test waits
// for a condition, never for a span of time. What runs in one process is better tested in virtual time (testing/synctest).
package wait

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/testrig/hang"
)

const (
	// usual is after how long a wait has failed, on an idle machine. A node reads tables that it does not follow every thirty seconds, and
	// rows of two kinds may arrive one after the other.
	usual = 3 * time.Minute
	// fewest is how often a condition is tried before its wait has failed. A machine that became busy after its speed was measured gives
	// the test and what it waits for few turns, so the wait goes on.
	fewest = 1000
	// longest is how many times the limit passes before a wait has failed whatever was tried.
	longest = 4

	shortPause = time.Millisecond
	longPause  = 25 * time.Millisecond
)

// Test is the part of testing.TB that ends a test whose wait has failed.
type Test interface {
	// Helper is testing.TB.Helper.
	Helper()
	// Fatal is testing.TB.Fatal.
	Fatal(args ...any)
}

// Until waits until a condition holds. If it never does, the test ends, and says what it waited for, how long, and what each of last
// returns: the state last seen, such as a status or the end of a log.
func Until(t Test, what string, met func() bool, last ...func() any) {
	t.Helper()
	Within(t, 0, what, met, last...)
}

// Within is Until with a limit of its own: longer, because something takes long, such as a lease that must expire, or because time is
// virtual. 0 is the limit of Until.
func Within(t Test, limit time.Duration, what string, met func() bool, last ...func() any) {
	t.Helper()
	if err := Try(limit, what, met, last...); err != nil {
		t.Fatal(err)
	}
}

// Try is Within for rigs and goroutines, which cannot end the test: the error is what Within says.
func Try(limit time.Duration, what string, met func() bool, last ...func() any) error {
	w := begin(limit)
	for pause := shortPause; !met(); pause = min(pause*2, longPause) {
		if w.failed() {
			return errors.New(w.describe(what, last))
		}
		<-time.After(pause)
	}
	return nil
}

// Passing is Until for a test in a bubble of testing/synctest, where all time is the test's: pass lets some of it go by and waits until
// everything due by then is done. The wait has failed when the limit has passed in vain. How busy the machine is does not matter.
func Passing(t Test, limit time.Duration, pass func(), what string, met func() bool, last ...func() any) {
	t.Helper()
	w := &waiting{began: time.Now()}
	for ; !met(); pass() {
		if w.tries++; time.Since(w.began) >= limit {
			t.Fatal(w.describe(what, last))
			return
		}
	}
}

// Receive waits for the next value of a channel; ok is false if the channel is closed.
func Receive[T any](t Test, what string, from <-chan T, last ...func() any) (value T, ok bool) {
	t.Helper()
	for w := begin(0); ; {
		select {
		case value, ok = <-from:
			return value, ok
		case <-time.After(longPause):
		}
		if w.failed() {
			t.Fatal(w.describe(what, last))
			return value, false
		}
	}
}

// waiting is a wait that has begun.
type waiting struct {
	began time.Time
	limit time.Duration
	tries int
}

func begin(limit time.Duration) *waiting {
	if limit == 0 {
		limit = usual
	}
	return &waiting{began: time.Now(), limit: hang.Limit(limit)}
}

// failed counts a try in vain, and reports whether the wait is over.
func (w *waiting) failed() bool {
	w.tries++
	waited := time.Since(w.began)
	return waited > w.limit && w.tries >= fewest || waited > longest*w.limit
}

func (w *waiting) describe(what string, last []func() any) string {
	var text strings.Builder
	fmt.Fprintf(&text, "waited %s for this, and tried %d times: %s", time.Since(w.began).Round(time.Second), w.tries, what)
	for _, look := range last {
		fmt.Fprintf(&text, "\nlast seen: %+v", look())
	}
	return text.String()
}
