package hacktracker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/page"
)

// homePage shows a user's game in progress, their next game and their teams.
type homePage struct {
	Mount, User string // User: the reader's ID, by which a manager links them
	Groups      []page.Group
}

func (a *api) homePage(b *hacktracker.Book, r *call) any {
	mine := page.Group{ID: "teams", Title: "My teams", None: "You are not on a team yet. Create one, or ask a manager to link you to a player on theirs."}
	live := page.Group{ID: "live", Title: "Live", None: "No game in progress."}
	next := page.Group{ID: "next", Title: "Next", None: "No game scheduled."}
	soonest := ""
	for _, t := range b.TeamsOf(r.user) {
		mine.Tiles = append(mine.Tiles, page.Tile{Href: a.look.At("/teams/" + t.ID), Title: t.Name, Line: strings.ToLower(t.Type) + ", " + string(t.Role)})
		for _, g := range b.GamesOf(t.ID) {
			switch {
			case g.Status == hacktracker.InProgress:
				live.Tiles = append(live.Tiles, a.tile(&t, &g))
			case g.Status == hacktracker.Scheduled && g.ScheduledStart > b.At(0) && (soonest == "" || g.ScheduledStart < soonest):
				soonest, next.Tiles = g.ScheduledStart, []page.Tile{a.tile(&t, &g)}
			}
		}
	}
	return homePage{a.mount, r.user, []page.Group{live, next, mine}}
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
	Mount  string
	Team   hacktracker.Team
	Title  string
	Tabs   page.Tabs
	Line   string
	CSV    string
	Balls  []ball
	Tables []page.Table
	Group  *page.Group
	Player *hacktracker.Player // that the reader may change, or nil
}

func (a *api) teamPage(b *hacktracker.Book, r *call, here string) *teamPage {
	t := b.Team(r.id("team"))
	tabs := page.NewTabs("Team", a.look.At("/teams/"+t.ID), here, "", "Stats", "/schedule", "Schedule", "/roster", "Roster")
	return &teamPage{Mount: a.mount, Team: t, Title: t.Name, Tabs: tabs}
}

var statHeads = []string{"Player", "G", "PA", "AB", "H", "2B", "3B", "HR", "RBI", "BB", "K", "AVG", "OBP", "SLG", "OPS"}

func statRow(name string, games int, b *hacktracker.Batting) []string {
	return cells[any](name, games, b.PA, b.AB, b.H, b.Doubles, b.Triples, b.HR, b.RBI, b.BB, b.K, b.AVG, b.OBP, b.SLG, b.OPS)
}

// statsPage shows a team's record, its players' statistics and where its balls went, the reader's own first.
func (a *api) statsPage(b *hacktracker.Book, r *call) any {
	p, stats, roster := a.teamPage(b, r, ""), b.TeamStats(r.id("team"), ""), b.Roster(r.id("team"), hacktracker.RosterQuery{})
	own := page.Table{ID: "mine", Title: "My stats", Heads: statHeads}
	team := page.Table{ID: "players", Title: "Team", Heads: statHeads, None: "No players yet."}
	names := map[string]string{}
	for i := range stats.Players {
		l := &stats.Players[i]
		names[l.PlayerID] = numbered(l.Number, l.Name)
		row := statRow(cmp.Or(names[l.PlayerID], "former player"), l.Games, &l.Batting)
		team.Rows = append(team.Rows, row)
		if i < len(roster) && roster[i].UserID != nil && *roster[i].UserID == r.user {
			own.Rows = append(own.Rows, row)
		}
	}
	if p.Tables = []page.Table{team}; len(own.Rows) > 0 {
		p.Tables = []page.Table{own, team}
	}
	p.Line = fmt.Sprintf("%d–%d–%d, runs %d–%d, AVG %s, %d HR", stats.Wins, stats.Losses, stats.Ties, stats.RunsFor, stats.RunsAgainst,
		stats.Batting.AVG, stats.Batting.HR)
	if len(stats.LastFive) > 0 {
		p.Line += ", last " + strings.Join(stats.LastFive, " ")
	}
	p.Balls = balls(stats.AtBats, func(id string) string { return names[id] })
	p.CSV = a.mount + "/teams/" + p.Team.ID + "/stats.csv"
	return p
}

