package threefc

import (
	"net/http"
	"regexp"
	"slices"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/store"
)

func (a *api) leagueRoutes() []route {
	s := a.Service
	return []route{
		{"POST", "/v1/leagues", session, writes(http.StatusCreated, readLeague, func(tx *store.Tx, r *request, l threefc.League) (threefc.Change, error) {
			return s.CreateLeague(tx, r.User, l)
		}, made("league", s.League))},
		{"GET", "/v1/leagues", session, reads(func(tx *store.Tx, r *request) (any, error) {
			all, err := s.LeaguesOf(tx, r.User)
			return listed("leagues", all), err
		})},
		{"POST", "/v1/conflicts/:conflict/discard", session, postDismissal},
		{"GET", "/v1/leagues/:league", viewer, one(s.League)},
		{"DELETE", "/v1/leagues/:league", admin, removes(s.DeleteLeague)},
		{"POST", "/v1/leagues/:league/seasons", admin, writes(http.StatusCreated, readSeason, plain(s.CreateSeason), made("season", s.Season))},
		{"GET", "/v1/leagues/:league/seasons", viewer, lists("seasons", s.Seasons)},
		{"GET", "/v1/seasons/:season", viewer, one(s.Season)},
		{"DELETE", "/v1/seasons/:season", admin, removes(s.DeleteSeason)},
		{"GET", "/v1/seasons/:season/games", viewer, lists("games", gameViews(s.SeasonGames))},
		{"POST", "/v1/seasons/:season/sessions", admin, writes(http.StatusCreated, readSession, plain(s.CreateSession), made("session", s.Session))},
		{"GET", "/v1/seasons/:season/sessions", viewer, lists("sessions", s.Sessions)},
		{"GET", "/v1/seasons/:season/teams", viewer, lists("teams", s.SeasonTeams)},
		{"PUT", "/v1/seasons/:season/teams/:team", admin, writes(http.StatusOK, readTeam, func(tx *store.Tx, r *request, n threefc.TeamName) (threefc.Change, error) {
			return s.PutSeasonTeam(tx, r.of.ID, r.Param("team"), n)
		}, func(tx *store.Tx, r *request) (any, error) {
			all, err := s.SeasonTeams(tx, r.of.ID)
			return all[r.team()], err
		})},
	}
}

func readLeague(r *request, b *bind.Body) (threefc.League, error) {
	return threefc.League{LeagueID: r.newID(b, "league"), Name: text(b, "name"), Slug: optional(b, "slug")}, nil
}

func readSeason(r *request, b *bind.Body) (threefc.Season, error) {
	return threefc.Season{
		LeagueID: r.league, SeasonID: r.newID(b, "season"), Name: text(b, "name"), Slug: optional(b, "slug"),
		StartsOn: optional(b, "startsOn"), EndsOn: optional(b, "endsOn"),
	}, nil
}

func readSession(r *request, b *bind.Body) (threefc.Session, error) {
	return threefc.Session{SeasonID: r.of.ID, SessionID: r.newID(b, "session"), SessionDate: text(b, "sessionDate")}, nil
}

var colour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// readTeam reads the name and colour of the team in the path.
func readTeam(r *request, b *bind.Body) (threefc.TeamName, error) {
	n := threefc.TeamName{Name: text(b, "name"), Color: optional(b, "color")}
	if n.Color != nil && !colour.MatchString(*n.Color) {
		b.Bad("color", "must be a colour such as #d83b36")
	}
	if r.team() < 0 {
		b.Bad("teamId", "must be red, blue or yellow")
	}
	return n, nil
}

// team returns the index of the path's team in TeamIDs, or -1.
func (r *request) team() int { return slices.Index(threefc.TeamIDs(), r.Param("team")) }
