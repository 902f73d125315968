package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/presence"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// ownPage is a page for scorers and admins of a game.
type ownPage struct {
	*shownGame
	Roster  threefc.Roster
	Admin   bool
	Refused []refusal
	Undone  []undone
	Handed  []string // changes that somebody handed in for who made them
	Join    string   // address of the join page
	Cloud   page.CloudLine
	Scorers presence.View
	Goal    *threefc.Goal     // on the page that edits a goal
	Waiting *page.WaitingLine // only in gallery scenes
}

// undone is a goal that was changed at one node and taken back at another at the same time.
type undone struct {
	EventID string
	Said    string // the goal as it was changed
}

// Locked reports whether the game is over, and the reader is not an admin.
func (p *ownPage) Locked() bool { return p.FinishedAt != nil && !p.Admin }

// Arrived returns the goals that were tapped before the game was finished and arrived after it.
func (p *ownPage) Arrived() (all []threefc.Line) {
	for i := range p.Lines {
		if p.Lines[i].Late {
			all = append(all, p.Lines[i])
		}
	}
	return all
}

// Why says why no goal can be entered now; empty: it can be.
func (p *ownPage) Why() string {
	next := p.Next()
	switch {
	case p.Goal != nil || p.Clock != nil:
		return ""
	case next == len(p.Timer().Thirds)*2:
		return "All three thirds are over: no goal can be added."
	}
	return fmt.Sprintf("Start third %d first.", next/2+1)
}

// shownTaps is how many goals a page lists by their taps: more than a device sends between two states of the page.
const shownTaps = 100

// Taps lists the latest goals by the part of their ids that is the time in their Idempotency-Key (threefc.IDs.Goal). A phone counts a goal of
// its own that is listed no more, although it has no answer yet.
func (p *ownPage) Taps() string {
	var all []string
	for i := max(0, len(p.Lines)-shownTaps); i < len(p.Lines); i++ {
		if id := p.Lines[i].EventID; len(id) == 26 { // a ULID
			all = append(all, id[10:19])
		}
	}
	return strings.Join(all, " ")
}

// Scored reports whether a player has a goal or an assist in the game, and so cannot leave his team.
func (p *ownPage) Scored(player string) bool {
	return slices.ContainsFunc(p.Goals, func(g threefc.Goal) bool {
		return g.ScorerPlayerID == player || slices.Contains(g.AssistPlayerIDs, player)
	})
}

// In returns the players of a team.
func (p *ownPage) In(team string) (all []threefc.Player) {
	for _, one := range p.Roster.Roster {
		if one.TeamID == team {
			all = append(all, p.Roster.Players[one.PlayerID])
		}
	}
	return all
}

// ownPageOf answers with a scorer's or admin's page of a game.
func ownPageOf(kind string) func(r *request) (work, error) {
	return func(r *request) (work, error) {
		r.Kind, r.Title = kind, "3FC"
		refused, err := r.openConflicts()
		cloud, failed := httpapi.SyncStatus(r.Context)
		if kind == "scorer" {
			r.hear()
		}
		return func(tx *store.Tx) (any, error) {
			g, err := r.api.readShown(tx, r.of.ID)
			if err != nil {
				return nil, err
			}
			p := &ownPage{shownGame: g, Admin: r.isAdmin(tx), Join: r.joinPage(g.JoinCode)}
			p.Scorers = r.scorers(g.FinishedAt != nil)
			p.Roster, err = r.api.Service.Roster(tx, g.GameID)
			for _, c := range refused {
				p.Refused = append(p.Refused, g.refusal(c, &p.Roster))
			}
			if err == nil {
				err = cmp.Or(p.addUndone(r.api.Service, tx), p.addHanded(r.api.Service, tx))
			}
			if err == nil {
				err = p.addCloud(&cloud, tx, r)
			}
			if event := r.Param("event"); err == nil && event != "" {
				p.Goal, err = g.goal(event)
			}
			return p, err
		}, cmp.Or(err, failed)
	}
}

// addCloud adds whether all of the game is in the cloud.
func (p *ownPage) addCloud(st *operator.SyncStatus, tx *store.Tx, r *request) (err error) {
	p.Cloud, err = st.Line(tx, r.api.Service.Table, threefc.Partition(r.of))
	if p.Admin && len(p.Cloud.Refused) > 0 {
		p.Cloud.Review = r.api.look.At("/games/" + url.PathEscape(p.GameID) + "/conflicts")
	}
	return err
}

// addUndone adds the goals that were changed and taken back at the same time.
func (p *ownPage) addUndone(s *threefc.Service, tx *store.Tx) error {
	notes, err := s.UndoneChanges(tx, p.GameID)
	for i := range notes {
		p.Undone = append(p.Undone, undone{notes[i].Lost.EventID, p.factsSaid(&notes[i].Lost, &p.Roster)})
	}
	return err
}

// goal returns a goal of the game.
func (g *shownGame) goal(event string) (*threefc.Goal, error) {
	i := slices.IndexFunc(g.Goals, func(one threefc.Goal) bool { return one.EventID == event })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "", "This goal is no longer in the game.")
	}
	return &g.Goals[i], nil
}

// joinPage returns the address of the join page.
func (r *request) joinPage(code string) string { return r.api.link(r, "/-/join/"+code, nil) }

func (a *api) getJoinPage(r *request) (work, error) {
	r.Kind, r.Title = "join", "Join"
	return func(tx *store.Tx) (any, error) {
		g, err := a.readShown(tx, r.of.ID)
		if err != nil {
			return nil, err
		}
		in, err := a.Service.Roster(tx, g.GameID)
		var here []string // nicknames
		for _, one := range in.Players {
			here = append(here, one.Nickname)
		}
		slices.Sort(here)
		return map[string]any{"Title": g.Title, "Code": r.given, "Address": r.joinPage(r.given), "Here": here}, err
	}, r.joins()
}

// getSignInPage offers the ways to sign in, or completes a magic link. It leads back only to our own pages.
func (a *api) getSignInPage(r *request) (work, error) {
	to, home := r.Context.Query("to"), a.look.At("/")
	if !strings.HasPrefix(to, home) {
		to = home
	}
	page := map[string]any{"SignedIn": r.User != "", "Token": r.Context.Query("token"), "To": to}
	if r.signIn != nil && !r.signIn.ByCode {
		if err := r.need(threefc.UserKey(r.User)); err != nil {
			return nil, err
		}
		all, err := httpapi.Read(r.Context, r.ownSessions)
		if err != nil {
			return nil, err
		}
		page["Sessions"] = all
	}
	return nil, httpapi.AnswerOwnPage(r.Context, "signin", "Sign in", page)
}

// getInvitePage asks a signed-in user whether to accept an invite.
func (a *api) getInvitePage(r *request) (work, error) {
	if err := r.checkInvite(); err != nil {
		return nil, err
	}
	return nil, httpapi.AnswerOwnPage(r.Context, "invite", "Invitation", r.given)
}
