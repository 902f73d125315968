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
)

// homePage shows a user's game in progress, their next game and their teams.
type homePage struct {
	User       string // the reader's ID, by which a manager links them
	Live, Next []page.Tile
	Teams      []hacktracker.Team
}

func (a *api) homePage(b *hacktracker.Book, r *call) any {
	p := &homePage{User: r.User, Teams: b.TeamsOf(r.User)}
	soonest := ""
	for i := range p.Teams {
		t := &p.Teams[i]
		live, next := b.Coming(t.ID)
		for i := range live {
			p.Live = append(p.Live, a.tile(t, &live[i]))
		}
		if next != nil && (soonest == "" || next.ScheduledStart < soonest) {
			soonest, p.Next = next.ScheduledStart, []page.Tile{a.tile(t, next)}
		}
	}
	return p
}

// Joined returns the teams that the reader has accepted to be on, and can leave.
func (p *homePage) Joined() []hacktracker.Team {
	return slices.DeleteFunc(slices.Clone(p.Teams), func(t hacktracker.Team) bool { return t.Offered || t.OwnerID == p.User })
}

// tile links to a game and shows its outcome.
func (a *api) tile(t *hacktracker.Team, g *hacktracker.Game) page.Tile {
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
	return page.Tile{Href: a.look.At("/games/" + g.ID), Title: outcome + t.Name + " v " + cmp.Or(g.Opponent, "Opponent"), Line: strings.Join(line, ", "), At: at}
}

// teamPage is the view of one of a team's tabs, or of one of its players.
type teamPage struct {
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

func newTeam(b *hacktracker.Book, r *call, tab string) *teamPage {
	t := b.Team(r.id("team"))
	return &teamPage{Team: t, Title: t.Name, Tab: tab}
}

// statsPage shows a team's record, its players' statistics and where its balls went, the reader's own first.
func (a *api) statsPage(b *hacktracker.Book, r *call) any {
	p, stats, roster := newTeam(b, r, ""), b.TeamStats(r.id("team"), ""), b.Roster(r.id("team"), hacktracker.RosterQuery{})
	names := map[string]string{}
	for i := range stats.Players {
		l := &stats.Players[i]
		names[l.PlayerID] = shirtAndName(l.Number, l.Name)
		line := statLine{cmp.Or(names[l.PlayerID], "former player"), l.Games, l.Batting}
		p.All = append(p.All, line)
		if i < len(roster) && roster[i].UserID != nil && *roster[i].UserID == r.User {
			p.Mine = append(p.Mine, line)
		}
	}
	p.Stats, p.Balls = &stats, balls(stats.AtBats, func(id string) string { return names[id] })
	return p
}

// tilesOnPage is how many games a page lists.
const tilesOnPage = 200

func (a *api) schedulePage(b *hacktracker.Book, r *call) any {
	p := newTeam(b, r, "/schedule")
	all, next := b.GamesOf(p.Team.ID, r.gamesPage(tilesOnPage))
	for i := range all {
		p.Games = append(p.Games, a.tile(&p.Team, &all[i]))
	}
	if next != nil {
		p.More = "?" + url.Values{"cursor": {cursorOf(next)}}.Encode()
	}
	return p
}

func (a *api) rosterPage(b *hacktracker.Book, r *call) any {
	p := newTeam(b, r, "/roster")
	p.Roster = b.Roster(p.Team.ID, hacktracker.RosterQuery{Roles: true})
	return p
}

// Manages reports whether the reader may change the roster.
func (p *teamPage) Manages() bool {
	return p.Team.Type == hacktracker.Managed && (p.Team.Role == hacktracker.Owner || p.Team.Role == hacktracker.Manager)
}

func (a *api) playerPage(b *hacktracker.Book, r *call) any {
	p, stats := newTeam(b, r, "/players"), b.PlayerStats(r.id("player"), r.id("team"))
	p.Title = cmp.Or(stats.Name, "former player")
	roster := b.Roster(p.Team.ID, hacktracker.RosterQuery{Roles: true})
	if i := slices.IndexFunc(roster, func(one hacktracker.Player) bool { return one.ID == stats.PlayerID }); i >= 0 && p.Manages() {
		p.Player = &roster[i]
	}
	p.All = []statLine{{"All", len(stats.Games), stats.Batting}}
	for i := range slices.Backward(stats.Games) {
		g := b.Game(stats.Games[i].GameID)
		p.All = append(p.All, statLine{a.tile(&p.Team, &g).Line, 1, stats.Games[i].Batting})
	}
	p.Balls = balls(stats.AtBats, func(string) string { return stats.Name })
	return p
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

// teamCSV answers with a team's statistics as CSV, with the columns that other scorebooks export.
func (a *api) teamCSV(r *call) (httpapi.Work, error) {
	stats, err := httpapi.Read(r.Context, inTransaction(a, r, func(b *hacktracker.Book, r *call) hacktracker.TeamStats {
		return b.TeamStats(r.id("team"), r.Query.Text("seasonId", maxText))
	}))
	if err != nil {
		return nil, err
	}
	rows := [][]string{strings.Split("Number,Player,GP,PA,AB,AVG,OBP,SLG,OPS,H,1B,2B,3B,HR,RBI,BB,K,HBP,SF,SH,TB,ISO,BABIP", ",")}
	for i := range stats.Players {
		p := &stats.Players[i]
		figures := cells[any](p.Games, p.PA, p.AB, p.AVG, p.OBP, p.SLG, p.OPS, p.H, p.H-p.Doubles-p.Triples-p.HR, p.Doubles, p.Triples, p.HR,
			p.RBI, p.BB, p.K, p.HBP, p.SF, p.SH, p.TB, p.ISO, p.BABIP)
		for i := range figures {
			figures[i] = strings.TrimLeft(figures[i], "-") // unknown averages are left empty
		}
		rows = append(rows, append([]string{hacktracker.Shirt(p.Number), p.Name}, figures...))
	}
	return nil, httpapi.CSV(r.Context, "stats.csv", rows)
}

// cells formats values for a table.
func cells[T any](all ...T) (out []string) {
	for _, one := range all {
		out = append(out, fmt.Sprint(one))
	}
	return out
}
