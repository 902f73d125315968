package poll

import (
	"context"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// scoreDue is when the matches that are not watched closely are looked at, and when the list is read while none is.
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
		default: // about to start, or away from the list for a while
			every = min(every, scoreEvery)
		}
	}
	if every == idleEvery && len(p.watched) > 0 && p.allStumps() {
		every = stumpsEvery
	}
	return every
}

// scorePause is the pause of a match in the list. One that is watched closely is the marquee's.
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

// score looks at all live matches without their balls. While the marquee's poll has just brought them all, that answer
// serves.
func (p *Poller) score(ctx context.Context, now time.Time) error {
	if p.woken.Swap(false) || p.list == nil || len(p.closeOn()) == 0 || now.Sub(p.list.At) >= scoreEvery {
		balls := p.marqueeLeague() == 0 && p.listLength() <= closeMatches
		if err := p.readList(ctx, now, balls); err != nil {
			return err
		}
	}
	// A match that is watched closely waits for the answer that has its balls: the marquee's turn is at once.
	return p.takeList(ctx, now, func(w *watch) bool { return p.list.balls || !p.closely(w) })
}
