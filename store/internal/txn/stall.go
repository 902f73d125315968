package txn

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// longTurn is how long a member may keep its turn without being reported.
const longTurn = 100 * time.Millisecond

// LongTurn is a transaction that kept others waiting.
type LongTurn struct {
	Context context.Context //nolint:containedctx // of the Update: it names the caller
	Held    time.Duration
	Over    bool // false: it is still running, and those that wait are being refused
}

func (c *committer) reportLong(m *member, held time.Duration, over bool) {
	if fn := c.s.LongTurns.Load(); fn != nil {
		(*fn)(LongTurn{Context: m.ctx, Held: held, Over: over})
	}
}

// hasTurn records that a member has its turn.
func (c *committer) hasTurn(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.holder = time.Now(), m
}

// hadTurn records that the turn is over.
func (c *committer) hadTurn() {
	c.mu.Lock()
	m, held := c.holder, time.Since(c.since)
	c.since, c.holder = time.Time{}, nil
	c.mu.Unlock()
	if held >= longTurn {
		c.s.Meter.longTurn()
		c.reportLong(m, held, true)
	}
}

// TurnDuration returns how long the current turn has lasted.
func (c *committer) TurnDuration() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.serving || c.since.IsZero() {
		return 0
	}
	return time.Since(c.since)
}

// watchStall starts or stops watching the turns of a commit.
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

// breakStall fails the waiting members while one keeps its turn too long. If one of them is an Update that the member itself has called,
// the member gets its error and ends; otherwise the callers learn that the store is stuck.
func (c *committer) breakStall() {
	limit := c.s.Opts.WriteStall
	if m, held := c.stalledMember(limit); m != nil {
		c.reportLong(m, held, false)
		c.refuseAll(fault.New(fault.Unavailable, "store_stalled",
			"another transaction has been running for %v; does it call Update itself?", limit))
	}
}

// stalledMember returns the member that has had its turn for at least limit, or nil. It resets the timer for the next check.
func (c *committer) stalledMember(limit time.Duration) (holder *member, had time.Duration) {
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
