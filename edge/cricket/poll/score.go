package poll

import (
	"context"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// scoreDue returns when the matches that are not closely watched are polled next, and the list if there are none.
func (p *Poller) scoreDue(last time.Time) (time.Time, bool) {
	if p.woken.Load() {
		return time.Time{}, true
	}
	return p.due(sportmonks.Livescores, last, p.scorePace(), 1), true
}

func (p *Poller) scorePace() time.Duration {
	every := idleEvery
	for _, w := range p.watched {
		switch {
		case w.state.Status == cricket.ActiveEnded, !p.isMine(w):
		case w.listed:
			every = min(every, p.scorePause(w))
		default: // about to start, or missing from the list for a while
			every = min(every, scoreEvery)
		}
	}
	if every == idleEvery && len(p.watched) > 0 && p.allStumps() {
		every = stumpsEvery
	}
	return every
}

// scorePause returns the pause of a match in the list. Closely watched ones are left to marquee.
func (p *Poller) scorePause(w *watch) time.Duration {
	if p.closely(w) {
		return idleEvery
	}
	return pause(w, scoreEvery)
}

func (p *Poller) allStumps() bool {
	for _, w := range p.watched {
		if w.state.MatchPhase != cricket.PhaseStumps {
			return false
		}
	}
	return true
}

// score polls all live matches without balls. If marquee has just read them all, its answer is used.
func (p *Poller) score(ctx context.Context, now time.Time) error {
	if p.woken.Swap(false) || p.list == nil || len(p.closeOn()) == 0 || now.Sub(p.list.At) >= scoreEvery {
		balls := p.marqueeLeague() == 0 && p.listLength() <= closeMatches
		if err := p.readList(ctx, now, balls); err != nil {
			return err
		}
	}
	// A closely watched match waits for the answer with its balls: marquee runs at once.
	return p.takeList(ctx, now, func(w *watch) bool { return p.list.balls || !p.closely(w) })
}
