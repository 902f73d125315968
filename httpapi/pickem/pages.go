package pickem

import (
	"embed"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

//go:embed templates
var files embed.FS

func (a *api) pageRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/", Access: httpapi.User, Do: a.invited(a.getEventsPage)},
		{Method: "GET", Path: "/events/:id", Access: httpapi.User, Do: a.invited(a.getCardPage)},
		{Method: "GET", Path: "/standings", Access: httpapi.User, Do: a.invited(a.getStandingsPage)},
		{Method: "GET", Path: "/users/:id", Access: httpapi.User, Do: a.invited(a.getUserPage)},
		{Method: "GET", Path: "/me", Access: httpapi.User, Do: a.invited(a.getMePage)},
		{Method: "GET", Path: "/admin", Access: httpapi.Admin, Do: a.getAdminPage},
		{Method: "GET", Path: "/admin/events/:id", Access: httpapi.Admin, Do: a.getEditorPage},
	}
}

func (a *api) nav(who auth.Identity) []page.Link {
	links := []page.Link{{Href: a.look.At("/"), Text: "Events"}, {Href: a.look.At("/standings"), Text: "Standings"}, {Href: a.look.At("/me"), Text: "My picks"}}
	if who.Admin {
		links = append(links, page.Link{Href: a.look.At("/admin"), Text: "Admin"})
	}
	return links
}

type nextEvent struct {
	Event     pickem.Listed
	Countdown page.Countdown
}

type eventsPage struct {
	Next   *nextEvent
	Events []pickem.Listed
}

func (a *api) getEventsPage(c *gin.Context, user string) error {
	return httpapi.OwnView(c, "events", "Pick'Em", func(tx *store.Tx) (out eventsPage, err error) {
		out.Events, _, err = a.Service.Events(tx, user, 2*usualEvents, nil)
		for i := range out.Events { // newest first: the last one that is open is the next
			if e := &out.Events[i]; !e.Locked(tx.Now()) {
				out.Next = &nextEvent{*e, countdown(tx, &e.Event)}
			}
		}
		return out, err
	})
}

func countdown(tx *store.Tx, e *pickem.Event) page.Countdown {
	return page.NewCountdown("Locks in", tx.Now(), e.LockAt, "locked")
}

// matchView is a match with what can be done about it, or with what there is to say.
type matchView struct {
	Match *pickem.Match
	Pad   *page.Pad
	Say   string
	Up    []string // the order of the card with this match moved up
}

// table is what the kit's table reads.
type table struct {
	ID, Title, None string
	Heads           []string
	Rows            [][]string
}

type cardPage struct {
	Card      pickem.Card
	Countdown *page.Countdown
	Notes     []page.Note
	Matches   []matchView
	Table     *table
}

func (a *api) getCardPage(c *gin.Context, user string) error {
	return httpapi.OwnView(c, "card", "Card", func(tx *store.Tx) (cardPage, error) {
		card, err := a.Service.Event(tx, c.Param("id"), user)
		return a.cardOf(card, tx.Now(), countdown(tx, &card.Event)), err
	})
}

func (a *api) cardOf(card pickem.Card, now time.Time, until page.Countdown) cardPage {
	out := cardPage{Card: card}
	note := func(kind, text string) { out.Notes = append(out.Notes, page.Note{Kind: kind, Text: text}) }
	locked := card.Locked(now)
	if !locked {
		out.Countdown = &until
	}
	if card.NotCounted {
		note("bad", "Not counted: a pick was sent after the lock.")
	}
	for _, name := range card.Dropped {
		note("warn", "The teams of "+name+" have changed: pick again.")
	}
	for i := range card.Matches {
		m := &card.Matches[i]
		pick := -1
		if card.Mine != nil {
			if n, ok := card.Mine.Picks[m.ID]; ok {
				pick = n
			}
		}
		v := matchView{Match: m, Say: said(m, pick)}
		if !locked {
			v.Pad = a.teams(m, pick, "PUT", "/app/events/"+card.ID+"/predictions", "predictions", "Pick %s in "+m.Name)
			v.Pad.Until = card.LockAt.UnixMilli()
		}
		out.Matches = append(out.Matches, v)
	}
	if card.Predictions != nil {
		out.Table = grid(&card)
	}
	return out
}

