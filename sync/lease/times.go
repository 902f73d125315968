package lease

import (
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// Instant is one moment on a machine's three clocks.
type Instant = clock.Instant

// Times reads the clocks. A lease is a promise to other machines, so production code uses the real clocks even where the rest
// of the node runs on another one; tests give every node its own.
//
// A pause between the three reads makes the clocks disagree. That can end a lease too early, never too late.
type Times = clock.Times

// RealTimes returns the machine's clocks.
func RealTimes() Times { return clock.RealTimes() }

// Term is the period for which a record written at Sent is promised to its holder.
type Term struct {
	Sent Instant // taken before the request left; the record may be that old
	TTL  time.Duration
}

// length is 0.7 TTL. Other nodes wait a whole TTL on clocks that may run at another rate; the holder stops earlier.
func (t Term) length() time.Duration { return t.TTL * 7 / 10 }

// Deadline returns the end of the term on the wall clock.
func (t Term) Deadline() time.Time { return t.Sent.Wall.Add(t.length()) }

// maxDisagreement is how far the wall clock and the monotonic clock may drift apart within one term. A larger difference means
// a step, a suspension or a restored machine, and then no clock can be trusted.
const maxDisagreement = time.Second

// Expired reports whether the term is over at now on any of the three clocks.
func (t Term) Expired(now Instant) bool {
	wall := now.Wall.Sub(t.Sent.Wall)
	mono := now.Mono - t.Sent.Mono
	boot := now.Boot - t.Sent.Boot
	return max(wall, mono, boot) >= t.length() || (wall-mono).Abs() >= maxDisagreement
}

// timeLeft returns how long the term still lasts if nothing unusual happens.
func (t Term) timeLeft(now Instant) time.Duration {
	return t.length() - max(now.Wall.Sub(t.Sent.Wall), now.Mono-t.Sent.Mono, now.Boot-t.Sent.Boot)
}
