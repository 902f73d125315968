// Package backoff computes how long to wait before the next try: exponential with full jitter. The caller passes the random number, so
// that tests and simulations can repeat it, and waits on its own clock.
package backoff

import "time"

// Policy limits the waits. With a zero Floor, a retry may follow at once.
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
	// A shift that loses bits would wrap around to a short wait or none.
	if attempt < 62 && p.Base <= p.Max>>max(attempt, 0) {
		ceiling = p.Base << max(attempt, 0)
	}
	if ceiling <= p.Floor {
		return p.Floor
	}
	return p.Floor + time.Duration(random*float64(ceiling-p.Floor))
}

// Float converts random bits to a number in [0, 1).
func Float(rand func() uint64) float64 { return float64(rand()>>11) / (1 << 53) }

// WithJitter returns d changed by up to a tenth in either direction, so that nodes that started together do not stay in step.
func WithJitter(d time.Duration, rand func() uint64) time.Duration {
	tenth := int64(d / 10)
	return d - time.Duration(tenth) + time.Duration(rand()%uint64(2*tenth+1))
}
