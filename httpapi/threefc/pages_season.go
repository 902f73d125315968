package threefc

import (
	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
)

// shownSeason is a season on its page.
type shownSeason struct {
	*threefc.Season
	London   bool // table by the London league's points, players by goals per game
	Table    []threefc.Standing
	Players  []threefc.Leader
	Fixtures []shownGame
}

func (a *api) shownSeason(tx *store.Tx, id string, london bool) (s shownSeason, err error) {
	s.London = london
	if s.Season, err = a.Service.Season(tx, id); err != nil {
		return s, err
	}
	if s.Table, err = a.Service.Standings(tx, id, london); err != nil {
		return s, err
	}
	if s.Players, err = a.Service.Leaders(tx, id, london); err != nil {
		return s, err
	}
	games, err := a.Service.SeasonGames(tx, id)
	for i := range games {
		games[i].Goals = nil // not shown
		s.Fixtures = append(s.Fixtures, shownGame{Board: &games[i], Clock: clockOf(&games[i].Game, a.Service.Now(tx), 0)})
	}
	return s, err
}

func (a *api) seasonView(last page.View, s shownSeason) (page.View, error) {
	top := s
	top.Fixtures = nil // what they show changes each minute
	v, err := a.look.Parts(last, s.Name, []page.Block{{ID: "name", Data: top}, {ID: "table", Data: top}, {ID: "players", Data: top}, {ID: "fixtures", Data: s.Fixtures}})
	v.Kind, v.Styles, v.Module = "season", styles(), "app.js"
	return v, err
}

// making is a page with forms that create records, beside those that exist.
type making struct {
	May     bool   // the reader may create records
	New     string // id for the next record
	Taken   []taken
	Leagues []threefc.League
	League  *threefc.League
	Seasons []threefc.Season // of the league
	Season  *threefc.Season
	Days    []threefc.Session // of the season
	Teams   []threefc.SeasonTeam
}

// makes answers with a page of creation forms. mine selects the records with taken ids to report on it.
func makes(kind, title string, mine func(r *request, entity string, p *origin) bool, read func(tx *store.Tx, r *request, m *making) error) func(r *request) (work, error) {
	return func(r *request) (work, error) {
		r.Kind, r.Title = kind, title
		all, err := r.taken(mine)
		return func(tx *store.Tx) (any, error) {
			m := &making{New: (&threefc.IDs{}).New(r.api.Service.Now(tx)), Taken: all}
			return m, read(tx, r, m)
		}, err
	}
}

func (a *api) leaguesPage(tx *store.Tx, r *request, m *making) (err error) {
	m.May = r.User != ""
	m.Leagues, err = a.Service.PublicLeagues(tx)
	return err
}

func (a *api) leaguePage(tx *store.Tx, r *request, m *making) (err error) {
	if m.League, err = a.Service.LeagueNamed(tx, r.of.ID); err != nil {
		return err
	}
	r.league = m.League.LeagueID
	m.May = r.isAdmin(tx)
	m.Seasons, err = a.Service.Seasons(tx, r.league)
	return err
}

// seasonAdminPage has the forms to create sessions and games of a season and to name its teams.
func (a *api) seasonAdminPage(tx *store.Tx, r *request, m *making) (err error) {
	if m.Season, err = a.Service.Season(tx, r.of.ID); err != nil {
		return err
	}
	if m.Days, err = a.Service.Sessions(tx, r.of.ID); err != nil {
		return err
	}
	m.Teams, err = a.Service.SeasonTeams(tx, r.of.ID)
	return err
}
