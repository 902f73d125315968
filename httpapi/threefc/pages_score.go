package threefc

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// ownPage is the view of the pages for scorers and admins of a game.
type ownPage struct {
	Head   *shownGame
	Base   string // path of the game's routes
	Tabs   page.Tabs
	Teams  []lineup
	Free   []threefc.Player // players without a team
	Over   bool
	Locked bool // over, and the reader is not an admin
	Admin  bool

	Steps    []step // on the scorer's page; the next one is open
	Last     *scored
	Waiting  *page.WaitingLine // only in gallery scenes
	Goals    []scored          // on the results page
	Result   *threefc.Result
	Goal     *threefc.Goal // on the page that edits a goal
	Assisted map[string]bool
	Join     *page.Figure // on the teams page
	Code     string
	Refused  []refusal
}

// lineup is a team with its players.
type lineup struct {
	side
	Players []threefc.Player
}

// step is a timer action, which a second tap confirms.
type step struct {
	N            int
	Action, Text string
	Here         bool
}

// scored is a goal in words.
type scored struct{ Event, Say, At string }

// ofGame builds the common part of a game's pages.
func (a *api) ofGame(g *shownGame, in *threefc.Roster, tab string) *ownPage {
	p := &ownPage{Head: g, Base: a.mount + "/v1/games/" + url.PathEscape(g.Game), Tabs: a.tabs(g.Game, tab), Over: g.board.FinishedAt != nil, Result: g.board.Result}
	for _, s := range g.Sides {
		l := lineup{side: s}
		for _, one := range in.Roster {
			if one.TeamID == s.TeamID {
				l.Players = append(l.Players, in.Players[one.PlayerID])
			}
		}
		p.Teams = append(p.Teams, l)
	}
	for _, one := range in.Unassigned {
		p.Free = append(p.Free, in.Players[one])
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

// steps adds the timer actions of a game, in order.
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

// own answers with a scorer's or admin's page of a game, with the given tab selected.
func own(kind, tab string, more func(tx *store.Tx, r *request, p *ownPage) error) func(r *request) error {
	return func(r *request) error {
		refused, err := r.refused()
		if err != nil {
			return err
		}
		return httpapi.OwnView(r.Context, kind, "3FC", func(tx *store.Tx) (*ownPage, error) {
			g, err := r.api.shown(tx, r.of.ID)
			if err != nil {
				return nil, err
			}
			in, err := r.api.Service.Roster(tx, g.Game)
			p := r.api.ofGame(g, &in, tab)
			p.Admin = r.isAdmin(tx)
			p.Locked = p.Over && !p.Admin
			for _, c := range refused {
				p.Refused = append(p.Refused, g.refusal(c, &in))
			}
			if err == nil && more != nil {
				err = more(tx, r, p)
			}
			return p, err
		})
	}
}

// withCode adds the join code of a game.
func withCode(_ *store.Tx, r *request, p *ownPage) (err error) {
	if p.Code = p.Head.board.JoinCode; p.Code != "" {
		p.Join, err = r.api.joinFigure(r, p.Code)
	}
	return err
}

// joinFigure returns the QR code of the join page.
func (a *api) joinFigure(r *request, code string) (*page.Figure, error) {
	at := a.link(r, "/-/join/"+code, nil)
	f, err := page.QR(at)
	return &f, err
}

func newestFirst(_ *store.Tx, _ *request, p *ownPage) error {
	slices.Reverse(p.Goals)
	return nil
}

// withGoal adds the goal to edit.
func withGoal(_ *store.Tx, r *request, p *ownPage) error {
	all := p.Head.board.Goals
	i := slices.IndexFunc(all, func(g threefc.Goal) bool { return g.EventID == r.Param("event") })
	if i < 0 {
		return fault.New(fault.NotFound, "", "This goal is no longer in the game.")
	}
	p.Goal, p.Assisted = &all[i], map[string]bool{}
	for _, id := range all[i].AssistPlayerIDs {
		p.Assisted[id] = true
	}
	return nil
}

type joinPage struct {
	Title, Code, Mount string
	QR                 *page.Figure
	Here               []string // nicknames
}

func (a *api) getJoinPage(r *request) error {
	if err := r.joins(); err != nil {
		return err
	}
	qr, err := a.joinFigure(r, r.given)
	if err != nil {
		return err
	}
	p := joinPage{Code: r.given, Mount: a.mount, QR: qr}
	return httpapi.OwnView(r.Context, "join", "Join", func(tx *store.Tx) (joinPage, error) {
		g, err := a.shown(tx, r.of.ID)
		if err != nil {
			return p, err
		}
		p.Title = g.Title
		in, err := a.Service.Roster(tx, g.Game)
		for _, one := range in.Players {
			p.Here = append(p.Here, one.Nickname)
		}
		slices.Sort(p.Here)
		return p, err
	})
}

type signInPage struct {
	Mount    string
	SignedIn bool
	Token    string // from a magic link
	To       string // page to return to
}

func (a *api) getSignInPage(r *request) error {
	p := signInPage{Mount: a.mount, SignedIn: r.user != "", Token: r.Query("token"), To: r.Query("to")}
	if home := a.look.At("/"); !strings.HasPrefix(p.To, home) {
		p.To = home
	}
	return httpapi.Own(r.Context, "signin", "Sign in", p)
}

// getInvitePage asks a signed-in user whether to accept an invite.
func (a *api) getInvitePage(r *request) error {
	if err := r.invited(); err != nil {
		return err
	}
	return httpapi.Own(r.Context, "invite", "Invitation", a.mount+"/v1/invites/"+r.given+"/accept")
}
