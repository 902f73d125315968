package web

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

//go:embed templates scenes.json
var files embed.FS

func (a *api) pageRoutes() []httpapi.Route {
	profile := shows("profile", "Picks", a.profile)
	return []httpapi.Route{
		a.user("GET", "/", shows("events", "Pick'Em", a.eventsPage)),
		a.user("GET", "/events/:id", shows("card", "Card", func(tx *store.Tx, c *call) (any, error) {
			card, err := a.Service.Event(tx, c.Param("id"), c.User)
			order := map[bool]int{false: 1} // pre-show first
			slices.SortStableFunc(card.Matches, func(x, y pickem.Match) int { return cmp.Compare(order[x.Preshow], order[y.Preshow]) })
			return a.card(card, tx.Now()), err
		})),
		a.user("GET", "/standings", shows("standings", "Standings", a.standingsPage)),
		a.user("GET", "/users/:user", profile),
		a.user("GET", "/me", profile),
		a.admin("GET", "/admin", shows("admin", "Admin", func(tx *store.Tx, _ *call) (any, error) {
			users, err := a.Service.Users(tx)
			events, _, failed := a.Service.Events(tx, "", 5*usualEvents, nil)
			return map[string]any{"Users": users, "Events": events}, cmp.Or(err, failed)
		})),
		a.admin("GET", "/admin/events/:id", shows("editor", "Card", func(tx *store.Tx, c *call) (any, error) {
			card, err := a.Service.Event(tx, c.Param("id"), "")
			out := a.card(card, tx.Now())
			if err == nil && card.Predictions != nil {
				out.With, out.Without, err = a.Service.StandingsMoved(tx, card.ID)
			}
			return out, err
		})),
	}
}

func (a *api) nav(who auth.Identity) []page.Link {
	links := []page.Link{{Href: a.look.At("/"), Text: "Events"}, {Href: a.look.At("/standings"), Text: "Standings"}, {Href: a.look.At("/me"), Text: "My picks"}}
	if who.Admin {
		links = append(links, page.Link{Href: a.look.At("/admin"), Text: "Admin"})
	}
	return links
}

func (a *api) eventsPage(tx *store.Tx, c *call) (any, error) {
	all, _, err := a.Service.Events(tx, c.User, 2*usualEvents, nil)
	var next *pickem.Listed
	for i := range all { // newest first: the last open event is the next one
		if a.toMachineClock(&all[i].Event); !all[i].Locked(tx.Now()) {
			next = &all[i]
		}
	}
	return map[string]any{"Next": next, "Events": all, "Now": tx.Now()}, err
}

// toMachineClock converts an event's lock to this machine's clock, right or wrong, since the pages' countdowns run by it.
func (a *api) toMachineClock(e *pickem.Event) { e.LockAt = e.LockAt.Add(-a.Service.Ahead()) }

// cardPage is a card at an instant of this machine's clock.
type cardPage struct {
	pickem.Card
	Now   time.Time
	Blank pickem.Match // for the form that adds a match

	With    []pickem.Standing          // for admins: the year's standings with this event
	Without map[string]pickem.Standing // and without it, by user
}

func (a *api) card(card pickem.Card, now time.Time) *cardPage {
	a.toMachineClock(&card.Event)
	return &cardPage{Card: card, Now: now}
}

// Grid returns the table of everybody's picks.
func (p *cardPage) Grid() *page.Table { return grid(&p.Card) }

// grid returns the table of everybody's picks, best first, with a row for each user and a column for each match.
func grid(card *pickem.Card) *page.Table {
	t := &page.Table{ID: "grid", Title: "Everybody's picks", Heads: []string{"Name", "Points"}, None: "Nobody has picked."}
	for i := range card.Matches {
		t.Heads = append(t.Heads, card.Matches[i].Name)
	}
	for i := range card.Predictions {
		p := &card.Predictions[i]
		row := []string{fmt.Sprintf("%d. %s", p.Rank, p.Name), strconv.Itoa(p.Points)}
		for j := range card.Matches {
			m, cell := &card.Matches[j], "–"
			if pick := p.Pick(m.ID); m.Team(pick) != nil {
				cell = m.Team(pick).Label()
				switch {
				case m.Result.Known && pick == m.Result.Team:
					cell += " ✓"
				case m.Result.Known && m.Result.Team != pickem.NoContest:
					cell += " ✗"
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (a *api) standingsPage(tx *store.Tx, c *call) (any, error) {
	now, err := a.standings(tx, c)
	if err != nil {
		return nil, err
	}
	climbed, err := a.Service.PlacesClimbed(tx, now.Year)
	if err != nil {
		return nil, err
	}
	years, err := a.Service.Years(tx)
	return map[string]any{"Year": now.Year, "Standings": now.Standings, "Climbed": climbed, "Years": years}, err
}
