package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

// homeView shows a user's game in progress, their next game and their teams.
type homeView struct {
	User       string // the reader's ID, by which a manager links them
	Live, Next []page.Tile
	Teams      []hacktracker.Team
}

func (h *handlers) homePage(r *httpapi.Request) (httpapi.Response, error) {
	return h.showPage(r, "home", "HackTracker", func(b *hacktracker.Book) any {
		view := &homeView{User: r.User, Teams: b.TeamsOf(r.User)}
		soonest := ""
		for i := range view.Teams {
			team := &view.Teams[i]
			live, next := b.Coming(team.ID)
			for i := range live {
				view.Live = append(view.Live, h.gameTile(team, &live[i]))
			}
			if next != nil && (soonest == "" || next.ScheduledStart < soonest) {
				soonest = next.ScheduledStart
				view.Next = []page.Tile{h.gameTile(team, next)}
			}
		}
		return view
	})
}

// showPage answers with a page of what do reads from the scorebook.
func (h *handlers) showPage(r *httpapi.Request, kind, title string, do func(b *hacktracker.Book) any) (httpapi.Response, error) {
	return r.Page(kind, title, func(tx *store.Tx) (any, error) {
		b := h.open(tx, r)
		view := do(b)
		return view, b.Err()
	})
}

// Joined returns the teams that the reader has accepted to be on, and can leave.
func (p *homeView) Joined() []hacktracker.Team {
	return slices.DeleteFunc(slices.Clone(p.Teams), func(t hacktracker.Team) bool { return t.Offered || t.OwnerID == p.User })
}

// gameTile links to a game and shows its outcome.
func (h *handlers) gameTile(t *hacktracker.Team, g *hacktracker.Game) page.Tile {
	line := []string{pills[g.Status].Text}
	if g.Status == hacktracker.Final || g.Status == hacktracker.InProgress {
		line[0] += fmt.Sprintf(" %d–%d", g.TeamScore, g.OpponentScore)
	}
	at, _ := time.Parse(time.RFC3339, g.ScheduledStart) // zero if not scheduled yet
	if g.Location != "" {
		line = append(line, g.Location)
	}
	outcome := ""
	if last := hacktracker.NewRecord([]hacktracker.Game{*g}).LastFive; len(last) > 0 {
		outcome = last[0] + " "
	}
	return page.Tile{Href: h.look.At("/games/" + g.ID), Title: outcome + t.Name + " v " + cmp.Or(g.Opponent, "Opponent"), Line: strings.Join(line, ", "), At: at}
}

// teamView is the view of one of a team's tabs, or of one of its players.
type teamView struct {
	Team  hacktracker.Team
	Title string
	Tab   string // path of the tab, below that of the team

	Stats  *hacktracker.TeamStats // of the tab Stats
	Mine   []statLine             // the reader's own players
	All    []statLine             // the players, or one player's games
	Balls  []ball
	Games  []page.Tile
	More   string // query of the page with the games before these; empty: none
	Roster []hacktracker.Player
	Player *hacktracker.Player // that the reader may change, or nil
}

// statLine is a line of a table of statistics.
type statLine struct {
	Name  string
	Games int
	hacktracker.Batting
}

// readTeam begins the view of a team's tab.
func readTeam(b *hacktracker.Book, r *httpapi.Request, tab string) *teamView {
	team := b.Team(r.Param("team"))
	return &teamView{Team: team, Title: team.Name, Tab: tab}
}

// statsPage shows a team's record, its players' statistics and where its balls went, the reader's own first.
func (h *handlers) statsPage(r *httpapi.Request) (httpapi.Response, error) {
	return h.showPage(r, "team", "Team", func(b *hacktracker.Book) any {
		view, stats := readTeam(b, r, ""), b.TeamStats(r.Param("team"), "")
		roster := b.Roster(r.Param("team"), hacktracker.RosterQuery{})
		names := map[string]string{}
		for i := range stats.Players {
			l := &stats.Players[i]
			names[l.PlayerID] = shirtAndName(l.Number, l.Name)
			line := statLine{cmp.Or(names[l.PlayerID], "former player"), l.Games, l.Batting}
			view.All = append(view.All, line)
			if i < len(roster) && roster[i].UserID != nil && *roster[i].UserID == r.User {
				view.Mine = append(view.Mine, line)
			}
		}
		view.Stats = &stats
		view.Balls = balls(stats.AtBats, func(id string) string { return names[id] })
		return view
	})
}

// tilesOnPage is how many games a page lists.
const tilesOnPage = 200

func (h *handlers) schedulePage(r *httpapi.Request) (httpapi.Response, error) {
	page := readGamesPage(r.Query, tilesOnPage)
	return h.showPage(r, "team", "Schedule", func(b *hacktracker.Book) any {
		view := readTeam(b, r, "/schedule")
		games, next := b.GamesOf(view.Team.ID, page)
		for i := range games {
			view.Games = append(view.Games, h.gameTile(&view.Team, &games[i]))
		}
		if next != nil {
			view.More = "?" + url.Values{"cursor": {cursorOf(next)}}.Encode()
		}
		return view
	})
}

func (h *handlers) rosterPage(r *httpapi.Request) (httpapi.Response, error) {
	return h.showPage(r, "team", "Roster", func(b *hacktracker.Book) any {
		view := readTeam(b, r, "/roster")
		view.Roster = b.Roster(view.Team.ID, hacktracker.RosterQuery{Roles: true})
		return view
	})
}

// Manages reports whether the reader may change the roster.
func (p *teamView) Manages() bool {
	return p.Team.Type == hacktracker.Managed && (p.Team.Role == hacktracker.Owner || p.Team.Role == hacktracker.Manager)
}

func (h *handlers) playerPage(r *httpapi.Request) (httpapi.Response, error) {
	return h.showPage(r, "team", "Player", func(b *hacktracker.Book) any {
		view, stats := readTeam(b, r, "/players"), b.PlayerStats(r.Param("player"), r.Param("team"))
		view.Title = cmp.Or(stats.Name, "former player")
		roster := b.Roster(view.Team.ID, hacktracker.RosterQuery{Roles: true})
		i := slices.IndexFunc(roster, func(p hacktracker.Player) bool { return p.ID == stats.PlayerID })
		if i >= 0 && view.Manages() {
			view.Player = &roster[i]
		}
		view.All = []statLine{{"All", len(stats.Games), stats.Batting}}
		for i := range slices.Backward(stats.Games) {
			game := b.Game(stats.Games[i].GameID)
			view.All = append(view.All, statLine{h.gameTile(&view.Team, &game).Line, 1, stats.Games[i].Batting})
		}
		view.Balls = balls(stats.AtBats, func(string) string { return stats.Name })
		return view
	})
}

// ball is where a ball was hit to, in hundredths of the field's picture.
type ball struct {
	X, Y       float64
	Class, Say string
}

// balls returns the balls for which a place was scored.
func balls(all []hacktracker.AtBat, name func(string) string) (out []ball) {
	for i := range all {
		at := &all[i]
		if at.HitLocation == nil {
			continue
		}
		side, class := "centre", "out"
		switch x := at.HitLocation.X; {
		case x < 0.4:
			side = "left"
		case x > 0.6:
			side = "right"
		}
		if slices.Contains([]string{"1B", "2B", "3B", "HR"}, at.Result) {
			class = "hit"
		}
		out = append(out, ball{100 * at.HitLocation.X, 100 * at.HitLocation.Y, class, name(at.PlayerID) + ": " + wordsOfID(at.Result) + " to " + side})
	}
	return out
}
