// Package backoff says how long to wait before the next try: exponential with full jitter, the randomness given by
// the caller so that a test and a simulation can repeat it. Waiting is the caller's, on its own clock.
package backoff

import "time"

// Policy bounds the waits. A zero Floor means that a try may follow at once.
type Policy struct {
	Base  time.Duration // the ceiling of the first wait
	Max   time.Duration // the ceiling of every wait
	Floor time.Duration // no wait is shorter
}

// Delay returns the wait before try attempt+1, attempt counting from 0: uniform between Floor and the ceiling
// Base*2^attempt, at most Max. random is in [0, 1). Full jitter spreads clients that failed together better than a
// wait with a little jitter added to it.
func (p Policy) Delay(attempt int, random float64) time.Duration {
	ceiling := p.Max
	// A shift that loses bits would wrap round to a short wait, or to none.
	if attempt < 62 && p.Base <= p.Max>>max(attempt, 0) {
		ceiling = p.Base << max(attempt, 0)
	}
	if ceiling <= p.Floor {
		return p.Floor
	}
	return p.Floor + time.Duration(random*float64(ceiling-p.Floor))
}

// Float is a random number in [0, 1).
func Float(rand func() uint64) float64 { return float64(rand()>>11) / (1 << 53) }

// Jittered is a span with a tenth more or less, so that nodes that started together part.
func Jittered(d time.Duration, rand func() uint64) time.Duration {
	tenth := int64(d / 10)
	return d - time.Duration(tenth) + time.Duration(rand()%uint64(2*tenth+1))
}
