package threefc

import (
	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

// shownSeason is the view of a season on its page.
type shownSeason struct {
	ID, Name string
	London   bool // table by the London league's points, players by goals per game
	Table    []threefc.Standing
	Players  []threefc.Leader
	Fixtures []fixture
}

// fixture is a game of a season.
type fixture struct{ Game, Start, Say, Line string }

func (a *api) shownSeason(tx *store.Tx, id string, london bool) (s shownSeason, err error) {
	season, err := a.Service.Season(tx, id)
	if err != nil {
		return s, err
	}
	s = shownSeason{ID: id, Name: season.Name, London: london}
	if s.Table, err = a.Service.Standings(tx, id, london); err != nil {
		return s, err
	}
	if s.Players, err = a.Service.Leaders(tx, id, london); err != nil {
		return s, err
	}
	games, err := a.Service.SeasonGames(tx, id)
	for i := range games {
		g := &shownGame{board: &games[i]}
		g.stand(a.Service.Now(tx), 0)
		f := fixture{Game: games[i].GameID, Start: games[i].GameStartTs, Say: g.Pill.Text, Line: g.line()}
		if g.Line != "" {
			f.Say = g.Line
		}
		s.Fixtures = append(s.Fixtures, f)
	}
	return s, err
}

func (a *api) seasonView(last page.View, s shownSeason) (page.View, error) {
	v, err := a.look.Parts(last, s.Name, []page.Block{{ID: "name", Data: s}, {ID: "table", Data: s}, {ID: "players", Data: s}, {ID: "fixtures", Data: s.Fixtures}})
	v.Kind, v.Styles, v.Module = "season", styles(), "app.js"
	return v, err
}

// making is the data of forms that create a record: the base path of their routes and the new id.
type making struct {
	Base, New string
	Taken     []taken
}

// makes answers with a page of creation forms. mine selects the records with taken ids to report on it.
func makes[T any](kind, title string, mine func(r *request, entity string, p *origin) bool, read func(tx *store.Tx, r *request, m *making) (T, error)) func(r *request) error {
	return func(r *request) error {
		all, err := r.taken(mine)
		if err != nil {
			return err
		}
		return httpapi.OwnView(r.Context, kind, title, func(tx *store.Tx) (T, error) {
			return read(tx, r, &making{r.api.mount + "/v1", (&threefc.IDs{}).New(r.api.Service.Now(tx)), all})
		})
	}
}

type leaguesPage struct {
	Leagues []threefc.League
	Make    *making // for signed-in users
}

func (a *api) leaguesPage(tx *store.Tx, r *request, m *making) (out leaguesPage, err error) {
	if r.user != "" {
		out.Make = m
	}
	out.Leagues, err = a.Service.PublicLeagues(tx)
	return out, err
}

type leaguePage struct {
	League  *threefc.League
	Seasons []threefc.Season
	Make    *making // for admins
}

func (a *api) leaguePage(tx *store.Tx, r *request, m *making) (out leaguePage, err error) {
	if out.League, err = a.Service.LeagueNamed(tx, r.of.ID); err != nil {
		return out, err
	}
	if r.league = out.League.LeagueID; r.isAdmin(tx) {
		out.Make = m
	}
	out.Seasons, err = a.Service.Seasons(tx, r.league)
	return out, err
}

type seasonAdminPage struct {
	Season *threefc.Season
	Days   []threefc.Session
	Teams  []threefc.SeasonTeam
	Make   *making
}

// seasonAdminPage has the forms to create sessions and games of a season and to name its teams.
func (a *api) seasonAdminPage(tx *store.Tx, r *request, m *making) (out seasonAdminPage, err error) {
	out.Make = m
	if out.Season, err = a.Service.Season(tx, r.of.ID); err != nil {
		return out, err
	}
	if out.Days, err = a.Service.Sessions(tx, r.of.ID); err != nil {
		return out, err
	}
	out.Teams, err = a.Service.SeasonTeams(tx, r.of.ID)
	return out, err
}
