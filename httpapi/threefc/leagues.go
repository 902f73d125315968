package threefc

import (
	"net/http"
	"regexp"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/store"
)

func (a *api) leagueRoutes() []route {
	return []route{
		{method: "POST", path: "/v1/leagues", who: session, do: a.postLeague},
		{method: "GET", path: "/v1/leagues", who: session, do: a.getLeagues},
		{method: "GET", path: "/v1/leagues/:league", who: viewer, do: a.getLeague},
		{method: "DELETE", path: "/v1/leagues/:league", who: admin, do: a.deleteLeague},
		{method: "POST", path: "/v1/leagues/:league/seasons", who: admin, do: a.postSeason},
		{method: "GET", path: "/v1/leagues/:league/seasons", who: viewer, do: a.getSeasons},
		{method: "GET", path: "/v1/seasons/:season", who: viewer, do: a.getSeason},
		{method: "DELETE", path: "/v1/seasons/:season", who: admin, do: a.deleteSeason},
		{method: "GET", path: "/v1/seasons/:season/games", who: viewer, do: a.getSeasonGames},
		{method: "POST", path: "/v1/seasons/:season/sessions", who: admin, do: a.postSession},
		{method: "GET", path: "/v1/seasons/:season/sessions", who: viewer, do: a.getSessions},
		{method: "GET", path: "/v1/seasons/:season/teams", who: viewer, do: a.getSeasonTeams},
		{method: "PUT", path: "/v1/seasons/:season/teams/:team", who: admin, do: a.putSeasonTeam},
	}
}

// postLeague: {leagueId, name, slug?}.
func (a *api) postLeague(r *request) error {
	b := httpapi.Body(r.Context)
	l := threefc.League{LeagueID: identifier(b, "leagueId"), Name: text(b, "name"), Slug: optional(b, "slug")}
	if err := b.Err(); err != nil {
		return err
	}
	if err := a.need(r.Context, threefc.Partition(threefc.Scope{Kind: "league", ID: l.LeagueID})); err != nil {
		return err
	}
	return r.write(http.StatusCreated, l, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return a.Service.CreateLeague(tx, r.user, l)
	}, func(tx *store.Tx, made map[string]string) (any, error) { return a.Service.League(tx, made["league"]) })
}

func (a *api) getLeagues(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		all, err := a.Service.LeaguesOf(tx, r.user)
		return map[string]any{"leagues": all}, err
	})
}

func (a *api) getLeague(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (*threefc.League, error) { return a.Service.League(tx, r.id("league")) })
}

// remove answers 204 to a deletion.
func (r *request) remove(do func(tx *store.Tx) (threefc.Change, error)) error {
	if err := nothing(r); err != nil {
		return err
	}
	return r.write(http.StatusNoContent, nil, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) { return do(tx) }, nil)
}

func (a *api) deleteLeague(r *request) error {
	return r.remove(func(tx *store.Tx) (threefc.Change, error) { return a.Service.DeleteLeague(tx, r.user, r.id("league")) })
}

// postSeason: {seasonId, name, slug?, startsOn?, endsOn?}.
func (a *api) postSeason(r *request) error {
	b := httpapi.Body(r.Context)
	s := threefc.Season{
		LeagueID: r.league, SeasonID: identifier(b, "seasonId"), Name: text(b, "name"), Slug: optional(b, "slug"),
		StartsOn: optional(b, "startsOn"), EndsOn: optional(b, "endsOn"),
	}
	if err := b.Err(); err != nil {
		return err
	}
	return r.write(http.StatusCreated, s, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return a.Service.CreateSeason(tx, s)
	}, func(tx *store.Tx, made map[string]string) (any, error) { return a.Service.Season(tx, made["season"]) })
}

func (a *api) getSeasons(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		all, err := a.Service.Seasons(tx, r.id("league"))
		return listed("seasons", all), err
	})
}

// listed is a list under its name, empty where there is nothing.
func listed[T any](name string, all []T) map[string]any {
	if all == nil {
		all = []T{}
	}
	return map[string]any{name: all}
}

func (a *api) getSeason(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (*threefc.Season, error) { return a.Service.Season(tx, r.id("season")) })
}

func (a *api) deleteSeason(r *request) error {
	return r.remove(func(tx *store.Tx) (threefc.Change, error) { return a.Service.DeleteSeason(tx, r.user, r.id("season")) })
}

func (a *api) getSeasonGames(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		all, err := a.Service.SeasonGames(tx, r.id("season"))
		return listed("games", gameViews(all)), err
	})
}

// postSession: {sessionId, sessionDate}.
func (a *api) postSession(r *request) error {
	b := httpapi.Body(r.Context)
	s := threefc.Session{SeasonID: r.id("season"), SessionID: identifier(b, "sessionId"), SessionDate: text(b, "sessionDate")}
	if err := b.Err(); err != nil {
		return err
	}
	return r.write(http.StatusCreated, s, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return a.Service.CreateSession(tx, s)
	}, func(tx *store.Tx, made map[string]string) (any, error) { return a.Service.Session(tx, made["session"]) })
}

func (a *api) getSessions(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		all, err := a.Service.Sessions(tx, r.id("season"))
		return listed("sessions", all), err
	})
}

func (a *api) getSeasonTeams(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		all, err := a.Service.SeasonTeams(tx, r.id("season"))
		return listed("teams", all), err
	})
}

var colour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// teamName reads {name, color?} of a team whose id the path names.
func teamName(r *request) (n threefc.TeamName, err error) {
	b := httpapi.Body(r.Context)
	n = threefc.TeamName{Name: text(b, "name"), Color: optional(b, "color")}
	if n.Color != nil && !colour.MatchString(*n.Color) {
		b.Bad("color", "must be a colour such as #d83b36")
	}
	if err := b.Err(); err != nil {
		return n, err
	}
	if !threefc.IsTeam(r.id("team")) {
		return n, bind.Invalid("teamId", "must be red, blue or yellow")
	}
	return n, nil
}

func (a *api) putSeasonTeam(r *request) error {
	n, err := teamName(r)
	if err != nil {
		return err
	}
	return r.write(http.StatusOK, n, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return a.Service.PutSeasonTeam(tx, r.id("season"), r.id("team"), n)
	}, func(tx *store.Tx, made map[string]string) (any, error) {
		all, err := a.Service.SeasonTeams(tx, r.id("season"))
		for i := range all {
			if all[i].TeamID == made["team"] {
				return all[i], err
			}
		}
		return nil, err
	})
}
