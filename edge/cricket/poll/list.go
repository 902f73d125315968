package poll

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// The pace of the live list. The feed's default plan of 2,000 calls an hour, less a tenth for final reads,
// allows a call every 2 s; 2.5 s makes 1,440 an hour. If less is left, intervals are stretched (see stretched).
const (
	marqueeEvery = 2500 * time.Millisecond // a closely watched match is in play
	scoreEvery   = 5 * time.Second         // other matches are, or one is about to start
	breakEvery   = 10 * time.Second        // all pause (between innings, for a meal, for rain), or are over and may change
	idleEvery    = 30 * time.Second        // no match is known to be on: finds unannounced ones
	stumpsEvery  = time.Minute             // all have closed for the day
)

// absentPolls is how many answers of the list may lack a live match before it is requested singly.
const absentPolls = 3

// closeMatches is the longest list for which all matches are requested with balls if there is no marquee league.
// A match with balls takes half a megabyte to three, too much to read for many matches every 2.5 s.
const closeMatches = 4

// closely reports whether a match is requested with balls: those of the marquee league or, if there is none, all
// matches while the list is short.
func (p *Poller) closely(w *watch) bool {
	if marquee := p.marqueeLeague(); marquee != 0 {
		return w.league == marquee
	}
	return p.listLength() <= closeMatches
}

// listLength returns the number of matches in the live list, as far as known.
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

// closeOn returns the closely watched matches in the list.
func (p *Poller) closeOn() (on []*watch) {
	for _, w := range p.watched {
		if w.listed && !w.cleaned && p.isMine(w) && p.closely(w) {
			on = append(on, w)
		}
	}
	return on
}

// readList requests the live list and notes which matches are in it.
func (p *Poller) readList(ctx context.Context, now time.Time, balls bool) error {
	p.noteCall(sportmonks.Livescores, now)
	r, err := p.Feed.Livescores(ctx, balls)
	p.countAnswer(now, r, err)
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
		w.left, w.final, w.gone, w.silent = time.Time{}, 0, time.Time{}, false
	}
	p.divide()
	for _, w := range p.watched {
		if w.listed && w.absent >= absentPolls {
			w.listed, w.left, w.final = false, now, 0
		}
	}
	return nil
}

// takeList takes the selected matches of the last answer.
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

// pause returns how long a match can wait for its next poll in its current phase; play is the pace during play.
func pause(w *watch, play time.Duration) time.Duration {
	st := w.standing()
	if len(st.Pending) > 0 || st.PreviousStatus == "" {
		return play
	}
	switch st.MatchPhase {
	case cricket.PhaseStumps:
		return stumpsEvery
	case cricket.PhaseInningsBreak, cricket.PhaseBreak, cricket.PhaseInterrupted, cricket.PhaseCompleted, cricket.PhaseAbandoned,
		cricket.PhasePostponed:
		return max(play, breakEvery)
	default:
		return play
	}
}
