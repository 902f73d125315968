package store

import (
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// hasTurn notes since when a member has had its turn; the zero time: nobody has it.
func (c *committer) hasTurn(since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = since
}

// watchStall starts the watch over the members of a commit, and ends it.
func (c *committer) watchStall(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serving = on
	if on {
		c.stall.Reset(c.s.opts.WriteStall)
	} else {
		c.stall.Stop()
	}
}

// breakStall fails those who wait while one member keeps its turn too long. If one of them is an Update that the
// member made itself, the member gets its error and ends; otherwise callers learn that the store is stuck.
func (c *committer) breakStall() {
	if limit := c.s.opts.WriteStall; c.stalled(limit) {
		c.refuseAll(fault.New(fault.Unavailable, "store_stalled",
			"another transaction has been running for %v; does it call Update itself?", limit))
	}
}

// stalled tells whether a member has had its turn for limit, and comes back when one may have.
func (c *committer) stalled(limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.serving {
		return false
	}
	var had time.Duration
	if !c.since.IsZero() {
		had = time.Since(c.since)
	}
	c.stall.Reset(max(limit-had, limit/4))
	return had >= limit
}
