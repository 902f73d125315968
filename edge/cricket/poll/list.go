package poll

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// The pace of the live list. With the feed's default plan of 2,000 calls an hour less the tenth for final reads, a call
// every 2 s is the most; 2.5 s is 1,440 an hour. Where less is left, the intervals stretch (see pace).
const (
	marqueeEvery = 2500 * time.Millisecond // a match that is watched closely is in play
	scoreEvery   = 5 * time.Second         // others are, or one is about to start
	breakEvery   = 10 * time.Second        // all pause: between innings, for a meal, for rain; or are over and may change
	idleEvery    = 30 * time.Second        // nothing is known to be on: matches that nobody announced are found so
	stumpsEvery  = time.Minute             // all have closed for the day
)

// absentPolls is how many answers of the list may miss a live match before it is asked for by itself.
const absentPolls = 3

// closeMatches is how many matches the list may have for all of them to be asked for with their balls, where no league
// is the marquee. A match with its balls is half a megabyte to three; more than a few are no body to read every 2.5 s.
const closeMatches = 4

// closely reports whether a match is asked for with its balls: one of the marquee league, and where there is none, every
// match while the list is short.
func (p *Poller) closely(w *watch) bool {
	if marquee := p.marqueeLeague(); marquee != 0 {
		return w.league == marquee
	}
	return p.listLength() <= closeMatches
}

// listLength is how many matches the live list has, as far as is known.
func (p *Poller) listLength() int {
	if p.list != nil {
		return len(p.list.Snapshots)
	}
	n := 0
	for _, w := range p.watched {
		if w.listed {
			n++
		}
	}
	return n
}

// closeOn returns the matches in the list that are watched closely.
func (p *Poller) closeOn() (on []*watch) {
	for _, w := range p.watched {
		if w.listed && !w.cleaned && p.isMine(w) && p.closely(w) {
			on = append(on, w)
		}
	}
	return on
}

// readList asks for the live list and notes who is in it.
func (p *Poller) readList(ctx context.Context, now time.Time, balls bool) error {
	p.called(sportmonks.Livescores, now)
	r, err := p.Feed.Livescores(ctx, balls)
	p.note(now, r, err)
	if err != nil {
		return err
	}
	request := "list"
	if balls {
		request = "list with balls"
	}
	p.list = p.newReading(request, balls, r)
	for _, w := range p.watched {
		w.absent++
	}
	for i := range r.Snapshots {
		s := &r.Snapshots[i]
		w := p.watched[s.MatchID]
		if w == nil {
			if p.ended[s.MatchID] || !p.isActive(s) {
				continue
			}
			w = p.watchOf(s.MatchID)
		}
		w.absent, w.listed, w.league = 0, true, s.League.ID
		w.left, w.final, w.gone = time.Time{}, 0, time.Time{}
	}
	p.divide()
	for _, w := range p.watched {
		if w.listed && w.absent >= absentPolls {
			w.listed, w.left, w.final = false, now, 0
		}
	}
	return nil
}

// takeList takes the matches of the last answer that which selects.
func (p *Poller) takeList(ctx context.Context, now time.Time, which func(*watch) bool) error {
	var errs []error
	for i := range p.list.Snapshots {
		s := &p.list.Snapshots[i]
		if w := p.watched[s.MatchID]; w != nil && which(w) {
			errs = append(errs, p.take(ctx, w, s, p.list, now))
		}
	}
	return errors.Join(errs...)
}

// pause is how long a match can be left alone by how it stands, given the pace of play.
func pause(w *watch, play time.Duration) time.Duration {
	st := w.standing()
	if len(st.Pending) > 0 || st.PreviousStatus == "" {
		return play
	}
	switch st.MatchPhase {
	case cricket.PhaseStumps:
		return stumpsEvery
	case cricket.PhaseInningsBreak, cricket.PhaseBreak, cricket.PhaseInterrupted, cricket.PhaseCompleted, cricket.PhaseAbandoned:
		return max(play, breakEvery)
	default:
		return play
	}
}
