package threefc

import (
	"fmt"
	"strconv"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

// shownSeason is a season as its page shows it.
type shownSeason struct {
	ID, Name       string
	Table, Players page.Table
	Fixtures       []fixture
}

// fixture is a game of a season.
type fixture struct{ Game, Start, Say, Line string }

// shownSeason reads a season; london: with the points of the London league, and players by goals a game.
func (a *api) shownSeason(tx *store.Tx, id string, london bool) (s shownSeason, err error) {
	season, err := a.Service.Season(tx, id)
	if err != nil {
		return s, err
	}
	s = shownSeason{ID: id, Name: season.Name}
	table, err := a.Service.Standings(tx, id, london)
	if err != nil {
		return s, err
	}
	s.Table = standings(table, london)
	leaders, err := a.Service.Leaders(tx, id, london)
	if err != nil {
		return s, err
	}
	s.Players = page.Table{ID: "players", Title: "Players", Heads: []string{"Player", "Goals", "Own goals", "Assists", "Games", "Goals a game"}, None: "No game is finished yet."}
	for i := range leaders {
		l := &leaders[i]
		s.Players.Rows = append(s.Players.Rows, append([]string{fmt.Sprintf("%d. %s", l.Rank, l.Nickname)},
			counts(l.Goals, l.OwnGoals, l.Assists, l.Games, strconv.FormatFloat(l.PerGame, 'f', 2, 64))...))
	}
	s.Fixtures, err = a.fixtures(tx, id)
	return s, err
}

func counts(all ...any) (cells []string) {
	for _, one := range all {
		cells = append(cells, fmt.Sprint(one))
	}
	return cells
}

func standings(all []threefc.Standing, london bool) page.Table {
	t := page.Table{ID: "table", Title: "Table", Heads: []string{"Team", "Played", "Wins", "Draws", "Losses", "Conceded", "Scored"}, None: "No game is finished yet."}
	if london {
		t.Heads = append(t.Heads, "Points")
	}
	for i := range all {
		st := &all[i]
		row := append([]string{fmt.Sprintf("%d. %s", st.Rank, st.Name)}, counts(st.Played, st.Wins, st.Draws, st.Losses, st.Conceded, st.Scored)...)
		if st.Points != nil {
			row = append(row, strconv.Itoa(*st.Points))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (a *api) fixtures(tx *store.Tx, season string) (all []fixture, err error) {
	games, err := a.Service.SeasonGames(tx, season)
	for i := range games {
		g := &shownGame{board: &games[i]}
		g.stand(a.Service.Now(tx), 0)
		f := fixture{Game: games[i].GameID, Start: games[i].GameStartTs, Say: g.Pill.Text, Line: g.line()}
		if g.Line != "" {
			f.Say = g.Line
		}
		all = append(all, f)
	}
	return all, err
}

func (a *api) seasonView(last page.View, s shownSeason) (page.View, error) {
	v, err := a.look.Parts(last, s.Name, []page.Block{
		{ID: "name", Data: s}, {ID: "table", Data: s.Table}, {ID: "players", Data: s.Players}, {ID: "fixtures", Data: s.Fixtures},
	})
	v.Kind, v.Styles, v.Module = "season", styles(), "app.js"
	return v, err
}

type leaguesPage struct {
	Leagues []publicLeague
	Form    *page.Form // of who has signed in
}

func (a *api) getLeaguesPage(r *request) error {
	return httpapi.OwnView(r.Context, "leagues", "3FC", func(tx *store.Tx) (out leaguesPage, err error) {
		out.Leagues, err = a.leagues(tx)
		if r.user != "" {
			out.Form = &page.Form{ID: "league", Action: a.mount + "/v1/leagues", Button: "Make the league", Clear: true, Fields: a.namedFields(tx, "leagueId", "League")}
		}
		return out, err
	})
}

// namedFields are the fields of something with an id, a name and a slug.
func (a *api) namedFields(tx *store.Tx, id, what string) []page.Field {
	return []page.Field{
		{Name: "name", Label: what, Required: true, Most: maxText}, a.idField(tx, id),
		{Name: "slug", Label: "Name in addresses", Most: maxText, Hint: "Small letters and hyphens, such as spring-2026"},
	}
}

// idField asks for an id, and has a new one.
func (a *api) idField(tx *store.Tx, name string) page.Field {
	return page.Field{Name: name, Label: "Id", Value: (&threefc.IDs{}).New(a.Service.Now(tx)), Required: true, Most: 128}
}

type leaguePage struct {
	League  publicLeague
	Seasons []threefc.Season
	Admin   bool
	Base    string // of the league's routes
	Forms   []page.Form
}

func (a *api) getLeaguePage(r *request) error {
	return httpapi.OwnView(r.Context, "league", "League", func(tx *store.Tx) (out leaguePage, err error) {
		l, err := a.Service.LeagueNamed(tx, r.of.ID)
		if err != nil {
			return out, err
		}
		r.league, out.League, out.Base = l.LeagueID, publicLeague{l.LeagueID, l.Name, l.Slug}, a.mount+"/v1/leagues/"+l.LeagueID
		if out.Seasons, err = a.Service.Seasons(tx, l.LeagueID); err != nil || !r.isAdmin(tx) {
			return out, err
		}
		out.Admin = true
		out.Forms = []page.Form{
			{ID: "season", Action: out.Base + "/seasons", Button: "Make the season", Clear: true, Fields: a.namedFields(tx, "seasonId", "Season")},
			{ID: "access", Action: out.Base + "/access", Button: "Give the role", Clear: true, Fields: []page.Field{
				{Name: "userId", Label: "E-mail", Type: "email", Required: true, Most: 128},
				{Name: "role", Label: "Role", Choices: []page.Choice{{Value: threefc.RoleScorekeeper, Label: "Scorekeeper", Chosen: true}, {Value: threefc.RoleAdmin, Label: "Admin"}}},
			}},
		}
		return out, nil
	})
}

type seasonAdminPage struct {
	Name  string
	Forms []page.Form
}

// getSeasonAdminPage makes days and games of a season, and names its teams.
func (a *api) getSeasonAdminPage(r *request) error {
	return httpapi.OwnView(r.Context, "seasonadmin", "Season", func(tx *store.Tx) (out seasonAdminPage, err error) {
		s, err := a.Service.Season(tx, r.of.ID)
		if err != nil {
			return out, err
		}
		out.Name = s.Name
		base := a.mount + "/v1/seasons/" + s.SeasonID
		out.Forms = []page.Form{{ID: "day", Action: base + "/sessions", Button: "Make the day", Clear: true, Fields: []page.Field{
			{Name: "sessionDate", Label: "Day", Type: "date", Required: true}, a.idField(tx, "sessionId"),
		}}}
		days, err := a.Service.Sessions(tx, s.SeasonID)
		for i := range days {
			out.Forms = append(out.Forms, page.Form{
				ID: "game-" + strconv.Itoa(i), Action: a.mount + "/v1/sessions/" + days[i].SessionID + "/games", Button: "Make a game on " + days[i].SessionDate, Clear: true,
				Fields: []page.Field{
					{Name: "gameStartTs", Label: "Starts at", Required: true, Hint: "With its zone: 2026-07-04T11:00:00+01:00"}, a.idField(tx, "gameId"),
					{Name: "thirdLengthMinutes", Label: "Minutes of a third: 20, 25 or 30", Type: "number", Value: "20", Required: true},
				},
			})
		}
		if err != nil {
			return out, err
		}
		teams, err := a.Service.SeasonTeams(tx, s.SeasonID)
		for i := range teams {
			t := &teams[i]
			color := ""
			if t.Color != nil {
				color = *t.Color
			}
			out.Forms = append(out.Forms, page.Form{ID: t.TeamID, Action: base + "/teams/" + t.TeamID, Method: "PUT", Button: "Name the " + t.TeamID + " team", Fields: []page.Field{
				{Name: "name", Label: "Team " + t.TeamID, Value: t.Name, Required: true, Most: maxText}, {Name: "color", Label: "Colour", Type: "color", Value: color},
			}})
		}
		return out, err
	})
}
