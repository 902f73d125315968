package poll

import (
	"context"
	"time"

	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// goneShown is how long the feed may not have a match before its display says so: it may be missing only for a moment.
const goneShown = time.Minute

// noteMissing notes that the feed does not have a match. After a while its display says that there is no news. If the feed has another match
// with the same sides and start, the followers go there, and this one ends.
func (p *Poller) noteMissing(ctx context.Context, w *watch, now time.Time) error {
	if w.listed || w.cleaned || !w.state.FinishedAt.IsZero() {
		return nil
	}
	if w.gone.IsZero() {
		w.gone = now
		p.Log.Warn("the feed no longer has a match", "match", w.id, "ends", clock.WallAt(p.Clock, now.Add(goneEnd)))
	}
	if p.observing {
		return nil
	}
	moved, err := p.moveOn(ctx, w)
	if err != nil || moved || w.silent || now.Sub(w.gone) < goneShown {
		return err
	}
	return p.showNoNews(ctx, w)
}

// moveOn takes the followers of a match that is gone along to the match that the feed has in its place, if there is one. The old one is
// over then.
func (p *Poller) moveOn(ctx context.Context, w *watch) (moved bool, err error) {
	next := ""
	err = p.Data.View(ctx, func(tx *store.Tx) (err error) {
		next, err = matches.Successor(tx, w.id)
		return err
	})
	if err != nil || next == "" || p.unknown(next) {
		return false, err
	}
	for more := true; more; {
		err := p.Data.Update(ctx, func(tx *store.Tx) (err error) {
			more, err = matches.MoveFollowers(tx, w.id, next)
			return err
		})
		if err != nil {
			return false, err
		}
	}
	p.Log.Warn("the feed has a match under another id; its followers follow that one now", "match", w.id, "next", next)
	return true, p.end(ctx, w)
}

// showNoNews says in a match's display that there is no news of it.
func (p *Poller) showNoNews(ctx context.Context, w *watch) error {
	if w.lease == nil {
		return nil
	}
	since := clock.WallAt(p.Clock, w.gone)
	err := p.writeFenced(ctx, w.lease, func(by matches.Owner) error {
		return p.Data.Update(ctx, func(tx *store.Tx) error { return matches.ShowNoNews(tx, w.id, since, by) })
	})
	w.silent = err == nil
	w.took = source{} // the next answer counts as new whatever it says
	if fault.Is(err, fault.Conflict) {
		return nil // the match has passed to another node
	}
	return err
}
