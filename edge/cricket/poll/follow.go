package poll

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/edge/cricket"
)

// absentPolls is how many readings may miss a live match before it is asked for by itself.
const absentPolls = 3

// followEvery is how often a match outside the live list is read until its result is sure.
const followEvery = 10 * time.Second

// corrections are the instants after the result at which a match is read again.
func corrections() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}
}

// follow reads a match that has left the live list: its own record decides what became of it.
func (p *Poller) follow(ctx context.Context, w *watch, now time.Time) error {
	if !p.dueAlone(w, now) {
		return nil
	}
	w.asked = now
	r, err := p.Feed.Fixture(ctx, w.id, true)
	if err != nil {
		return err
	}
	if !w.state.FinishedAt.IsZero() {
		w.final++
	}
	for i := range r.Snapshots {
		if err := p.take(ctx, w, skewed(&r.Snapshots[i], r), false, now); err != nil {
			return err
		}
	}
	return nil
}

func (p *Poller) dueAlone(w *watch, now time.Time) bool {
	if w.state.FinishedAt.IsZero() {
		return now.Sub(w.asked) >= followEvery
	}
	at := corrections()
	return w.final >= len(at) || now.Sub(w.state.FinishedAt) >= at[w.final]
}

// sync looks ahead: matches that start soon are registered and read for toss and line-ups until play begins.
func (p *Poller) sync(ctx context.Context, now time.Time) error {
	if !p.scored {
		if err := p.Feed.LoadScores(ctx); err != nil {
			p.report(ctx, "scores", err)
		} else {
			p.scored = true
		}
	}
	fixtures, err := p.Feed.Fixtures(ctx, now.Add(-syncBack), now.Add(syncAhead))
	if err != nil {
		return err
	}
	var errs []error
	for i := range fixtures {
		f := &fixtures[i]
		phase, _ := f.Status.Phase()
		if phase != cricket.PhasePrematch || p.ended[f.MatchID] || f.StartsAt.Sub(now) > soon {
			continue
		}
		r, err := p.Feed.Fixture(ctx, f.MatchID, false)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		w := p.watchOf(f.MatchID)
		for j := range r.Snapshots {
			errs = append(errs, p.take(ctx, w, skewed(&r.Snapshots[j], r), r.Unchanged, now))
		}
	}
	return errors.Join(errs...)
}
