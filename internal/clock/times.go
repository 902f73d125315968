package clock

import "time"

// Instant is one moment on a machine's three clocks. No single one is enough: the wall clock steps, the monotonic clock
// stops while the machine is suspended, and CLOCK_BOOTTIME does not exist everywhere.
type Instant struct {
	Wall time.Time     // without a monotonic reading
	Mono time.Duration // since some moment in the life of the process
	Boot time.Duration // since some moment of this boot, including time suspended
}

// Times reads the clocks. Leases and Jumps use the real clocks even where the rest of the node runs on another one; tests give every
// node its own.
type Times interface {
	// Now reads all three clocks.
	Now() Instant
}

// RealTimes returns the machine's clocks.
func RealTimes() Times { return realTimes{start: time.Now()} }

type realTimes struct{ start time.Time }

// Now implements Times. A pause between the three reads makes the clocks disagree.
func (r realTimes) Now() Instant {
	now := time.Now()
	mono := now.Sub(r.start)
	boot, known := bootTime()
	if !known || inBubble(now) {
		boot = mono
	}
	return Instant{Wall: now.Round(0), Mono: mono, Boot: boot}
}

// processStart is where Now of the real clocks begins.
var processStart = readStart() //nolint:gochecknoglobals // one moment in the life of the process, which never changes

// start is a moment on the clocks from which Now of a real clock counts.
type start struct {
	at   time.Time     // with a monotonic reading
	boot time.Duration // CLOCK_BOOTTIME
	real bool          // whether the machine has CLOCK_BOOTTIME
}

func readStart() start {
	boot, known := bootTime()
	return start{at: time.Now(), boot: boot, real: known}
}

// inBubble reports whether a time was read in a bubble of testing/synctest, where times have no monotonic reading, and nothing is
// suspended or set.
func inBubble(now time.Time) bool {
	return now == now.Round(0) //nolint:staticcheck // == also compares the monotonic readings, which Round removes
}

// now returns the time of the start plus what has passed since. In a bubble that is the bubble's time.
func (s start) now() time.Time {
	now := time.Now()
	if inBubble(now) {
		return now.UTC()
	}
	passed := now.Sub(s.at)
	if boot, known := bootTime(); known && s.real {
		passed = boot - s.boot
	}
	return s.at.UTC().Add(passed)
}
