package poll

import (
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// isStandIn reports whether a match is requested singly because the live list, where it is or would be, is
// resting: each endpoint has its own budget.
func (p *Poller) isStandIn(w *watch) bool {
	if w.cleaned || p.restsUntil(sportmonks.Livescores).IsZero() {
		return false
	}
	return w.listed || w.state.Status == cricket.ActiveLive && !hasLeft(w)
}

// readFrom returns the endpoint from which this node reads a match, and when it is next requested singly; "" if another node reads it.
func (p *Poller) readFrom(w *watch) (from sportmonks.Endpoint, next time.Time) {
	switch {
	case !p.isMine(w):
		return "", time.Time{}
	case w.listed && !p.isStandIn(w):
		return sportmonks.Livescores, time.Time{}
	}
	if next = p.nextAlone(w); next.Equal(never()) {
		next = time.Time{}
	}
	return sportmonks.Fixture, next
}
