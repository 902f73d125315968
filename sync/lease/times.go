package lease

import "time"

// Instant is one moment on the three clocks of a machine. None of them is enough alone: the wall clock steps, the
// monotonic clock stands still while the machine is suspended, and CLOCK_BOOTTIME does not exist everywhere.
type Instant struct {
	Wall time.Time     // without its monotonic reading
	Mono time.Duration // since some moment in the life of the process
	Boot time.Duration // since some moment of this boot, suspension included
}

// Times reads the clocks. A lease is a promise to other machines, so production reads real ones, whatever clock
// the rest of the node runs on; tests give every node clocks of its own.
type Times interface {
	// Now reads all three clocks.
	Now() Instant
}

// RealTimes are the machine's clocks.
func RealTimes() Times { return realTimes{start: time.Now()} }

type realTimes struct{ start time.Time }

// Now implements Times. A pause between the three readings makes them disagree, which ends a lease too early and
// never too late.
func (r realTimes) Now() Instant {
	now := time.Now()
	mono := now.Sub(r.start)
	return Instant{Wall: now.Round(0), Mono: mono, Boot: bootTime(mono)}
}

// Term is the time for which a record that was written at Sent is promised to its holder.
type Term struct {
	Sent Instant // before the request left: the record may be as old as that
	TTL  time.Duration
}

// The others wait for a whole TTL, on a clock that may run differently. The holder stops before.
func (t Term) length() time.Duration { return t.TTL * 7 / 10 }

// Deadline is the end of the term on the wall clock.
func (t Term) Deadline() time.Time { return t.Sent.Wall.Add(t.length()) }

// maxDisagreement is how far wall and monotonic clock may drift apart within one term. A larger difference is a step,
// a suspension or a restored machine, and no clock is to be believed then.
const maxDisagreement = time.Second

// Expired reports whether the term is over at now, on any of the three clocks.
func (t Term) Expired(now Instant) bool {
	wall := now.Wall.Sub(t.Sent.Wall)
	mono := now.Mono - t.Sent.Mono
	boot := now.Boot - t.Sent.Boot
	return max(wall, mono, boot) >= t.length() || (wall-mono).Abs() >= maxDisagreement
}

// left is how long the term lasts if nothing unusual happens.
func (t Term) left(now Instant) time.Duration {
	return t.length() - max(now.Wall.Sub(t.Sent.Wall), now.Mono-t.Sent.Mono, now.Boot-t.Sent.Boot)
}
