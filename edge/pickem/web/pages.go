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

func (h *handlers) navLinks(who auth.Identity) []page.Link {
	links := []page.Link{{Href: h.look.At("/"), Text: "Events"}, {Href: h.look.At("/standings"), Text: "Standings"}, {Href: h.look.At("/me"), Text: "My picks"}}
	if who.Admin {
		links = append(links, page.Link{Href: h.look.At("/admin"), Text: "Admin"})
	}
	return links
}

func (h *handlers) eventsPage(r *httpapi.Request) (httpapi.Response, error) {
	return r.Page("events", "Pick'Em", func(tx *store.Tx) (any, error) {
		events, _, err := h.league.Events(tx, r.User, 2*usualEvents, nil)
		var next *pickem.Listed
		for i := range events { // newest first: the last open event is the next one
			h.toMachineClock(&events[i].Event)
			if !events[i].Locked(tx.Now()) {
				next = &events[i]
			}
		}
		return map[string]any{"Next": next, "Events": events, "Now": tx.Now()}, err
	})
}

func (h *handlers) cardPage(r *httpapi.Request) (httpapi.Response, error) {
	return r.Page("card", "Card", func(tx *store.Tx) (any, error) {
		card, err := h.league.Event(tx, r.Param("id"), r.User)
		slices.SortStableFunc(card.Matches, comparePreshow)
		return h.newCardView(card, tx.Now()), err
	})
}

// comparePreshow puts the matches of the pre-show first.
func comparePreshow(a, b pickem.Match) int {
	switch {
	case a.Preshow == b.Preshow:
		return 0
	case a.Preshow:
		return -1
	}
	return 1
}

func (h *handlers) standingsPage(r *httpapi.Request) (httpapi.Response, error) {
	return r.Page("standings", "Standings", func(tx *store.Tx) (any, error) {
		now, err := h.readStandings(tx, r)
		if err != nil {
			return nil, err
		}
		climbed, err := h.league.PlacesClimbed(tx, now.Year)
		if err != nil {
			return nil, err
		}
		years, err := h.league.Years(tx)
		return map[string]any{"Year": now.Year, "Standings": now.Standings, "Climbed": climbed, "Years": years}, err
	})
}

// profilePage shows the user in the path or, if there is none, the caller.
func (h *handlers) profilePage(r *httpapi.Request) (httpapi.Response, error) {
	user := cmp.Or(r.Param("user"), r.User)
	return r.Page("profile", "Picks", func(tx *store.Tx) (any, error) { return h.league.Profile(tx, user, r.User) })
}

func (h *handlers) adminPage(r *httpapi.Request) (httpapi.Response, error) {
	return r.Page("admin", "Admin", func(tx *store.Tx) (any, error) {
		users, err := h.league.Users(tx)
		if err != nil {
			return nil, err
		}
		events, _, err := h.league.Events(tx, "", 5*usualEvents, nil)
		return map[string]any{"Users": users, "Events": events}, err
	})
}

func (h *handlers) editorPage(r *httpapi.Request) (httpapi.Response, error) {
	return r.Page("editor", "Card", func(tx *store.Tx) (any, error) {
		card, err := h.league.Event(tx, r.Param("id"), "")
		view := h.newCardView(card, tx.Now())
		if err == nil && card.Predictions != nil {
			view.With, view.Without, err = h.league.StandingsMoved(tx, card.ID)
		}
		return view, err
	})
}

// toMachineClock converts an event's lock to this machine's clock, right or wrong, since the pages' countdowns run by it.
func (h *handlers) toMachineClock(e *pickem.Event) { e.LockAt = e.LockAt.Add(-h.league.Ahead()) }

// cardView is a card at an instant of this machine's clock.
type cardView struct {
	pickem.Card
	Now   time.Time
	Blank pickem.Match // for the form that adds a match

	With    []pickem.Standing          // for admins: the year's standings with this event
	Without map[string]pickem.Standing // and without it, by user
}

func (h *handlers) newCardView(card pickem.Card, now time.Time) *cardView {
	h.toMachineClock(&card.Event)
	return &cardView{Card: card, Now: now}
}

// Grid returns the table of everybody's picks.
func (v *cardView) Grid() *page.Table { return picksTable(&v.Card) }

// picksTable returns the table of everybody's picks, best first, with a row for each user and a column for each match.
func picksTable(card *pickem.Card) *page.Table {
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
