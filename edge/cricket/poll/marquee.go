package poll

import (
	"context"
	"time"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// marqueeDue: while a closely watched match is in the list.
func (p *Poller) marqueeDue(last time.Time) (time.Time, bool) {
	on := p.closeOn()
	if len(on) == 0 {
		return time.Time{}, false
	}
	every := stumpsEvery
	for _, w := range on {
		every = min(every, pause(w, marqueeEvery))
	}
	if p.list != nil && p.list.balls && p.list.At.After(last) {
		last = p.list.At // score has just read it all
	}
	return p.due(sportmonks.Livescores, last, every, 1), true
}

// marquee reads all live matches with balls, and takes the closely watched ones. score takes the others from the
// same answer, at its own pace.
func (p *Poller) marquee(ctx context.Context, now time.Time) error {
	if err := p.readList(ctx, now, true); err != nil {
		return err
	}
	return p.takeList(ctx, now, func(w *watch) bool { return p.closely(w) || w.state.Status == "" })
}
