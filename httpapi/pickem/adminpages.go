package pickem

import (
	"fmt"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

type adminPage struct {
	Events []pickem.Listed
	Forms  []page.Form
	Users  table
}

func (a *api) getAdminPage(c *gin.Context) error {
	return httpapi.OwnView(c, "admin", "Admin", func(tx *store.Tx) (out adminPage, err error) {
		if out.Events, _, err = a.Service.Events(tx, "", 5*usualEvents, nil); err != nil {
			return out, err
		}
		users, err := a.Service.Users(tx)
		out.Users = table{ID: "users", Title: "Who was invited", Heads: []string{"Id", "Name"}, None: "Nobody yet."}
		for i := range users {
			out.Users.Rows = append(out.Users.Rows, []string{users[i].ID, users[i].Name})
		}
		out.Forms = []page.Form{{
			ID: "event", Action: a.mount + "/admin/events", Button: "Make the event", Clear: true, Fields: []page.Field{
				{Name: "name", Label: "Name", Required: true, Most: 120},
				{Name: "date", Label: "Day", Type: "date", Required: true},
				{Name: "startsAt", Label: "Starts at", Required: true, Hint: "With its zone: 2024-03-03T20:00:00-05:00"},
			},
		}, {
			ID: "user", Action: a.mount + "/admin/users", Button: "Invite", Clear: true, Fields: []page.Field{
				{Name: "userId", Label: "User's id", Required: true, Most: 64}, {Name: "name", Label: "Name", Required: true, Most: 120},
			},
		}}
		return out, err
	})
}

type editorPage struct {
	Card    pickem.Card
	Base    string
	Pads    []page.Pad
	Matches []matchView
	Forms   []page.Form
	Preview *table
}

func (a *api) getEditorPage(c *gin.Context) error {
	return httpapi.OwnView(c, "editor", "Card", func(tx *store.Tx) (editorPage, error) {
		card, err := a.Service.Event(tx, c.Param("id"), "")
		if err != nil {
			return editorPage{}, err
		}
		return a.editor(card), nil
	})
}

func (a *api) editor(card pickem.Card) editorPage {
	base := "/admin/events/" + card.ID
	out := editorPage{Card: card, Base: a.mount + base}
	upcoming := card.State == pickem.Upcoming
	missing := 0
	for i := range card.Matches {
		m := &card.Matches[i]
		v := matchView{Match: m}
		if i > 0 {
			for j := range card.Matches {
				v.Up = append(v.Up, card.Matches[j].ID)
			}
			v.Up[i-1], v.Up[i] = v.Up[i], v.Up[i-1]
		}
		if !upcoming {
			v.Pad = a.teams(m, m.Result.Team, "PUT", base+"/results", "results", "%s wins "+m.Name)
			none := page.Key{Name: "results." + m.ID, Value: "null", Number: true, Text: "No contest", What: "No contest in " + m.Name}
			if none.Main = m.Result.Known && m.Result.Team == pickem.NoContest; none.Main {
				none.Text = "✓ " + none.Text
			}
			if !m.Result.Known {
				missing++
				v.Pad.Keys[0].Main, v.Pad.Keys[0].Text = false, m.Teams[0].Label()
			}
			v.Pad.Keys = append(v.Pad.Keys, none)
		}
		out.Matches = append(out.Matches, v)
	}
	if upcoming {
		lock := page.Key{Name: "state", Value: string(pickem.Broadcast), Text: "Lock now"}
		out.Pads = []page.Pad{{Label: "Lock", Action: out.Base + "/state", Method: "PUT", Keys: []page.Key{lock}}}
		out.Forms = []page.Form{a.matchForm(out.Base)}
		return out
	}
	score := page.Key{Text: "Score", Main: true, Off: missing > 0, Aside: fmt.Sprintf("%d results missing", missing)}
	if missing == 0 {
		score.Aside = "points as below"
	}
	out.Pads = []page.Pad{{Label: "Score", Action: out.Base + "/score", Keys: []page.Key{score}}}
	out.Preview = grid(&card)
	return out
}

// The fields that a new match has for teams; a program may name more.
const (
	formTeams   = 4
	formMembers = 3
)

func (a *api) matchForm(base string) page.Form {
	f := page.Form{ID: "match", Action: base + "/matches", Button: "Put on the card", Clear: true, Fields: []page.Field{
		{Name: "name", Label: "Match", Required: true, Most: 120},
		{Name: "points", Label: "Points", Type: "number", Required: true},
		{Name: "championships[]", Label: "Championship", Most: 120},
	}}
	for i := range formTeams {
		for j := range formMembers {
			f.Fields = append(f.Fields, page.Field{
				Name: "teams." + strconv.Itoa(i) + ".members[]", Label: fmt.Sprintf("Team %d, member %d", i+1, j+1), Required: i < 2 && j == 0, Most: 80,
			})
		}
	}
	return f
}
