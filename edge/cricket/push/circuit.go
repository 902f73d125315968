package push

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/internal/clock"
)

// When pushes are held back, and for how long.
const (
	tripAfter  = 50               // pushes in a row that failed
	tripFor    = 15 * time.Second // after them
	pauseAfter = time.Minute      // after an answer that blames this node
)

// circuit holds all pushes back for a while: after many in a row that failed, and after an answer that blames this node.
// Then it lets one go first, and the others once that has been answered. Its waits follow the injected clock, like all
// retries: in a replay at top speed they cost nothing.
type circuit struct {
	clock clock.Clock
	log   *slog.Logger
	after int // tripAfter

	mu     sync.Mutex
	run    int       // pushes in a row that failed
	turn   int       // counts openings: what is answered later says nothing about the present
	until  time.Time // no pushes before then
	blamed bool      // Apple blames this node
}

// deliver sends a push, unless pushes are held back.
func (c *Coordinator) deliver(ctx context.Context, p apns.Push) (res apns.Result, held bool) {
	turn, ok := c.circuit.enter()
	if !ok {
		return apns.Result{Action: apns.Retry, Reason: apns.ReasonCircuitOpen}, true
	}
	res = c.cfg.Sender.Send(ctx, p)
	if ctx.Err() == nil || res.Status != 0 { // otherwise the caller gave up, which says nothing about Apple
		c.circuit.leave(turn, &res)
	}
	return res, false
}

// enter asks to send a push; turn must be passed to leave with the answer.
func (b *circuit) enter() (turn int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.clock.Now().Before(b.until) {
		return 0, false
	}
	if b.run >= b.after {
		b.open(tripFor) // for all others
	}
	return b.turn, true
}

// leave records the answer to a push that enter allowed.
func (b *circuit) leave(turn int, res *apns.Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case res.Action == apns.Stop:
		b.run, b.blamed = b.after, true
		b.open(max(pauseAfter, res.RetryAfter))
	case turn != b.turn:
	case res.Action == apns.Retry || res.Action == apns.Reconnect:
		if b.run++; b.run >= b.after {
			b.open(tripFor)
		}
	default:
		b.run, b.blamed, b.until = 0, false, time.Time{}
	}
}

// open is called with the lock held. Many pushes that were under way may report one trouble; it is logged once.
func (b *circuit) open(wait time.Duration) {
	b.turn++
	until := later(b.until, b.clock.Now().Add(wait))
	if until.Sub(b.until) > time.Second {
		b.log.Warn("pushes are held back", "until", until, "settings", b.blamed)
	}
	b.until = until
}

// held returns until when pushes are held back, and whether then only one may go first.
func (b *circuit) held() (until time.Time, one bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until, b.run >= b.after
}

// status returns the state in the words of /statusz, and until when pushes are held back because Apple blames this node.
func (b *circuit) status() (state string, blamed time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	open := b.clock.Now().Before(b.until)
	switch {
	case open && b.blamed:
		return "open", b.until
	case open:
		return "open", time.Time{}
	case b.run >= b.after:
		return "half-open", time.Time{}
	}
	return "closed", time.Time{}
}
