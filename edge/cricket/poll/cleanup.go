package poll

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// When a match is ended although no snapshot says so.
const (
	silentEnd = time.Minute      // beyond endsAfter, when a tick would have ended it
	goneEnd   = 30 * time.Minute // since the feed no longer has the match
	idleEnd   = 13 * time.Hour   // after the start of a match that never began; its ticks would end it after twelve
)

// overAt returns when a match is over for good: zero for now, never() while it is not.
func (p *Poller) overAt(w *watch) time.Time {
	switch {
	case w.state.Status == cricket.ActiveEnded && !w.cleaned:
		return time.Time{}
	case w.state.Status == cricket.ActiveEnded:
		return never()
	case w.state.Status != cricket.ActiveLive && w.state.Status != cricket.ActiveIdle:
		return never()
	case !w.state.FinishedAt.IsZero():
		return clock.NowAt(p.Clock, w.state.FinishedAt.Add(endsAfter+silentEnd))
	case !w.gone.IsZero():
		return w.gone.Add(goneEnd)
	case w.state.Status == cricket.ActiveIdle && !w.starts.IsZero():
		return clock.NowAt(p.Clock, w.starts.Add(idleEnd))
	}
	return never()
}

// unknown reports whether the feed is known not to have a match.
func (p *Poller) unknown(id string) bool { return p.Knows != nil && !p.Knows(id) }

// endUnknown ends the matches that the feed is known not to have, including those from earlier runs of this node.
func (p *Poller) endUnknown(ctx context.Context) error {
	var errs []error
	for _, w := range p.sorted() {
		if !p.unknown(w.id) {
			continue
		}
		w.listed, w.gone = false, p.Clock.Now()
		errs = append(errs, p.end(ctx, w))
	}
	return errors.Join(errs...)
}

// cleanupDue returns when the first match is over; once after startup, now.
func (p *Poller) cleanupDue(time.Time) (time.Time, bool) {
	if !p.swept && p.slot.leads() {
		return time.Time{}, true
	}
	next := never()
	for _, w := range p.watched {
		if at := p.overAt(w); p.isMine(w) && at.Before(next) {
			next = at
		}
	}
	return next, next.Before(never())
}

// cleanup ends the matches that are over for good. Those with final reads to come stay watched.
func (p *Poller) cleanup(ctx context.Context, now time.Time) error {
	var errs []error
	if !p.swept && p.slot.leads() {
		errs = append(errs, p.sweep(ctx))
	}
	for _, w := range p.sorted() {
		if p.isMine(w) && !now.Before(p.overAt(w)) {
			errs = append(errs, p.end(ctx, w))
		}
	}
	return errors.Join(errs...)
}

// end cleans up after a match and stops watching it, unless further reads may correct its display: while it is
// in the list, and its final reads. A match that the feed no longer has gets none.
func (p *Poller) end(ctx context.Context, w *watch) error {
	if done, err := p.cleanOne(ctx, w.id); err != nil || !done {
		return err
	}
	w.state.Status, w.cleaned = cricket.ActiveEnded, true
	p.ended[w.id] = !w.state.IsUndecided()
	if w.gone.IsZero() && (hasLeft(w) || w.listed) {
		return nil
	}
	return p.drop(ctx, w)
}

// cleanOne cleans up after a match; done is false if another node holds it, which will do it.
func (p *Poller) cleanOne(ctx context.Context, id string) (done bool, err error) {
	if p.observing {
		return false, nil
	}
	lease, err := p.takeLock(ctx, tables.MatchLock(id))
	if err != nil || lease == nil {
		return false, err
	}
	held, cancel := lease.Context(ctx)
	defer cancel()
	err = p.Match.CleanUp(held, id, matches.Owner{Node: p.Node, Fence: lease.Fence()})
	return err == nil, err
}

// sweep cleans up after matches that ended in an earlier run, which may have stopped before cleaning up.
func (p *Poller) sweep(ctx context.Context) error {
	var ids []string
	var errs []error
	err := p.Data.View(ctx, func(tx *store.Tx) (err error) {
		ids, err = matches.EndedMatches(tx)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := p.cleanOne(ctx, id); err != nil {
			return err
		}
		if w := p.watched[id]; w == nil || w.lease == nil {
			errs = append(errs, p.giveBack(ctx, id))
		}
	}
	p.swept = true
	return errors.Join(append(errs, p.noteEnded(ctx))...)
}

// giveBack releases the lease of a match that is not watched.
func (p *Poller) giveBack(ctx context.Context, id string) error {
	lease, err := p.takeLock(ctx, tables.MatchLock(id))
	if err != nil || lease == nil {
		return err
	}
	return lease.Release(context.WithoutCancel(ctx))
}
