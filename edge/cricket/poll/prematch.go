package poll

import (
	"context"
	"time"

	"github.com/touchline/touchline/edge/cricket"
)

// prematchEvery is how often a registered match is read for toss and line-ups. Before its first ball the live list does
// not have it.
const prematchEvery = time.Minute

// isPrematch reports whether a match is registered and has not begun.
func isPrematch(w *watch) bool { return !w.listed && w.state.Status == cricket.ActiveIdle }

// prematch reads the matches that are about to start.
func (p *Poller) prematch(ctx context.Context, now time.Time) error {
	return p.readAlone(ctx, now, isPrematch)
}
