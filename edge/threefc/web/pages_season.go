package web

import (
	"cmp"
	"net/url"
	"slices"

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
	Fixtures fixtures
}

// fixtures are games of a season.
type fixtures struct {
	SeasonID string
	Games    []shownGame
	Earlier  bool   // there are more before these
	More     string // query of the page with the games after these; empty: none
}

// fixtures returns games as a page shows them.
func (a *api) fixtures(tx *store.Tx, season string, games []threefc.Board) fixtures {
	f := fixtures{SeasonID: season}
	for i := range games {
		games[i].Goals = nil // not shown
		f.Games = append(f.Games, shownGame{Board: &games[i], Clock: clockOf(&games[i].Game, a.Service.Now(tx), 0)})
	}
	return f
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
	games, earlier, err := a.Service.LatestGames(tx, id, tilesOnPage)
	s.Fixtures = a.fixtures(tx, id, games)
	s.Fixtures.Earlier = earlier
	return s, err
}

func (a *api) seasonView(last page.View, s shownSeason) (page.View, error) {
	top := s
	top.Fixtures = fixtures{} // what they show changes each minute
	v, err := a.look.Parts(last, s.Name, []page.Block{{ID: "name", Data: top}, {ID: "table", Data: top}, {ID: "players", Data: top}, {ID: "fixtures", Data: s.Fixtures}})
	v.Kind, v.Styles, v.Module = "season", styles(), "app.js"
	return v, err
}

// seasonGames is the page of all games of a season.
type seasonGames struct {
	*threefc.Season
	Fixtures fixtures
}

// seasonGamesPage lists a page of a season's games.
func (a *api) seasonGamesPage(r *request) (work, error) {
	r.Kind, r.Title = "seasongames", "Games"
	page := r.listPage(tilesOnPage)
	return func(tx *store.Tx) (any, error) {
		s, err := a.Service.Season(tx, r.of.ID)
		if err = cmp.Or(r.Query.Err(), err); err != nil {
			return nil, err
		}
		games, next, err := a.Service.Games(tx, r.of, page)
		f := a.fixtures(tx, s.SeasonID, games)
		if next != "" {
			f.More = "?" + url.Values{"cursor": {cursorOf(next)}}.Encode()
		}
		return seasonGames{s, f}, err
	}, nil
}

// making is a page with forms that create records, beside those that exist.
type making struct {
	May     bool   // the reader may create records
	New     string // id for the next record
	Taken   []taken
	Leagues []threefc.League
	More    string              // query of the page with the leagues after these; empty: none
	Offers  []threefc.OwnLeague // in which a role waits for the reader to accept it
	League  *threefc.League
	Seasons []threefc.Season // of the league
	Season  *threefc.Season
	Days    []threefc.Session // of the season
	Played  bool              // the season has games
	Teams   []threefc.SeasonTeam
}

// makes answers with a page of creation forms. mine selects the records with taken ids to report on it.
func makes(kind, title string, mine func(r *request, entity string, p *origin) bool, read func(tx *store.Tx, r *request, m *making) error) func(r *request) (work, error) {
	return func(r *request) (work, error) {
		r.Kind, r.Title = kind, title
		all, err := r.takenRecords(mine)
		return func(tx *store.Tx) (any, error) {
			m := &making{New: (&threefc.IDs{}).New(r.api.Service.Now(tx)), Taken: all}
			return m, read(tx, r, m)
		}, err
	}
}

// tilesOnPage is how many leagues or games a page lists.
const tilesOnPage = 200

func (a *api) leaguesPage(tx *store.Tx, r *request, m *making) error {
	page := r.listPage(tilesOnPage)
	if err := r.Query.Err(); err != nil {
		return err
	}
	all, next, err := a.Service.PublicLeagues(tx, page)
	if m.Leagues = all; next != "" {
		m.More = "?" + url.Values{"cursor": {cursorOf(next)}}.Encode()
	}
	if err != nil || r.signIn == nil || r.signIn.ByCode {
		return err
	}
	m.May = true
	own, _, err := a.Service.LeaguesOf(tx, r.User, threefc.ListPage{Limit: wholeList})
	m.Offers = slices.DeleteFunc(own, func(l threefc.OwnLeague) bool { return !l.Offered() })
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
	if m.Played, err = a.Service.HasGames(tx, r.of.ID); err != nil {
		return err
	}
	if m.Days, err = a.Service.Sessions(tx, r.of.ID); err != nil {
		return err
	}
	m.Teams, err = a.Service.SeasonTeams(tx, r.of.ID)
	return err
}