func (a *api) schedulePage(b *hacktracker.Book, r *call) any {
	p := a.teamPage(b, r, "/schedule")
	p.Group = &page.Group{ID: "games", Title: "Games", None: "No games yet."}
	for _, g := range b.GamesOf(p.Team.ID) {
		p.Group.Tiles = append(p.Group.Tiles, a.tile(&p.Team, &g))
	}
	return p
}

func (a *api) rosterPage(b *hacktracker.Book, r *call) any {
	p := a.teamPage(b, r, "/roster")
	p.Group = &page.Group{ID: "roster", Title: "Roster", None: "No players yet."}
	for _, one := range b.Roster(p.Team.ID, hacktracker.RosterQuery{Roles: true}) {
		line := append(slices.Clone(one.Positions), one.Status, "ghost: no account")
		if !one.Ghost {
			line[len(line)-1] = fmt.Sprintf("linked to %s, %s", one.Account, one.Role)
		}
		if one.Refused != nil {
			line = append(line, fmt.Sprintf("number %d was given to another player at the same time: choose a new one", *one.Refused))
		}
		p.Group.Tiles = append(p.Group.Tiles, page.Tile{
			Href: a.look.At("/teams/" + p.Team.ID + "/players/" + one.ID), Title: numbered(one.Number, one.Name()), Line: strings.Join(line, ", "),
		})
	}
	return p
}

// Manages reports whether the reader may change the roster.
func (p *teamPage) Manages() bool {
	return p.Team.Type == hacktracker.Managed && (p.Team.Role == hacktracker.Owner || p.Team.Role == hacktracker.Manager)
}

func (a *api) playerPage(b *hacktracker.Book, r *call) any {
	p, stats := a.teamPage(b, r, "-"), b.PlayerStats(r.id("player"), r.id("team"))
	p.Title = cmp.Or(stats.Name, "former player")
	roster := b.Roster(p.Team.ID, hacktracker.RosterQuery{Roles: true})
	if i := slices.IndexFunc(roster, func(one hacktracker.Player) bool { return one.ID == stats.PlayerID }); i >= 0 && p.Manages() {
		p.Player = &roster[i]
	}
	heads := append([]string{"Game"}, statHeads[1:]...)
	line := page.Table{ID: "line", Title: "By game", Heads: heads, Rows: [][]string{statRow("All", len(stats.Games), &stats.Batting)}}
	for i := range slices.Backward(stats.Games) {
		g := b.Game(stats.Games[i].GameID)
		line.Rows = append(line.Rows, statRow(a.tile(&p.Team, &g).Line, 1, &stats.Games[i].Batting))
	}
	p.Tables, p.Balls = []page.Table{line}, balls(stats.AtBats, func(string) string { return stats.Name })
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
		out = append(out, ball{100 * at.HitLocation.X, 100 * at.HitLocation.Y, class, name(at.PlayerID) + ": " + worded(at.Result) + " to " + side})
	}
	return out
}

// teamCSV answers with a team's statistics as CSV, with the columns that other scorebooks export.
func (a *api) teamCSV(r *call) error {
	stats, err := httpapi.Read(r.Context, in(a, r, func(b *hacktracker.Book, r *call) hacktracker.TeamStats {
		return b.TeamStats(r.id("team"), r.query.Text("seasonId", maxText))
	}))
	if err != nil {
		return err
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
	return httpapi.CSV(r.Context, "stats.csv", rows)
}

// cells formats values for a table.
func cells[T any](all ...T) (out []string) {
	for _, one := range all {
		out = append(out, fmt.Sprint(one))
	}
	return out
}
