package httpapi

import (
	"context"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
)

const (
	freshFor  = 100 * time.Millisecond // a view this young serves everybody who asks
	maxViews  = 64                     // matches whose view is kept
	listLimit = 100                    // matches on the list
)

// views renders the parts of a page once for all who look at it.
type views struct {
	s  *Server
	mu sync.Mutex
	of map[string]*viewEntry
}

// viewEntry is the latest view of one page.
type viewEntry struct {
	mu   sync.Mutex // held while it is rendered: the others wait for the one that does
	at   time.Time
	seq  uint64
	view page.View
}

// get returns the parts of a match's page, or of the list for the id "", and the sequence of the journal they hold at
// least. A view is used again while nothing was committed since, up to one tick of the page: phones and node move
// without the journal.
func (v *views) get(ctx context.Context, id string) (page.View, uint64, error) {
	e := v.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	now, seq := v.s.wall.Now(), v.s.cfg.Journal.Seq()
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

func (v *views) entry(id string) *viewEntry {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.of[id]
	if e == nil {
		if len(v.of) >= maxViews {
			clear(v.of)
		}
		e = &viewEntry{}
		v.of[id] = e
	}
	return e
}

func (v *views) forget(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.of, id)
}

func (v *views) clear() {
	v.mu.Lock()
	defer v.mu.Unlock()
	clear(v.of)
}

func (v *views) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.of)
}

func (v *views) render(ctx context.Context, id string, last page.View) (page.View, error) {
	if id == "" {
		fixtures, _, err := v.s.cfg.Cricket.Matches(ctx, cricket.MatchFilter{Limit: listLimit})
		if err != nil {
			return page.View{}, err
		}
		return v.s.pages.List(page.ListInput{Fixtures: fixtures, Node: v.s.nodeStatus()}, last)
	}
	in, err := v.input(ctx, id)
	if err != nil {
		return page.View{}, err
	}
	return v.s.pages.Match(in, last)
}

// input reads what the match page shows. A match that no reading has been seen of yet has no display: the fixture
// makes one.
func (v *views) input(ctx context.Context, id string) (page.Input, error) {
	in := page.Input{Node: v.s.nodeStatus(), Phones: v.s.cfg.Phones()}
	var err error
	if in.Fixture, err = v.s.cfg.Cricket.Match(ctx, id); err != nil {
		return page.Input{}, err
	}
	if in.Display, err = v.s.cfg.Cricket.Display(ctx, id); err != nil {
		if !fault.Is(err, fault.NotFound) {
			return page.Input{}, err
		}
		in.Display = displayOf(&in.Fixture)
	}
	if in.Card, err = v.s.cfg.Cricket.Card(ctx, id); err != nil {
		return page.Input{}, err
	}
	if v.s.cfg.Audience != nil {
		if in.Audience, err = v.s.cfg.Audience(ctx, id); err != nil {
			return page.Input{}, err
		}
	}
	in.Events, err = v.s.cfg.Cricket.Events(ctx, id)
	return in, err
}

func displayOf(f *cricket.Fixture) cricket.Display {
	d := cricket.Display{
		MatchID: f.MatchID, League: f.LeagueName, Phase: f.Phase, Status: f.Status, Note: f.Note, Result: f.Result,
		UpdatedAt: f.LiveUpdatedAt,
	}
	if d.Phase == "" {
		d.Phase = cricket.PhasePrematch
	}
	for _, t := range f.Teams {
		d.Teams = append(d.Teams, cricket.TeamScore{ID: t.ID, Name: t.Name, Code: t.Code, Overs: "0.0"})
	}
	return d
}
