package httpapi

import (
	"context"
	"sync"
	"time"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// freshFor is how long a view is reused for everybody.
const freshFor = 100 * time.Millisecond

// idleShare limits what a page costs while nothing is committed: rendering takes at most one part in so many of the time.
const idleShare = 20

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
	took time.Duration // to render
	seq  uint64
	view page.View
}

// get returns the view of a topic's page and a journal sequence up to which it is complete. A view is reused until something is
// committed, but no longer than one tick of the page, because the node's state changes outside the journal. A page that takes long to render
// is reused for longer.
func (v *views) get(ctx context.Context, id string) (page.View, uint64, error) {
	e := v.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	now, seq := v.s.wall.Now(), v.s.cfg.Store.Seq()
	age := now.Sub(e.at)
	idle := max(v.s.cfg.PageTick*9/10, e.took*idleShare)
	if !e.at.IsZero() && (age < freshFor || seq == e.seq && age < idle) {
		return e.view, e.seq, nil
	}
	view, err := v.render(ctx, id, e.view)
	if err != nil {
		v.forget(id)
		return page.View{}, 0, err
	}
	e.at, e.took, e.seq, e.view = now, v.s.wall.Now().Sub(now), seq, view
	return view, seq, nil
}

func (v *views) render(ctx context.Context, topic string, last page.View) (page.View, error) {
	if v.app.View == nil || v.app.Look == nil {
		return page.View{}, fault.New(fault.NotFound, "not_found", "There is no such page.")
	}
	node := v.s.nodeStatus()
	return v.app.View(store.AsClient(ctx, ""), &node, topic, last) // all readers wait for it
}
