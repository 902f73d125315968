package httpapi

import (
	"context"
	"sync"
	"time"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
)

// freshFor is how long a view is reused for everybody.
const freshFor = 100 * time.Millisecond

// views renders an application's pages once for all readers.
type views struct {
	s   *Server
	app *mounted
	kept[viewEntry]
}

// viewEntry is the latest view of one page.
type viewEntry struct {
	mu   sync.Mutex // held while rendering: others wait for the result
	at   time.Time
	seq  uint64
	view page.View
}

// get returns the view of a topic's page and a journal sequence up to which it is complete. A view is reused until something is
// committed, but no longer than one tick of the page, because the node's state changes outside the journal.
func (v *views) get(ctx context.Context, id string) (page.View, uint64, error) {
	e := v.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	now, seq := v.s.wall.Now(), v.s.cfg.Store.Seq()
	age := now.Sub(e.at)
	if !e.at.IsZero() && (age < freshFor || seq == e.seq && age < v.s.cfg.PageTick*9/10) {
		return e.view, e.seq, nil
	}
	view, err := v.render(ctx, id, e.view)
	if err != nil {
		v.forget(id)
		return page.View{}, 0, err
	}
	e.at, e.seq, e.view = now, seq, view
	return view, seq, nil
}

func (v *views) render(ctx context.Context, topic string, last page.View) (page.View, error) {
	if v.app.View == nil || v.app.Look == nil {
		return page.View{}, fault.New(fault.NotFound, "not_found", "There is no such page.")
	}
	node := v.s.nodeStatus()
	return v.app.View(ctx, &node, topic, last)
}
