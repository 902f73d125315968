package poll

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/fault"
)

// aloneTimeout bounds the request for a single match, in real time: the live list must not wait for it.
const aloneTimeout = 5 * time.Second

// prematchEvery is how often a registered match is requested for toss and line-ups. Before the first ball it is not in the live list.
const prematchEvery = time.Minute

// isPrematch reports whether a match is registered and has not begun.
func isPrematch(w *watch) bool { return !w.listed && w.state.Status == cricket.ActiveIdle }

func aloneRequest(id string) string { return "fixture " + id }

// aloneDue returns the due of a job that requests matches singly: the earliest time among those that isFor selects.
func (p *Poller) aloneDue(isFor func(*watch) bool) func(time.Time) (time.Time, bool) {
	return func(time.Time) (time.Time, bool) {
		next := never()
		for _, w := range p.watched {
			if at := p.nextAlone(w); isFor(w) && at.Before(next) {
				next = at
			}
		}
		return next, next.Before(never())
	}
}

// nextAlone returns when a match outside the live list is requested next.
func (p *Poller) nextAlone(w *watch) time.Time {
	switch now := p.Clock.Now(); {
	case !p.isMine(w):
		return never()
	case !p.mayTake(w, now):
		return w.tick.since.Add(takeoverAfter) // it belongs to the other node until then
	}
	switch {
	case p.isStandIn(w):
		return p.due(sportmonks.Fixture, latest(w.asked, w.seen), pause(w, followEvery), p.alone())
	case isPrematch(w):
		return p.due(sportmonks.Fixture, w.asked, prematchEvery, p.alone())
	case w.state.FinishedAt.IsZero() && w.state.Status != cricket.ActiveEnded:
		return p.due(sportmonks.Fixture, w.asked, pause(w, followEvery), p.alone())
	default:
		return p.nextFinal(w)
	}
}

// alone returns how many matches are requested singly.
func (p *Poller) alone() (n int) {
	for _, w := range p.watched {
		if (!w.listed || p.isStandIn(w)) && p.isMine(w) {
			n++
		}
	}
	return n
}

// readAlone returns the run of a job that requests matches singly: those that isFor selects and that are due.
func (p *Poller) readAlone(isFor func(*watch) bool) run {
	return func(ctx context.Context, now time.Time) error {
		var errs []error
		for _, w := range p.sorted() {
			if isFor(w) && !now.Before(p.nextAlone(w)) && p.mayTake(w, now) {
				errs = append(errs, p.readOne(ctx, w, now))
			}
		}
		return errors.Join(errs...)
	}
}

// readOne requests a single match and takes the answer. It requests balls if the match had them while it was in
// the list: without them the answer would contradict the last overs.
func (p *Poller) readOne(ctx context.Context, w *watch, now time.Time) error {
	w.asked = now
	p.noteCall(sportmonks.Fixture, now)
	balls := !isPrematch(w) && (w.state.PreviousBallID != 0 || w.listed && p.closely(w))
	final := isFinal(w)
	if final {
		ctx = sportmonks.Final(ctx)
	}
	asking, cancel := context.WithTimeout(ctx, aloneTimeout)
	r, err := p.Feed.Fixture(asking, w.id, balls)
	cancel()
	if fault.Is(err, fault.NotFound) {
		return p.noteMissing(ctx, w, now)
	}
	if err != nil {
		return err
	}
	w.gone, w.silent = time.Time{}, false
	if !isPrematch(w) {
		p.count(func(s *Status) { s.ReadAt = now })
	}
	if final {
		p.count(func(s *Status) { s.FinalReads++ })
		if at := finals(); w.final < len(at) && !now.Before(w.left.Add(at[w.final])) {
			w.final++
		}
	}
	one := p.newReading(aloneRequest(w.id), balls, r)
	for i := range r.Snapshots {
		if err := p.take(ctx, w, &r.Snapshots[i], one, now); err != nil {
			return err
		}
	}
	return nil
}
