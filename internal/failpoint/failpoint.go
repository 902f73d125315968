package failpoint

import (
	"flag"
	"os"
	"sync/atomic"
)

// armed is set by tests and nil in every other program. It is a package variable because the points are deep in code that knows nothing
// of tests, and because a child process to be killed has only one anyway.
var armed atomic.Pointer[func(Point) error] //nolint:gochecknoglobals // see above

// Hit marks a place where a process may die or be delayed. It does nothing unless a test has armed the points.
func Hit(p Point) {
	if fn := armed.Load(); fn != nil {
		_ = (*fn)(p) // Hit cannot fail
	}
}

// Fail marks a place that can also fail: the caller returns the error as if the previous step had.
func Fail(p Point) error {
	if fn := armed.Load(); fn != nil {
		return (*fn)(p)
	}
	return nil
}

// Arm makes every point call fn, on the goroutine that reaches it, until disarm is called. fn may return an error (which only Fail passes
// on), panic, wait, or call Kill. Only tests can arm points: in any other program Arm panics.
func Arm(fn func(Point) error) (disarm func()) {
	if flag.Lookup("test.v") == nil {
		panic("failpoint: Arm is for tests")
	}
	armed.Store(&fn)
	return func() { armed.CompareAndSwap(&fn, nil) }
}

// Kill ends the process as a power failure would: no deferred function runs, nothing is flushed. It does not return.
func Kill() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {} // the signal may take a moment
}

// On returns a function for Arm that runs action when p is reached for the nth time, counted from 1.
func On(p Point, nth int64, action func() error) func(Point) error {
	var count atomic.Int64
	return func(at Point) error {
		if at == p && count.Add(1) == nth {
			return action()
		}
		return nil
	}
}