// teams is a pad with a key for each team of a match, of which chosen has a tick.
func (a *api) teams(m *pickem.Match, chosen int, method, path, member, what string) *page.Pad {
	p := &page.Pad{Label: m.Name, Action: a.mount + path, Method: method, Wide: true}
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

// said is what there is to say of a match that takes no more picks.
func said(m *pickem.Match, pick int) string {
	out := "You did not pick."
	if pick >= 0 && pick < len(m.Teams) {
		out = "You picked " + m.Teams[pick].Label() + "."
	}
	switch {
	case !m.Result.Known:
		return out
	case m.Result.Team < 0 || m.Result.Team >= len(m.Teams): // pickem.NoContest, or what others wrote
		return out + " No contest."
	}
	return out + " " + m.Teams[m.Result.Team].Label() + " won."
}

// grid has everybody's picks, the best first: a row a user, a column a match.
func grid(card *pickem.Card) *table {
	t := &table{ID: "grid", Title: "Everybody's picks", Heads: []string{"Name", "Points"}, None: "Nobody has picked."}
	for i := range card.Matches {
		t.Heads = append(t.Heads, card.Matches[i].Name)
	}
	for i := range card.Predictions {
		p := &card.Predictions[i]
		row := []string{fmt.Sprintf("%d. %s", p.Rank, p.Name), strconv.Itoa(p.Points)}
		for j := range card.Matches {
			m, cell := &card.Matches[j], "–"
			if pick, ok := p.Picks[m.ID]; ok && pick >= 0 && pick < len(m.Teams) {
				cell = m.Teams[pick].Label()
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

// tablePage is a table with what else there is to see.
type tablePage struct {
	Table table
	Links []page.Link
}

func (a *api) getStandingsPage(c *gin.Context, _ string) error {
	return httpapi.OwnView(c, "table", "Standings", func(tx *store.Tx) (out tablePage, err error) {
		year, err := yearAsked(c, tx)
		if err != nil {
			return out, err
		}
		all, err := a.Service.Standings(tx, year)
		if err != nil {
			return out, err
		}
		up, err := a.Service.Climbed(tx, year)
		if err != nil {
			return out, err
		}
		out.Table = table{ID: "standings", Title: "Standings " + year, Heads: []string{"Name", "Points", "Right", "Events", "Change"}, None: "No event of this year was scored yet."}
		for i := range all {
			st := &all[i]
			change := "="
			if n := up[st.User]; n > 0 {
				change = fmt.Sprintf("▲ %d", n)
			} else if n < 0 {
				change = fmt.Sprintf("▼ %d", -n)
			}
			out.Table.Rows = append(out.Table.Rows, []string{
				fmt.Sprintf("%d. %s", st.Rank, st.Name), strconv.Itoa(st.Points), strconv.Itoa(st.Correct), strconv.Itoa(st.Played), change,
			})
			out.Links = append(out.Links, page.Link{Href: a.look.At("/users/" + url.PathEscape(st.User)), Text: st.Name})
		}
		years, err := a.Service.Years(tx)
		for _, y := range years {
			out.Links = append(out.Links, page.Link{Href: a.look.At("/standings") + "?year=" + y, Text: y})
		}
		return out, err
	})
}

func (a *api) getMePage(c *gin.Context, user string) error { return a.profilePage(c, user, user) }

func (a *api) getUserPage(c *gin.Context, user string) error {
	return a.profilePage(c, c.Param("id"), user)
}

// profilePage has what a user has played: of another than the reader, what is locked.
func (a *api) profilePage(c *gin.Context, user, reader string) error {
	return httpapi.OwnView(c, "table", "Picks", func(tx *store.Tx) (out tablePage, err error) {
		p, err := a.Service.Profile(tx, user, reader)
		out.Table = table{ID: "played", Title: p.Name, Heads: []string{"Event", "Points", "Right", "Picks"}, None: "Nothing was picked yet."}
		for i := range p.Events {
			e := &p.Events[i]
			counted := strconv.Itoa(len(e.Picks))
			if slices.Contains(p.NotCounted, e.EventID) {
				counted += ", one came too late"
			}
			out.Table.Rows = append(out.Table.Rows, []string{e.EventID, strconv.Itoa(e.Points), strconv.Itoa(e.Correct), counted})
			out.Links = append(out.Links, page.Link{Href: a.look.At("/events/" + e.EventID), Text: e.EventID})
		}
		return out, err
	})
}
