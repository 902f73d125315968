package poll

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/clock"
)

// followEvery is how often a match that left the list without a result is requested; less often overnight.
const followEvery = 10 * time.Second

// finals returns when, after leaving the list, a finished match is read again, because the feed corrects its records.
func finals() []time.Duration {
	return []time.Duration{0, time.Minute, 5 * time.Minute, 15 * time.Minute}
}

// endsAfter is how long after its result a match is ended. The read that ends it is made then, whenever the match left the list.
const endsAfter = 15 * time.Minute

// hasLeft reports whether a match was live and is no longer in the list.
func hasLeft(w *watch) bool {
	if w.listed || w.left.IsZero() || isPrematch(w) {
		return false
	}
	return w.state.Status == cricket.ActiveLive || w.final < len(finals())
}

// isFinal reports whether a read is for the end of a match, and may use the budget's reserve.
func isFinal(w *watch) bool {
	return !w.listed && !w.left.IsZero() && (!w.state.FinishedAt.IsZero() || w.state.Status == cricket.ActiveEnded)
}

// nextFinal returns when a match with a result is read next: at the next of finals, and when it can be ended.
// After a failure, and until it is ended, it is read every followEvery.
func (p *Poller) nextFinal(w *watch) time.Time {
	next := never()
	if at := finals(); w.final < len(at) {
		next = w.left.Add(at[w.final])
	}
	if !w.asked.Before(next) {
		next = w.asked.Add(followEvery)
	}
	if w.state.Status == cricket.ActiveEnded {
		return next
	}
	end := clock.NowAt(p.Clock, w.state.FinishedAt.Add(endsAfter))
	if !w.asked.Before(end) {
		end = w.asked.Add(followEvery)
	}
	if end.Before(next) {
		return end
	}
	return next
}

// reconcile reads the matches that left the live list: their own record decides what became of them.
func (p *Poller) reconcile(ctx context.Context, now time.Time) error {
	errs := []error{p.slotted(p.readAlone(hasLeft))(ctx, now)}
	for _, w := range p.sorted() {
		if w.cleaned && !hasLeft(w) {
			errs = append(errs, p.drop(ctx, w))
		}
	}
	return errors.Join(errs...)
}
