package clock

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const (
	lookEvery = 2 * time.Second // how soon a jump is noticed
	leastJump = time.Second     // time servers that move a clock gradually change much less within lookEvery
	readApart = leastJump / 10  // readings of the clocks that took longer say nothing
)

// Jump is what happened to the clocks of a machine between two looks at them.
type Jump struct {
	At    time.Time     // the wall clock afterwards
	Set   time.Duration // how far the wall clock moved beyond the time that has passed: positive forward, negative back
	Slept time.Duration // how long the machine was suspended, where the system tells
}

// String says what happened, in words for an operator.
func (j Jump) String() string {
	switch {
	case j.Set == 0:
		return fmt.Sprintf("the machine was suspended for %s", j.Slept.Round(time.Second))
	case j.Set < 0:
		return fmt.Sprintf("the machine's clock was set back by %s", -j.Set.Round(time.Second))
	default:
		return fmt.Sprintf("the machine's clock went forward by %s: it was set, or the machine was stopped and resumed", j.Set.Round(time.Second))
	}
}

// hasJumped reports whether anything happened.
func (j Jump) hasJumped() bool { return j.Set != 0 || j.Slept != 0 }

// jumpBetween returns what happened to the clocks between two instants. Differences of less than leastJump are none.
func jumpBetween(before, after Instant) Jump {
	boot := after.Boot - before.Boot
	jump := Jump{
		At:    after.Wall,
		Set:   after.Wall.Sub(before.Wall) - boot,
		Slept: boot - (after.Mono - before.Mono),
	}
	if jump.Set.Abs() < leastJump {
		jump.Set = 0
	}
	if jump.Slept < leastJump {
		jump.Slept = 0
	}
	return jump
}

// Jumps notices when somebody sets the wall clock, and when the machine was suspended. A machine that was stopped and resumed with its
// memory looks like one whose clock was set forward. A nil *Jumps notices nothing.
type Jumps struct {
	times Times
	log   *slog.Logger

	mu     sync.Mutex
	last   Instant
	latest Jump
	number int // of jumps so far
	next   int // number of the next subscription
	calls  map[int]func(Jump)
}

// NewJumps returns a Jumps that compares the clocks from now on. Run or CheckClocks compares them.
func NewJumps(times Times, log *slog.Logger) *Jumps {
	return &Jumps{times: times, log: log, last: times.Now(), calls: map[int]func(Jump){}}
}

// Run looks at the clocks every two seconds until ctx ends.
func (j *Jumps) Run(ctx context.Context) {
	if j == nil {
		return
	}
	for Sleep(ctx, Real(), lookEvery) == nil {
		j.CheckClocks()
	}
}

// CheckClocks compares the clocks with the last check and reports what happened meanwhile, if anything. A jump is logged, and subscribers are
// called before CheckClocks returns. Use it before something that a resumed machine must not do; Run notices a jump two seconds later at most.
func (j *Jumps) CheckClocks() (jump Jump, jumped bool) {
	if j == nil {
		return Jump{}, false
	}
	jump, calls := j.compare()
	if !jump.hasJumped() {
		return Jump{}, false
	}
	j.log.Warn("clock: "+jump.String(), "set", jump.Set.String(), "suspended", jump.Slept.String())
	for _, call := range calls {
		call(jump)
	}
	return jump, true
}

// compare takes a jump into account and returns it with those who want to know.
func (j *Jumps) compare() (jump Jump, calls []func(Jump)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now, ok := j.readTogether()
	if !ok {
		return Jump{}, nil // the next look sees it
	}
	jump = jumpBetween(j.last, now)
	j.last = now
	if !jump.hasJumped() {
		return jump, nil
	}
	j.latest = jump
	j.number++
	for _, call := range j.calls {
		calls = append(calls, call)
	}
	return jump, calls
}

// readTogether reads the three clocks at one moment. If the process was held up between two of them, they would seem to have parted.
func (j *Jumps) readTogether() (now Instant, ok bool) {
	const tries = 5
	for range tries {
		now = j.times.Now()
		if j.times.Now().Mono-now.Mono < readApart {
			return now, true
		}
	}
	return now, false
}

// Latest returns the latest jump and how many there have been.
func (j *Jumps) Latest() (jump Jump, number int) {
	if j == nil {
		return Jump{}, 0
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.latest, j.number
}

// Subscribe has call called at each jump, until cancel is called. call must not block; a loop usually sets its Signal there.
func (j *Jumps) Subscribe(call func(Jump)) (cancel func()) {
	if j == nil {
		return func() {}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	number := j.next
	j.next++
	j.calls[number] = call
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.calls, number)
	}
}

// Waking returns c with waits that also return at a jump.
func Waking(c Clock, j *Jumps) Clock {
	if j == nil {
		return c
	}
	if already, ok := c.(waking); ok && already.jumps == j {
		return c
	}
	return waking{c, j}
}

type waking struct {
	Clock
	jumps *Jumps
}

// Wait implements Clock.
func (w waking) Wait(ctx context.Context, until time.Time, sig *Signal) error {
	if sig == nil {
		sig = NewSignal()
	}
	defer w.jumps.Subscribe(func(Jump) { sig.Set() })()
	return w.Clock.Wait(ctx, until, sig)
}
