package pickem

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

//go:embed templates
var files embed.FS

func (a *api) pageRoutes() []httpapi.Route {
	profile := shows("profile", "Picks", a.profile)
	return []httpapi.Route{
		a.user("GET", "/", shows("events", "Pick'Em", a.eventsPage)),
		a.user("GET", "/events/:id", shows("card", "Card", func(tx *store.Tx, c *call) (any, error) {
			card, err := a.Service.Event(tx, c.id(), c.user)
			return a.card(card, tx.Now()), err
		})),
		a.user("GET", "/standings", shows("standings", "Standings", a.standingsPage)),
		a.user("GET", "/users/:user", profile),
		a.user("GET", "/me", profile),
		admin("GET", "/admin", shows("admin", "Admin", func(tx *store.Tx, _ *call) (any, error) {
			users, err := a.Service.Users(tx)
			events, _, failed := a.Service.Events(tx, "", 5*usualEvents, nil)
			return map[string]any{"Base": a.mount + "/admin", "Users": users, "Events": events}, cmp.Or(err, failed)
		})),
		admin("GET", "/admin/events/:id", shows("editor", "Card", func(tx *store.Tx, c *call) (any, error) {
			card, err := a.Service.Event(tx, c.id(), "")
			out := a.editor(card, tx.Now())
			if err == nil && out.Grid != nil {
				out.Now, out.Before, err = a.Service.Moved(tx, card.ID)
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

type eventsPage struct {
	Next      *pickem.Listed
	Countdown page.Countdown
	Events    []pickem.Listed
}

func (a *api) eventsPage(tx *store.Tx, c *call) (_ any, err error) {
	var out eventsPage
	out.Events, _, err = a.Service.Events(tx, c.user, 2*usualEvents, nil)
	for i := range out.Events { // newest first: the last open event is the next one
		e := &out.Events[i]
		if a.here(&e.Event); !e.Locked(tx.Now()) {
			out.Next, out.Countdown = e, countdown(&e.Event, tx.Now())
		}
	}
	return out, err
}

// here converts an event's lock to this machine's clock, right or wrong, since the pages' countdowns run by it.
func (a *api) here(e *pickem.Event) { e.LockAt = e.LockAt.Add(-a.Service.Ahead()) }

func countdown(e *pickem.Event, now time.Time) page.Countdown {
	return page.NewCountdown("Locks in", now, e.LockAt, "locked")
}

// matchView is a match with its buttons, or with the reader's pick.
type matchView struct {
	*pickem.Match
	Pad    *page.Pad
	Picked *pickem.Team
	Up     []string // IDs in the card's order if this match is moved up
}

// Titles returns the championships for the match's form, with an empty one to fill in.
func (v matchView) Titles() []string { return append(slices.Clone(v.Championships), "") }

// Slots returns the teams and members for the match's form, with empty ones to fill in.
func (v matchView) Slots() []pickem.Team {
	all := slices.Concat(v.Teams, make([]pickem.Team, max(1, 4-len(v.Teams))))
	for i := range all {
		all[i].Members = slices.Concat(all[i].Members, make([]string, max(1, 3-len(all[i].Members))))
	}
	return all
}

type cardPage struct {
	pickem.Card
	Countdown *page.Countdown
	Views     []matchView
	Table     *page.Table
}

func (a *api) card(card pickem.Card, now time.Time) cardPage {
	a.here(&card.Event)
	order := map[bool]int{false: 1} // pre-show first
	slices.SortStableFunc(card.Matches, func(x, y pickem.Match) int { return cmp.Compare(order[x.Preshow], order[y.Preshow]) })
	out := cardPage{Card: card}
	locked := card.Locked(now)
	if !locked {
		out.Countdown = new(countdown(&card.Event, now))
	}
	for i := range card.Matches {
		v := matchView{Match: &card.Matches[i]}
		pick := -1
		if card.Mine != nil {
			if n, ok := card.Mine.Picks[v.ID]; ok {
				pick, v.Picked = n, v.Team(n)
			}
		}
		if !locked {
			v.Pad = a.teams(v.Match, pick, "/app/events/"+card.ID+"/predictions", "predictions", "Pick %s in "+v.Name)
			v.Pad.Until = card.LockAt.UnixMilli()
		}
		out.Views = append(out.Views, v)
	}
	if card.Predictions != nil {
		out.Table = grid(&card)
	}
	return out
}

// teams returns a pad with a key for each team of a match. The chosen one has a tick.
func (a *api) teams(m *pickem.Match, chosen int, path, member, what string) *page.Pad {
	p := &page.Pad{Label: m.Name, Action: a.mount + path, Method: "PUT", Wide: true}
	for i := range m.Teams {
		t := &m.Teams[i]
		k := page.Key{Name: member + "." + m.ID, Value: strconv.Itoa(i), Number: true, Text: t.Label(), What: fmt.Sprintf(what, t.Label()), Main: i == chosen}
		if t.Champion {
			k.Aside = "champion"
		}
		if k.Main {
			k.Text = "✓ " + k.Text
		}
		p.Keys = append(p.Keys, k)
	}
	return p
}

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
			if pick, ok := p.Picks[m.ID]; ok && m.Team(pick) != nil {
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

func (a *api) standingsPage(tx *store.Tx, c *call) (_ any, err error) {
	var out struct {
		standings
		Climbed map[string]int
		Years   []string
	}
	if out.standings, err = a.standings(tx, c); err != nil {
		return nil, err
	}
	if out.Climbed, err = a.Service.Climbed(tx, out.Year); err != nil {
		return nil, err
	}
	out.Years, err = a.Service.Years(tx)
	return out, err
}

type editorPage struct {
	pickem.Card
	Base    string
	Views   []matchView
	Blank   matchView
	Missing int
	Opens   bool // the event can be opened again
	Grid    *page.Table
	Now     []pickem.Standing          // the year's standings with this event
	Before  map[string]pickem.Standing // and without it, by user
}

func (a *api) editor(card pickem.Card, now time.Time) editorPage {
	base := "/admin/events/" + card.ID
	out := editorPage{Card: card, Base: a.mount + base, Blank: matchView{Match: &pickem.Match{}}}
	for i := range card.Matches {
		v := matchView{Match: &card.Matches[i]}
		if i > 0 {
			for j := range card.Matches {
				v.Up = append(v.Up, card.Matches[j].ID)
			}
			v.Up[i-1], v.Up[i] = v.Up[i], v.Up[i-1]
		}
		if card.State != pickem.Upcoming {
			v.Pad = a.results(v.Match, base)
			if !v.Result.Known {
				out.Missing++
			}
		}
		out.Views = append(out.Views, v)
	}
	if card.Predictions != nil {
		out.Grid = grid(&card)
	}
	a.here(&card.Event)
	out.Opens = card.State == pickem.Broadcast && now.Before(card.LockAt) && out.Missing == len(card.Matches)
	return out
}

// results returns a pad with a key for each team that may have won a match, and one for no contest.
func (a *api) results(m *pickem.Match, base string) *page.Pad {
	chosen := -1
	if m.Result.Known {
		chosen = m.Result.Team
	}
	pad := a.teams(m, chosen, base+"/results", "results", "%s wins "+m.Name)
	if m.NewChampion() {
		pad.Keys[chosen].Aside = "new champion"
	}
	none := page.Key{Name: "results." + m.ID, Value: "null", Number: true, Text: "No contest", What: "No contest in " + m.Name}
	if none.Main = m.Result.Known && chosen == pickem.NoContest; none.Main {
		none.Text = "✓ " + none.Text
	}
	pad.Keys = append(pad.Keys, none)
	return pad
}
