package poll

import (
	"context"

	"github.com/touchline/touchline/edge/cricket"
)

// observe shows a match to this node's own readers and writes nothing that other nodes read. It compares with
// the last observed state or, at first, with the holder's.
func (p *Poller) observe(ctx context.Context, w *watch, s *cricket.Snapshot, r *reading) error {
	w.league, w.starts = s.League.ID, s.StartsAt
	from := w.state
	if w.seenHere != nil {
		from = *w.seenHere
	}
	st, err := p.Observe.Observe(ctx, from, p.withNames(s, r))
	if err != nil {
		return err
	}
	w.seenHere, w.took, w.seen = &st, r.src, r.At
	p.count(func(s *Status) { s.Observed++ })
	return nil
}

// standing returns the state of a match as far as this node knows it, to pace its polls.
func (w *watch) standing() *cricket.State {
	if w.seenHere != nil {
		return w.seenHere
	}
	return &w.state
}
