package lease

import (
	"sync"
	"time"
)

// complainEvery limits how often failed renewals are logged. With hundreds of leases a failing table would otherwise fill the
// log, on a disk that may itself be what is full.
const complainEvery = time.Minute

// complaint logs the first of a series of failures at once, then the number of further ones once a minute.
type complaint struct {
	mu    sync.Mutex
	last  time.Time // when a failure was last logged
	quiet int       // failures since then that were not logged
}

// due reports whether a failure at now should be logged, and how many earlier ones were not.
func (c *complaint) due(now time.Time) (suppressed int, due bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() && now.Sub(c.last) < complainEvery {
		c.quiet++
		return 0, false
	}
	suppressed = c.quiet
	c.last, c.quiet = now, 0
	return suppressed, true
}
