package poll

import (
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// isStandIn reports whether a match is read by itself because the live list, which has it or would have it, is left alone:
// each endpoint has a budget of its own.
func (p *Poller) isStandIn(w *watch) bool {
	if w.cleaned || p.restsUntil(sportmonks.Livescores).IsZero() {
		return false
	}
	return w.listed || w.state.Status == cricket.ActiveLive && !hasLeft(w)
}

// readFrom returns the endpoint that this node reads a match from, and when it is read next by itself; none: another node
// reads it.
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
