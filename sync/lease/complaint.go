package lease

import (
	"sync"
	"time"
)

// complainEvery is how often it is told that leases are not renewed: with hundreds of them a table that fails would else
// fill the log, on the disk that may be what is full.
const complainEvery = time.Minute

// complaint reports the first of a row of failures, and the number of the rest once a minute.
type complaint struct {
	mu    sync.Mutex
	last  time.Time // it was told
	quiet int       // failures since that were not
}

// due reports whether a failure at now is to be told, and how many before it were not.
func (c *complaint) due(now time.Time) (untold int, due bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() && now.Sub(c.last) < complainEvery {
		c.quiet++
		return 0, false
	}
	untold = c.quiet
	c.last, c.quiet = now, 0
	return untold, true
}
