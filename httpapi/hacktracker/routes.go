package hacktracker

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func (a *api) routes() []httpapi.Route { return slices.Concat(a.teamRoutes(), a.gameRoutes()) }

// teamRoutes are those of users, of teams, and of their players.
func (a *api) teamRoutes() []httpapi.Route {
	s := a.Service
	const user, team, player = "/users/:user", "/teams/:team", "/teams/:team/players/:player"
	getTeam := func(tx *store.Tx, r *call) (any, error) { return s.Team(tx, r.user, r.id("team")) }
	getPlayer := func(tx *store.Tx, r *call) (any, error) { return s.Player(tx, r.user, r.Param("team"), r.id("player")) }
	return []httpapi.Route{
		a.reads("/users", a.users),
		a.reads("/users/context", func(tx *store.Tx, r *call) (any, error) { return s.Context(tx, r.user) }),
		a.reads(user, func(tx *store.Tx, r *call) (any, error) { return s.User(tx, r.Param("user")) }),
		mine(a.corrects(user, []string{"userId", "email", "createdAt", "updatedAt"}, []string{"firstName", "lastName", "phoneNumber"},
			func(tx *store.Tx, r *call) (any, error) { return s.ChangeUser(tx, r.user, r.in) })),
		mine(a.removes(user, func(tx *store.Tx, r *call) error { return s.DeleteUser(tx, r.user) })),
		mine(a.reads(user+"/players", func(tx *store.Tx, r *call) (any, error) {
			all, err := s.PlayersOf(tx, r.user)
			return listed("players", all, nil, err)
		})),

		a.creates("/teams", func(tx *store.Tx, r *call, once string) (string, []store.WriteItem, error) {
			return s.NewTeam(tx, r.user, once, r.in)
		}, getTeam),
		a.reads("/teams", a.teams),
		a.reads(team, getTeam),
		a.writes("PUT", team, func(tx *store.Tx, r *call) (any, error) { return s.ChangeTeam(tx, r.user, r.id("team"), r.in) }),
		a.removes(team, func(tx *store.Tx, r *call) error {
			token, err := s.DeleteTeam(tx, r.user, r.id("team"))
			r.Header("X-Recovery-Token", token)
			return err
		}),
		a.writes("POST", team+"/recover", func(tx *store.Tx, r *call) (any, error) { return s.RecoverTeam(tx, r.user, r.id("team"), r.in) }),
		a.writes("PUT", team+"/members/:user", func(tx *store.Tx, r *call) (any, error) {
			return s.ChangeMember(tx, r.user, r.id("team"), r.Param("user"), r.in)
		}),
		a.reads(team+"/games", func(tx *store.Tx, r *call) (any, error) { return s.GamesOf(tx, r.user, r.id("team")) }),
		a.reads(team+"/stats", func(tx *store.Tx, r *call) (any, error) {
			return s.TeamStats(tx, r.user, r.id("team"), r.Query("seasonId"))
		}),
		a.route(http.MethodGet, team+"/stats.csv", a.teamCSV),

		a.creates(team+"/players", func(tx *store.Tx, r *call, once string) (string, []store.WriteItem, error) {
			return s.NewPlayer(tx, r.user, r.Param("team"), once, r.in)
		}, getPlayer),
		a.reads(team+"/players", a.roster),
		a.reads(player, getPlayer),
		a.corrects(player, []string{"playerId", "teamId", "isGhost", "userId", "linkedAt", "createdAt", "updatedAt"}, nil,
			func(tx *store.Tx, r *call) (any, error) {
				return s.ChangePlayer(tx, r.user, r.Param("team"), r.id("player"), r.in)
			}),
		a.removes(player, func(tx *store.Tx, r *call) error { return s.DeletePlayer(tx, r.user, r.Param("team"), r.id("player")) }),
		a.writes("POST", player+"/link", func(tx *store.Tx, r *call) (any, error) {
			return s.LinkPlayer(tx, r.user, r.Param("team"), r.id("player"), r.in)
		}),
		a.writes("POST", player+"/unlink", func(tx *store.Tx, r *call) (any, error) {
			return s.UnlinkPlayer(tx, r.user, r.Param("team"), r.id("player"))
		}),
		a.reads("/players/:player/stats", func(tx *store.Tx, r *call) (any, error) {
			return s.PlayerStats(tx, r.user, r.id("player"), r.Query("teamId"))
		}),
	}
}

