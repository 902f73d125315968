package threefc

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

// ownPage is what the pages of those have who run a game.
type ownPage struct {
	Head   shownGame
	Base   string // of the game's routes
	Tabs   page.Tabs
	Teams  []lineup
	Free   []person // who are here and in no team
	Over   bool
	Locked bool // over, and who looks at it is no admin
	Admin  bool

	Steps   []step // of the scorer's page: what comes next stands open
	Last    *scored
	Waiting *page.WaitingLine // on a page that stands still
	Goals   []scored          // of the page of results
	Result  *page.Table
	Join    *page.Figure // of the page of teams
	Code    string
	Form    *page.Form
	Refused []operator.Conflict // of the page of conflicts
}

// lineup is a team with those who play in it.
type lineup struct {
	side
	Players []person
}

type person struct{ ID, Nickname string }

// step is a change of the game's clock, which takes a second tap.
type step struct {
	N            int
	Action, Text string
	Here         bool
}

// scored is a goal that can be taken back.
type scored struct{ Event, Say, At string }

// game reads what the pages of a game have in common, of the tab that the reader is on.
func (r *request) game(tx *store.Tx, tab string) (*ownPage, *shownGame, error) {
	a := r.api
	g, err := a.shown(tx, r.of.ID)
	if err != nil {
		return nil, nil, err
	}
	in, err := a.Service.Roster(tx, g.Game)
	p := a.ofGame(g, &in, tab)
	p.Admin = r.isAdmin(tx)
	p.Locked = p.Over && !p.Admin
	return p, g, err
}

// ofGame lays out what the pages of a game have in common.
func (a *api) ofGame(g *shownGame, in *threefc.Roster, tab string) *ownPage {
	id := url.PathEscape(g.Game)
	p := &ownPage{Head: g.head(), Base: a.mount + "/v1/games/" + id, Tabs: a.tabs(id, tab), Over: g.board.FinishedAt != nil}
	for _, s := range g.Sides {
		l := lineup{side: s}
		for _, one := range in.Roster {
			if one.TeamID == s.ID {
				l.Players = append(l.Players, person{one.PlayerID, in.Players[one.PlayerID].Nickname})
			}
		}
		p.Teams = append(p.Teams, l)
	}
	for _, one := range in.Unassigned {
		p.Free = append(p.Free, person{one, in.Players[one].Nickname})
	}
	for i := range g.Goals {
		l := &g.Goals[i]
		p.Goals = append(p.Goals, scored{l.EventID, g.said(l), fmt.Sprintf("third %d, %s", l.Third, l.DisplayTime)})
	}
	if n := len(p.Goals); n > 0 {
		p.Last = &p.Goals[n-1]
	}
	p.steps(g.board)
	return p
}

// steps are those of a game's clock, in their order.
func (p *ownPage) steps(b *threefc.Board) {
	next := 0
	for i, t := range b.Timer().Thirds {
		for j, verb := range []string{"Start", "Finish"} {
			p.Steps = append(p.Steps, step{N: 2*i + j, Action: fmt.Sprintf("%s/thirds/%d/%s", p.Base, i+1, strings.ToLower(verb)), Text: fmt.Sprintf("%s third %d", verb, i+1)})
		}
		if t.StartedAt != nil {
			next = 2*i + 1
		}
		if t.FinishedAt != nil {
			next = 2*i + 2
		}
	}
	p.Steps = append(p.Steps, step{N: len(p.Steps), Action: p.Base + "/finish", Text: "Finish the game"})
	if p.Steps[next].Here = true; p.Over {
		p.Steps = nil
	}
}

// own answers with a page of those who run a game.
func (r *request) own(kind, tab string, more func(tx *store.Tx, p *ownPage, g *shownGame) error) error {
	return httpapi.OwnView(r.Context, kind, "3FC", func(tx *store.Tx) (*ownPage, error) {
		p, g, err := r.game(tx, tab)
		if err == nil && more != nil {
			err = more(tx, p, g)
		}
		return p, err
	})
}

func (a *api) getScorePage(r *request) error {
	refused, err := a.refused(r)
	if err != nil {
		return err
	}
	return r.own("scorer", "/score", func(_ *store.Tx, p *ownPage, _ *shownGame) error {
		p.Refused = refused
		return nil
	})
}

func (a *api) getTeamsPage(r *request) error {
	return r.own("teams", "/teams", func(_ *store.Tx, p *ownPage, g *shownGame) error { return a.withCode(r, p, g) })
}

