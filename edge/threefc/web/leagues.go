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

func (a *api) leagueRoutes() []route {
	s := a.Service
	return []route{
		{"POST", "/v1/leagues", mailed, a.postLeague},
		{"GET", "/v1/leagues", session, a.ownLeagues},
		{"POST", "/v1/conflicts/:conflict/discard", session, postDismissal},
		{"GET", "/v1/leagues/:league", viewer, one(s.League)},
		{"DELETE", "/v1/leagues/:league", admin, removes(s.DeleteLeague)},
		{"POST", "/v1/leagues/:league/seasons", admin, writes(http.StatusCreated, readSeason, plain(s.CreateSeason), answerCreated("season", s.Season))},
		{"GET", "/v1/leagues/:league/seasons", viewer, lists("seasons", s.Seasons)},
		{"GET", "/v1/seasons/:season", viewer, one(s.Season)},
		{"DELETE", "/v1/seasons/:season", admin, removes(s.DeleteSeason)},
		{"GET", "/v1/seasons/:season/games", viewer, listsPage("games", a.games("season"))},
		{"POST", "/v1/seasons/:season/sessions", admin, writes(http.StatusCreated, readSession, plain(s.CreateSession), answerCreated("session", s.Session))},
		{"GET", "/v1/seasons/:season/sessions", viewer, listsPage("sessions", s.SessionsPage)},
		{"GET", "/v1/seasons/:season/teams", viewer, lists("teams", s.SeasonTeams)},
		{"PUT", "/v1/seasons/:season/teams/:team", admin, writes(http.StatusOK, readTeam, func(tx *store.Tx, r *request, n threefc.TeamName) (threefc.Change, error) {
			return s.PutSeasonTeam(tx, r.of.ID, r.Param("team"), n)
		}, func(tx *store.Tx, r *request) (any, error) {
			all, err := s.SeasonTeams(tx, r.of.ID)
			return all[r.team()], err
		})},
	}
}

// wholeList is how many leagues or games a request without a limit gets, as from clients that know no cursors: more than most have.
const wholeList = 1000

const maxPlace = 1024 // bytes of a cursor

// listPage reads the part of a list that a request asks for: limit, and the cursor of the previous page.
func (r *request) listPage(usual int) threefc.ListPage {
	page := threefc.ListPage{Limit: cmp.Or(r.Query.Number("limit", bind.MaxLimit), usual)}
	place, err := base64.RawURLEncoding.DecodeString(r.Query.Text("cursor", maxPlace))
	if err != nil {
		r.Query.Bad("cursor", "was not issued by this list")
	}
	page.After = string(place)
	return page
}

// addCursor adds the cursor of the next page to a list; the last page has none.
func addCursor(list map[string]any, next string) map[string]any {
	if next != "" {
		list["cursor"] = cursorOf(next)
	}
	return list
}

func cursorOf(place string) string { return base64.RawURLEncoding.EncodeToString([]byte(place)) }

// ownLeagues lists the leagues in which the session's user has a role, and those in which a role waits to be accepted.
func (a *api) ownLeagues(r *request) (work, error) {
	page := r.listPage(wholeList)
	return func(tx *store.Tx) (any, error) {
		all, next, err := a.Service.LeaguesOf(tx, r.User, page)
		if err != nil {
			return nil, err
		}
		leagues, offers := []threefc.OwnLeague{}, []threefc.OwnLeague{}
		for i := range all {
			switch {
			case all[i].Offered():
				offers = append(offers, all[i])
			case a.Service.AllowSession(tx, all[i].LeagueID, r.signIn, threefc.RoleViewer) == nil:
				leagues = append(leagues, all[i])
			}
		}
		out := addCursor(wrapList("leagues", leagues), next)
		if len(offers) > 0 {
			out["offers"] = offers
		}
		return out, nil
	}, nil
}

// postLeague creates a league. Its creator's leagues are counted in the writer's turn, which is shorter if the leagues were read before.
func (a *api) postLeague(r *request) (work, error) {
	if err := httpapi.View(r.Context, a.Service.FollowLeagues); err != nil {
		return nil, err
	}
	return writes(http.StatusCreated, readLeague, func(tx *store.Tx, r *request, l threefc.League) (threefc.Change, error) {
		return a.Service.CreateLeague(tx, r.User, l)
	}, answerCreated("league", a.Service.League))(r)
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
