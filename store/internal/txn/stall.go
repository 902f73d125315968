package txn

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// longTurn is how long a member may have its turn without being named.
const longTurn = 100 * time.Millisecond

// LongTurn is a transaction that kept the others waiting.
type LongTurn struct {
	Context context.Context //nolint:containedctx // of the Update: it names the caller
	Held    time.Duration
	Over    bool // false: it still runs, and those who wait are being refused
}

func (c *committer) tellLong(m *member, held time.Duration, over bool) {
	if fn := c.s.LongTurns.Load(); fn != nil {
		(*fn)(LongTurn{Context: m.ctx, Held: held, Over: over})
	}
}

// hasTurn notes that a member has its turn.
func (c *committer) hasTurn(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.holder = time.Now(), m
}

// hadTurn notes that nobody has it any more.
func (c *committer) hadTurn() {
	c.mu.Lock()
	m, held := c.holder, time.Since(c.since)
	c.since, c.holder = time.Time{}, nil
	c.mu.Unlock()
	if held >= longTurn {
		c.s.Meter.longTurn()
		c.tellLong(m, held, true)
	}
}

// Held is how long the member that has the turn has had it.
func (c *committer) Held() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.serving || c.since.IsZero() {
		return 0
	}
	return time.Since(c.since)
}

// watchStall starts the watch over the members of a commit, and ends it.
func (c *committer) watchStall(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serving = on
	if on {
		c.stall.Reset(c.s.Opts.WriteStall)
	} else {
		c.stall.Stop()
	}
}

// breakStall fails those who wait while one member keeps its turn too long. If one of them is an Update that the
// member made itself, the member gets its error and ends; otherwise callers learn that the store is stuck.
func (c *committer) breakStall() {
	limit := c.s.Opts.WriteStall
	if m, held := c.stalled(limit); m != nil {
		c.tellLong(m, held, false)
		c.refuseAll(fault.New(fault.Unavailable, "store_stalled",
			"another transaction has been running for %v; does it call Update itself?", limit))
	}
}

// stalled returns a member that has had its turn for limit, nil: none has, and comes back when one may have.
func (c *committer) stalled(limit time.Duration) (holder *member, had time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.serving {
		return nil, 0
	}
	if !c.since.IsZero() {
		had = time.Since(c.since)
	}
	c.stall.Reset(max(limit-had, limit/4))
	if had < limit {
		return nil, had
	}
	return c.holder, had
}