// gameRoutes are those of games and their at-bats.
func (a *api) gameRoutes() []httpapi.Route {
	s := a.Service
	const game, atBat = "/games/:game", "/games/:game/atbats/:atbat"
	getGame := func(tx *store.Tx, r *call) (any, error) { return s.Game(tx, r.user, r.id("game")) }
	putGame := func(tx *store.Tx, r *call) (any, error) { return s.ChangeGame(tx, r.user, r.id("game"), r.in) }
	stream := a.route(http.MethodGet, game+"/stream", a.stream)
	stream.Stream = true
	return []httpapi.Route{
		a.creates("/games", func(tx *store.Tx, r *call, once string) (string, []store.WriteItem, error) {
			return s.NewGame(tx, r.user, once, r.in)
		}, getGame),
		a.reads("/games", a.games),
		a.reads(game, getGame),
		a.writes("PATCH", game, putGame),
		a.writes("PUT", game, putGame),
		a.removes(game, func(tx *store.Tx, r *call) error { return s.DeleteGame(tx, r.user, r.id("game")) }),
		a.reads(game+"/state", func(tx *store.Tx, r *call) (any, error) { return s.State(tx, r.user, r.id("game")) }),
		a.reads(game+"/boxscore", func(tx *store.Tx, r *call) (any, error) { return s.Box(tx, r.user, r.id("game")) }),
		stream,

		a.route(http.MethodPost, game+"/atbats", a.postAtBat),
		a.reads(game+"/atbats", func(tx *store.Tx, r *call) (any, error) { return s.AtBats(tx, r.user, r.id("game")) }),
		a.reads(atBat, func(tx *store.Tx, r *call) (any, error) { return s.AtBat(tx, r.user, r.id("game"), r.Param("atbat")) }),
		a.writes("PUT", atBat, func(tx *store.Tx, r *call) (any, error) {
			return s.ChangeAtBat(tx, r.user, r.id("game"), r.Param("atbat"), r.in)
		}),
		a.removes(atBat, func(tx *store.Tx, r *call) error { return s.DeleteAtBat(tx, r.user, r.id("game"), r.Param("atbat")) }),
	}
}

// users answers one user by their Cognito subject, or to an admin a page of all.
func (a *api) users(tx *store.Tx, r *call) (any, error) {
	q := bind.Parameters(r.Request)
	sub, p := q.Text("cognitoSub", maxText), paged(q)
	if err := q.Err(); err != nil {
		return nil, err
	}
	if sub != r.user {
		if err := r.admin(); err != nil {
			return nil, err
		}
	}
	if sub != "" {
		return a.Service.UserBySub(tx, sub)
	}
	all, next, err := a.Service.Users(tx, p)
	return listed("users", all, next, err)
}

// mine is a route of what is the caller's own.
func mine(rt httpapi.Route) httpapi.Route {
	do := rt.Do
	rt.Do = func(c *gin.Context) error {
		if user, err := httpapi.Subject(c); err == nil && c.Param("user") != user {
			return fault.New(fault.Forbidden, "forbidden", "Users can see and change only what is their own")
		}
		return do(c)
	}
	return rt
}

// corrects is a route that changes what is there, but for members that are read-only; allowed are those that it knows, nil: it passes
// over others.
func (a *api) corrects(path string, readOnly, allowed []string, do func(tx *store.Tx, r *call) (any, error)) httpapi.Route {
	return a.route(http.MethodPut, path, func(r *call) error {
		if body := refused(r.in, readOnly, allowed); body != nil {
			return httpapi.Answer(r.Context, http.StatusBadRequest, body, nil)
		}
		return httpapi.AnswerUpdate(r.Context, func(tx *store.Tx) (any, error) { return do(tx, r) })
	})
}

