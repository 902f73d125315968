package web

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/store"
)

// wholeList is how many leagues or games a request without a limit gets, as from clients that know no cursors: more than most have.
const wholeList = 1000

const maxPlace = 1024 // bytes of a cursor

// listPage reads the part of a list that a request asks for: limit, and the cursor of the previous page.
func listPage(r *httpapi.Request, usual int) threefc.ListPage {
	page := threefc.ListPage{Limit: cmp.Or(r.Query.Number("limit", bind.MaxLimit), usual)}
	place, err := base64.RawURLEncoding.DecodeString(r.Query.Text("cursor", maxPlace))
	if err != nil {
		r.Query.Bad("cursor", "was not issued by this list")
	}
	page.After = string(place)
	return page
}

// wrapList wraps a list under its name; nil becomes empty.
func wrapList[T any](name string, all []T) map[string]any {
	if all == nil {
		all = []T{}
	}
	return map[string]any{name: all}
}

// addCursor adds the cursor of the next page to a list; the last page has none.
func addCursor(list map[string]any, next string) map[string]any {
	if next != "" {
		list["cursor"] = cursorOf(next)
	}
	return list
}

func cursorOf(place string) string { return base64.RawURLEncoding.EncodeToString([]byte(place)) }

// listLeagues lists the leagues in which the session's user has a role, and those in which a role waits to be accepted.
func (h *handlers) listLeagues(r *httpapi.Request) (httpapi.Response, error) {
	page := listPage(r, wholeList)
	return r.Read(func(tx *store.Tx) (any, error) {
		all, next, err := h.Service.LeaguesOf(tx, r.User, page)
		if err != nil {
			return nil, err
		}
		leagues, offers := []threefc.OwnLeague{}, []threefc.OwnLeague{}
		for i := range all {
			switch {
			case all[i].Offered():
				offers = append(offers, all[i])
			case h.Service.AllowSession(tx, all[i].LeagueID, admitted(r).signIn, threefc.RoleViewer) == nil:
				leagues = append(leagues, all[i])
			}
		}
		out := addCursor(wrapList("leagues", leagues), next)
		if len(offers) > 0 {
			out["offers"] = offers
		}
		return out, nil
	})
}

// createLeague creates a league. Its creator's leagues are counted in the writer's turn, which is shorter if the leagues were read before.
func (h *handlers) createLeague(r *httpapi.Request) (httpapi.Response, error) {
	if err := r.View(h.Service.FollowLeagues); err != nil {
		return httpapi.Response{}, err
	}
	b := r.Body()
	league := threefc.League{LeagueID: readNewID(b, "league"), Name: text(b, "name"), Slug: optional(b, "slug")}
	return h.writeOnce(r, onceWrite{
		status: http.StatusCreated, input: league, rows: rowsOfNew("league", league.LeagueID),
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.CreateLeague(tx, r.User, league)
		},
		show: func(tx *store.Tx, run *onceRun) (any, error) { return h.Service.League(tx, run.made["league"]) },
	})
}

func (h *handlers) getLeague(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) { return h.Service.League(tx, r.Param("league")) })
}

func (h *handlers) deleteLeague(r *httpapi.Request) (httpapi.Response, error) {
	return h.writeOnce(r, onceWrite{
		status: http.StatusNoContent,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.DeleteLeague(tx, r.User, r.Param("league"))
		},
	})
}

func (h *handlers) createSeason(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	season := threefc.Season{
		LeagueID: r.Param("league"), SeasonID: readNewID(b, "season"), Name: text(b, "name"), Slug: optional(b, "slug"),
		StartsOn: optional(b, "startsOn"), EndsOn: optional(b, "endsOn"),
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusCreated, input: season, rows: rowsOfNew("season", season.SeasonID),
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) { return h.Service.CreateSeason(tx, season) },
		show: func(tx *store.Tx, run *onceRun) (any, error) { return h.Service.Season(tx, run.made["season"]) },
	})
}

func (h *handlers) listSeasons(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		all, err := h.Service.Seasons(tx, r.Param("league"))
		return wrapList("seasons", all), err
	})
}

func (h *handlers) getSeason(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) { return h.Service.Season(tx, r.Param("season")) })
}

func (h *handlers) deleteSeason(r *httpapi.Request) (httpapi.Response, error) {
	return h.writeOnce(r, onceWrite{
		status: http.StatusNoContent,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.DeleteSeason(tx, r.User, r.Param("season"))
		},
	})
}

func (h *handlers) listSeasonGames(r *httpapi.Request) (httpapi.Response, error) {
	page := listPage(r, wholeList)
	return r.Read(func(tx *store.Tx) (any, error) { return h.readGames(tx, admitted(r).of, page) })
}

func (h *handlers) createSession(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	day := threefc.Session{SeasonID: r.Param("season"), SessionID: readNewID(b, "session"), SessionDate: text(b, "sessionDate")}
	return h.writeOnce(r, onceWrite{
		status: http.StatusCreated, input: day, rows: rowsOfNew("session", day.SessionID),
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) { return h.Service.CreateSession(tx, day) },
		show: func(tx *store.Tx, run *onceRun) (any, error) { return h.Service.Session(tx, run.made["session"]) },
	})
}

func (h *handlers) listSessions(r *httpapi.Request) (httpapi.Response, error) {
	page := listPage(r, wholeList)
	return r.Read(func(tx *store.Tx) (any, error) {
		all, next, err := h.Service.SessionsPage(tx, r.Param("season"), page)
		return addCursor(wrapList("sessions", all), next), err
	})
}

func (h *handlers) listSeasonTeams(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		all, err := h.Service.SeasonTeams(tx, r.Param("season"))
		return wrapList("teams", all), err
	})
}

func (h *handlers) putSeasonTeam(r *httpapi.Request) (httpapi.Response, error) {
	name := readTeam(r)
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK, input: name,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.PutSeasonTeam(tx, r.Param("season"), r.Param("team"), name)
		},
		show: func(tx *store.Tx, _ *onceRun) (any, error) {
			all, err := h.Service.SeasonTeams(tx, r.Param("season"))
			return all[teamIndex(r)], err
		},
	})
}

var colour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// readTeam reads the name and colour of the team in the path.
func readTeam(r *httpapi.Request) threefc.TeamName {
	b := r.Body()
	n := threefc.TeamName{Name: text(b, "name"), Color: optional(b, "color")}
	if n.Color != nil && !colour.MatchString(*n.Color) {
		b.Bad("color", "must be a colour such as #d83b36")
	}
	if teamIndex(r) < 0 {
		b.Bad("teamId", "must be red, blue or yellow")
	}
	return n
}

// teamIndex returns the index of the path's team in TeamIDs, or -1.
func teamIndex(r *httpapi.Request) int { return slices.Index(threefc.TeamIDs(), r.Param("team")) }
