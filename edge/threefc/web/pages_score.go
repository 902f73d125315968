package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
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

func (h *handlers) teamsPage(r *httpapi.Request) (httpapi.Response, error) {
	return h.answerOwnPage(r, "teams")
}

// scorerPage is where goals are entered. A device that has it open counts among the scorers of the game.
func (h *handlers) scorerPage(r *httpapi.Request) (httpapi.Response, error) {
	who, report := scorerOf(r)
	h.Scorers.Hear(r.Param("game"), who, report, false)
	return h.answerOwnPage(r, "scorer")
}

func (h *handlers) resultsPage(r *httpapi.Request) (httpapi.Response, error) {
	return h.answerOwnPage(r, "results")
}

// correctPage edits the goal in the path.
func (h *handlers) correctPage(r *httpapi.Request) (httpapi.Response, error) {
	return h.answerOwnPage(r, "correct")
}

func (h *handlers) conflictsPage(r *httpapi.Request) (httpapi.Response, error) {
	return h.answerOwnPage(r, "conflicts")
}

// answerOwnPage answers with a scorer's or admin's page of a game.
func (h *handlers) answerOwnPage(r *httpapi.Request, kind string) (httpapi.Response, error) {
	refused, err := h.gameConflicts(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	cloud, err := r.SyncStatus()
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Page(kind, "3FC", func(tx *store.Tx) (any, error) {
		p, err := h.readOwnPage(tx, r)
		if err != nil {
			return nil, err
		}
		for _, c := range refused {
			p.Refused = append(p.Refused, p.refusal(c, &p.Roster))
		}
		if p.Cloud, err = cloud.Line(tx, h.Service.Table, threefc.Partition(admitted(r).of)); err != nil {
			return nil, err
		}
		if p.Admin && len(p.Cloud.Refused) > 0 {
			p.Cloud.Review = h.look.At("/games/" + url.PathEscape(p.GameID) + "/conflicts")
		}
		return p, nil
	})
}

// readOwnPage reads what a page shows of its game and, if the path names one, of a goal.
func (h *handlers) readOwnPage(tx *store.Tx, r *httpapi.Request) (*ownPage, error) {
	g, err := h.readShown(tx, r.Param("game"))
	if err != nil {
		return nil, err
	}
	p := &ownPage{shownGame: g, Admin: h.isAdmin(tx, r, admitted(r).league), Join: h.joinAddress(r, g.JoinCode)}
	who, _ := scorerOf(r)
	p.Scorers = h.Scorers.ViewOf(g.GameID, who, g.FinishedAt != nil)
	if p.Roster, err = h.Service.Roster(tx, g.GameID); err != nil {
		return nil, err
	}
	if err := cmp.Or(p.addUndone(h.Service, tx), p.addHanded(h.Service, tx)); err != nil {
		return nil, err
	}
	if event := r.Param("event"); event != "" {
		p.Goal, err = g.goal(event)
	}
	return p, err
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

// joinAddress returns the address of the join page.
func (h *handlers) joinAddress(r *httpapi.Request, code string) string {
	return h.link(r, "/-/join/"+code, nil)
}

// joinPage is where a player joins a game by its code.
func (h *handlers) joinPage(r *httpapi.Request) (httpapi.Response, error) {
	code, game, err := h.findJoinCode(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Page("join", "Join", func(tx *store.Tx) (any, error) {
		g, err := h.readShown(tx, game)
		if err != nil {
			return nil, err
		}
		in, err := h.Service.Roster(tx, g.GameID)
		var here []string // nicknames
		for _, one := range in.Players {
			here = append(here, one.Nickname)
		}
		slices.Sort(here)
		return map[string]any{"Title": g.Title, "Code": code, "Address": h.joinAddress(r, code), "Here": here}, err
	})
}

// signInPage offers the ways to sign in, or completes a magic link. It leads back only to our own pages.
func (h *handlers) signInPage(r *httpapi.Request) (httpapi.Response, error) {
	given, home := r.URL.Query(), h.look.At("/")
	to := given.Get("to")
	if !strings.HasPrefix(to, home) {
		to = home
	}
	data := map[string]any{"SignedIn": r.User != "", "Token": given.Get("token"), "To": to}
	in := admitted(r).signIn
	if in == nil || in.ByCode {
		return r.PageWith("signin", "Sign in", data)
	}
	if err := r.Fetch(threefc.UserKey(r.User)); err != nil {
		return httpapi.Response{}, err
	}
	err := r.View(func(tx *store.Tx) (err error) {
		data["Sessions"], err = h.readOwnSessions(tx, r)
		return err
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.PageWith("signin", "Sign in", data)
}

// invitePage asks a signed-in user whether to accept an invite.
func (h *handlers) invitePage(r *httpapi.Request) (httpapi.Response, error) {
	code, err := h.findInvite(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.PageWith("invite", "Invitation", code)
}
