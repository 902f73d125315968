package web

import (
	"net/url"
	"slices"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
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
func (h *handlers) fixtures(tx *store.Tx, season string, games []threefc.Board) fixtures {
	f := fixtures{SeasonID: season}
	for i := range games {
		games[i].Goals = nil // not shown
		f.Games = append(f.Games, shownGame{Board: &games[i], Clock: clockOf(&games[i].Game, h.Service.Now(tx), 0)})
	}
	return f
}

func (h *handlers) shownSeason(tx *store.Tx, id string, london bool) (s shownSeason, err error) {
	s.London = london
	if s.Season, err = h.Service.Season(tx, id); err != nil {
		return s, err
	}
	if s.Table, err = h.Service.Standings(tx, id, london); err != nil {
		return s, err
	}
	if s.Players, err = h.Service.Leaders(tx, id, london); err != nil {
		return s, err
	}
	games, earlier, err := h.Service.LatestGames(tx, id, tilesOnPage)
	s.Fixtures = h.fixtures(tx, id, games)
	s.Fixtures.Earlier = earlier
	return s, err
}

func (h *handlers) seasonView(last page.View, s shownSeason) (page.View, error) {
	top := s
	top.Fixtures = fixtures{} // what they show changes each minute
	v, err := h.look.Parts(last, s.Name, []page.Block{{ID: "name", Data: top}, {ID: "table", Data: top}, {ID: "players", Data: top}, {ID: "fixtures", Data: s.Fixtures}})
	v.Kind, v.Styles, v.Module = "season", styles(), "app.js"
	return v, err
}

// seasonGames is the page of all games of a season.
type seasonGames struct {
	*threefc.Season
	Fixtures fixtures
}

// seasonGamesPage lists a page of a season's games.
func (h *handlers) seasonGamesPage(r *httpapi.Request) (httpapi.Response, error) {
	page := listPage(r, tilesOnPage)
	return r.Page("seasongames", "Games", func(tx *store.Tx) (any, error) {
		s, err := h.Service.Season(tx, r.Param("season"))
		if err != nil {
			return nil, err
		}
		games, next, err := h.Service.Games(tx, admitted(r).of, page)
		f := h.fixtures(tx, s.SeasonID, games)
		f.More = moreQuery(next)
		return seasonGames{s, f}, err
	})
}

// moreQuery returns the query of the page that continues a list; empty: this is the last one.
func moreQuery(next string) string {
	if next == "" {
		return ""
	}
	return "?" + url.Values{"cursor": {cursorOf(next)}}.Encode()
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

// newMaking returns a page with forms that create records.
func (h *handlers) newMaking(tx *store.Tx, all []taken) *making {
	return &making{New: (&threefc.IDs{}).New(h.Service.Now(tx)), Taken: all}
}

// tilesOnPage is how many leagues or games a page lists.
const tilesOnPage = 200

// leaguesPage lists the leagues, and has the form to create one.
func (h *handlers) leaguesPage(r *httpapi.Request) (httpapi.Response, error) {
	page := listPage(r, tilesOnPage)
	all, err := h.takenRecords(r, func(entity string, p *origin) bool { return entity == "league" && p.CreatedByUserID == r.User })
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Page("leagues", "3FC", func(tx *store.Tx) (any, error) {
		m := h.newMaking(tx, all)
		leagues, next, err := h.Service.PublicLeagues(tx, page)
		m.Leagues, m.More = leagues, moreQuery(next)
		in := admitted(r).signIn
		if err != nil || in == nil || in.ByCode {
			return m, err
		}
		m.May = true
		own, _, err := h.Service.LeaguesOf(tx, r.User, threefc.ListPage{Limit: wholeList})
		m.Offers = slices.DeleteFunc(own, func(l threefc.OwnLeague) bool { return !l.Offered() })
		return m, err
	})
}

// leaguePage lists the seasons of a league, and has the form to create one.
func (h *handlers) leaguePage(r *httpapi.Request) (httpapi.Response, error) {
	all, err := h.takenRecords(r, func(entity string, p *origin) bool { return entity == "season" && p.LeagueID == r.Param("league") })
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Page("league", "League", func(tx *store.Tx) (_ any, err error) {
		m := h.newMaking(tx, all)
		if m.League, err = h.Service.LeagueNamed(tx, r.Param("league")); err != nil {
			return nil, err
		}
		m.May = h.isAdmin(tx, r, m.League.LeagueID)
		m.Seasons, err = h.Service.Seasons(tx, m.League.LeagueID)
		return m, err
	})
}

// seasonAdminPage has the forms to create sessions and games of a season and to name its teams.
func (h *handlers) seasonAdminPage(r *httpapi.Request) (httpapi.Response, error) {
	season := r.Param("season")
	all, err := h.takenRecords(r, func(entity string, p *origin) bool {
		return p.SeasonID == season && (entity == "session" || entity == "game")
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.Page("seasonadmin", "Season", func(tx *store.Tx) (_ any, err error) {
		m := h.newMaking(tx, all)
		if m.Season, err = h.Service.Season(tx, season); err != nil {
			return nil, err
		}
		if m.Played, err = h.Service.HasGames(tx, season); err != nil {
			return nil, err
		}
		if m.Days, err = h.Service.Sessions(tx, season); err != nil {
			return nil, err
		}
		m.Teams, err = h.Service.SeasonTeams(tx, season)
		return m, err
	})
}