// refused is what is wrong with a body that has members which cannot be changed, or that nobody knows; nil: nothing.
func refused(in hacktracker.Input, readOnly, allowed []string) map[string]any {
	var fixed, unknown []string
	for _, name := range slices.Sorted(maps.Keys(in)) {
		switch {
		case slices.Contains(readOnly, name):
			fixed = append(fixed, name)
		case allowed != nil && !slices.Contains(allowed, name):
			unknown = append(unknown, strings.ToValidUTF8(name[:min(len(name), maxText)], ""))
		}
	}
	switch {
	case len(fixed) > 0:
		return map[string]any{"error": "Cannot update read-only fields", "readOnlyFields": fixed}
	case len(unknown) > 0:
		return map[string]any{"error": "Invalid fields", "invalidFields": unknown, "allowedFields": allowed}
	}
	return nil
}

// teams lists the teams of a member, of an owner, or all.
func (a *api) teams(tx *store.Tx, r *call) (any, error) {
	q := bind.Parameters(r.Request)
	member := q.Text("userId", maxText)
	t := hacktracker.TeamQuery{Owner: q.Text("ownerId", maxText), Type: q.OneOf("team_type", hacktracker.Managed, hacktracker.Personal), Page: paged(q)}
	if member != "" && t.Owner != "" {
		q.Bad("userId", "cannot be given together with ownerId")
	}
	if err := q.Err(); err != nil {
		return nil, err
	}
	if member == "" {
		all, next, err := a.Service.Teams(tx, t)
		return listed("teams", all, next, err)
	}
	all, err := a.Service.TeamsOf(tx, member)
	all = slices.DeleteFunc(all, func(one hacktracker.Team) bool { return t.Type != "" && one.Type != t.Type })
	return listed("teams", all, nil, err)
}

func (a *api) roster(tx *store.Tx, r *call) (any, error) {
	q := bind.Parameters(r.Request)
	want := hacktracker.RosterQuery{Status: q.OneOf("status", "active", "inactive", "sub"), Roles: q.OneOf("includeRoles", "true", "false") == "true"}
	if v := q.OneOf("isGhost", "true", "false"); v != "" {
		ghost := v == "true"
		want.Ghost = &ghost
	}
	if err := q.Err(); err != nil {
		return nil, err
	}
	all, err := a.Service.Roster(tx, r.user, r.id("team"), want)
	return listed("players", all, nil, err)
}

func (a *api) games(tx *store.Tx, r *call) (any, error) {
	if err := r.admin(); err != nil {
		return nil, err
	}
	q := bind.Parameters(r.Request)
	p := paged(q)
	if err := q.Err(); err != nil {
		return nil, err
	}
	all, next, err := a.Service.Games(tx, p)
	return listed("games", all, next, err)
}

func (a *api) stream(r *call) error {
	if _, err := httpapi.Read(r.Context, func(tx *store.Tx) (hacktracker.Game, error) { return a.Service.Game(tx, r.user, r.id("game")) }); err != nil {
		return err
	}
	return httpapi.Stream(r.Context, "game", topicGame+r.id("game"))
}

// postAtBat scores a plate appearance as of the moment of the tap.
func (a *api) postAtBat(r *call) error {
	once, err := httpapi.IdempotencyKey(r.Context)
	if err != nil {
		return err
	}
	made, err := httpapi.Change(r.Context, func(tx *store.Tx) (made hacktracker.AtBat, err error) {
		at, err := httpapi.OccurredAt(r.Context, tx.Now())
		if err != nil {
			return made, err
		}
		return a.Service.NewAtBat(tx, r.user, r.id("game"), once, at, r.in)
	})
	return httpapi.Answer(r.Context, http.StatusCreated, made, err)
}