// withCode adds the code to join a game.
func (a *api) withCode(r *request, p *ownPage, g *shownGame) (err error) {
	p.Form = &page.Form{ID: "player", Action: p.Base + "/players", Button: "Add the player", Clear: true, Fields: []page.Field{{Name: "nickname", Label: "Nickname", Required: true, Most: maxNickname}}}
	if p.Code = g.board.JoinCode; p.Code != "" {
		p.Join, err = a.joinFigure(r, p.Code)
	}
	return err
}

// joinFigure is the code that leads to the page to join by.
func (a *api) joinFigure(r *request, code string) (*page.Figure, error) {
	at := a.link(r, "/-/join/"+code, nil)
	f, err := page.QR(at, at)
	return &f, err
}

func (a *api) getResultsPage(r *request) error {
	return r.own("results", "/results", func(_ *store.Tx, p *ownPage, g *shownGame) error {
		slices.Reverse(p.Goals)
		if res := g.board.Result; res != nil {
			p.Result = &page.Table{ID: "result", Title: "Result", Heads: []string{"Team", "Conceded", "Scored", "Outcome"}}
			for _, t := range res.Teams {
				p.Result.Rows = append(p.Result.Rows, append([]string{fmt.Sprintf("%d. %s", t.Rank, t.Name)}, counts(t.Conceded, t.Scored, t.Outcome)...))
			}
		}
		return nil
	})
}

func (a *api) getConflictsPage(r *request) error {
	refused, err := a.refused(r)
	if err != nil {
		return err
	}
	return r.own("conflicts", "", func(_ *store.Tx, p *ownPage, _ *shownGame) error {
		p.Refused = refused
		return nil
	})
}

// mostConflicts is how many of the table's are looked through for those of a game.
const mostConflicts = 100

// refused are the open conflicts of a game: what the cloud has not taken, and nothing has settled.
func (a *api) refused(r *request) (of []operator.Conflict, err error) {
	all, err := httpapi.Conflicts(r.Context, operator.ConflictAsk{Table: a.Service.Table, Limit: mostConflicts})
	for i := range all {
		var key struct {
			PK struct{ S string } `json:"pk"`
		}
		if json.Unmarshal(all[i].Key, &key) == nil && key.PK.S == "GAME#"+r.of.ID {
			of = append(of, all[i])
		}
	}
	return of, err
}

type joinPage struct {
	Title, Code string
	QR          *page.Figure
	Form        page.Form
	Here        []string // nicknames
}

func (a *api) getJoinPage(r *request) error {
	err := r.code("Join code")
	if err == nil {
		err = r.need(threefc.JoinKey(r.given))
	}
	if err != nil {
		return err
	}
	code := r.given
	p := joinPage{Code: code, Form: a.joinForm(code)}
	if p.QR, err = a.joinFigure(r, code); err != nil {
		return err
	}
	return httpapi.OwnView(r.Context, "join", "Join", func(tx *store.Tx) (joinPage, error) {
		game, err := a.Service.JoinCode(tx, code)
		if err != nil {
			return p, err
		}
		g, err := a.shown(tx, game)
		if err != nil {
			return p, err
		}
		p.Title = g.Title
		in, err := a.Service.Roster(tx, game)
		for _, one := range in.Players {
			p.Here = append(p.Here, one.Nickname)
		}
		slices.Sort(p.Here)
		return p, err
	})
}

func (a *api) joinForm(code string) page.Form {
	return page.Form{ID: "join", Action: a.mount + "/v1/join/" + code, What: "Join the game", Button: "Join", Clear: true, Fields: []page.Field{
		{Name: "nickname", Label: "Nickname", Required: true, Most: maxNickname, Hint: "Everybody sees it. No account is needed."},
	}}
}

type signInPage struct {
	Mount    string
	SignedIn bool
	Token    string // of a link
	To       string // where its reader came from
}

func (a *api) getSignInPage(r *request) error {
	p := signInPage{Mount: a.mount, SignedIn: r.user != "", Token: r.Query("token"), To: r.Query("to")}
	if home := a.look.At("/"); !strings.HasPrefix(p.To, home) {
		p.To = home
	}
	return httpapi.Own(r.Context, "signin", "Sign in", p)
}

// getInvitePage asks somebody who has signed in whether to accept.
func (a *api) getInvitePage(r *request) error {
	if err := r.code("Invite"); err != nil {
		return err
	}
	return httpapi.Own(r.Context, "invite", "Invitation", page.Form{ID: "invite", Action: a.mount + "/v1/invites/" + r.given + "/accept", Button: "Accept the invitation"})
}
