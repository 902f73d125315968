package hacktracker

import (
	"net/http"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/store"
)

func (a *api) routes() []httpapi.Route {
	return slices.Concat(a.userRoutes(), a.teamRoutes(), a.playerRoutes(), a.gameRoutes(), a.atBatRoutes())
}

func (a *api) userRoutes() []httpapi.Route {
	s := a.Service
	return []httpapi.Route{
		a.reads("/users", a.users),
		a.reads("/users/context", func(tx *store.Tx, r *call) (any, error) { return s.Context(tx, r.user) }),
		a.reads("/users/:user", func(tx *store.Tx, r *call) (any, error) { return s.User(tx, r.Param("user")) }),
		a.route(http.MethodPut, "/users/:user", a.putUser),
		a.removes("/users/:user", func(tx *store.Tx, r *call) error {
			if err := r.own(); err != nil {
				return err
			}
			return s.DeleteUser(tx, r.user)
		}),
		a.reads("/users/:user/players", func(tx *store.Tx, r *call) (any, error) {
			if err := r.own(); err != nil {
				return nil, err
			}
			all, err := s.PlayersOf(tx, r.user)
			return listed("players", all, nil, err)
		}),
	}
}

func (a *api) teamRoutes() []httpapi.Route {
	s := a.Service
	return []httpapi.Route{
		a.creates("/teams",
			func(tx *store.Tx, r *call, once string) (string, []store.WriteItem, error) {
				return s.NewTeam(tx, r.user, once, r.in)
			},
			func(tx *store.Tx, r *call, id string) (any, error) { return s.Team(tx, r.user, id) }),
		a.reads("/teams", a.teams),
		a.reads("/teams/:team", func(tx *store.Tx, r *call) (any, error) { return s.Team(tx, r.user, r.team()) }),
		a.writes("PUT", "/teams/:team", func(tx *store.Tx, r *call) (any, error) { return s.ChangeTeam(tx, r.user, r.team(), r.in) }),
		a.removes("/teams/:team", func(tx *store.Tx, r *call) error {
			token, err := s.DeleteTeam(tx, r.user, r.team())
			r.Header("X-Recovery-Token", token)
			return err
		}),
		a.writes("POST", "/teams/:team/recover", func(tx *store.Tx, r *call) (any, error) { return s.RecoverTeam(tx, r.user, r.team(), r.in) }),
		a.writes("PUT", "/teams/:team/members/:user", func(tx *store.Tx, r *call) (any, error) {
			return s.ChangeMember(tx, r.user, r.team(), r.Param("user"), r.in)
		}),
		a.reads("/teams/:team/games", func(tx *store.Tx, r *call) (any, error) { return s.GamesOf(tx, r.user, r.team()) }),
		a.reads("/teams/:team/stats", func(tx *store.Tx, r *call) (any, error) {
			return s.TeamStats(tx, r.user, r.team(), r.Query("seasonId"))
		}),
		a.route(http.MethodGet, "/teams/:team/stats.csv", a.teamCSV),
	}
}

func (a *api) playerRoutes() []httpapi.Route {
	s := a.Service
	const one = "/teams/:team/players/:player"
	return []httpapi.Route{
		a.creates("/teams/:team/players",
			func(tx *store.Tx, r *call, once string) (string, []store.WriteItem, error) {
				return s.NewPlayer(tx, r.user, r.team(), once, r.in)
			},
			func(tx *store.Tx, r *call, id string) (any, error) { return s.Player(tx, r.user, r.team(), id) }),
		a.reads("/teams/:team/players", a.roster),
		a.reads(one, func(tx *store.Tx, r *call) (any, error) { return s.Player(tx, r.user, r.team(), r.player()) }),
		a.route(http.MethodPut, one, a.putPlayer),
		a.removes(one, func(tx *store.Tx, r *call) error { return s.DeletePlayer(tx, r.user, r.team(), r.player()) }),
		a.writes("POST", one+"/link", func(tx *store.Tx, r *call) (any, error) { return s.LinkPlayer(tx, r.user, r.team(), r.player(), r.in) }),
		a.writes("POST", one+"/unlink", func(tx *store.Tx, r *call) (any, error) { return s.UnlinkPlayer(tx, r.user, r.team(), r.player()) }),
		a.reads("/players/:player/stats", func(tx *store.Tx, r *call) (any, error) {
			return s.PlayerStats(tx, r.user, r.player(), r.Query("teamId"))
		}),
	}
}

func (a *api) gameRoutes() []httpapi.Route {
	s := a.Service
	change := func(tx *store.Tx, r *call) (any, error) { return s.ChangeGame(tx, r.user, r.game(), r.in) }
	stream := a.route(http.MethodGet, "/games/:game/stream", a.stream)
	stream.Stream = true
	return []httpapi.Route{
		a.creates("/games",
			func(tx *store.Tx, r *call, once string) (string, []store.WriteItem, error) {
				return s.NewGame(tx, r.user, once, r.in)
			},
			func(tx *store.Tx, r *call, id string) (any, error) { return s.Game(tx, r.user, id) }),
		a.reads("/games", a.games),
		a.reads("/games/:game", func(tx *store.Tx, r *call) (any, error) { return s.Game(tx, r.user, r.game()) }),
		a.writes("PATCH", "/games/:game", change),
		a.writes("PUT", "/games/:game", change),
		a.removes("/games/:game", func(tx *store.Tx, r *call) error { return s.DeleteGame(tx, r.user, r.game()) }),
		a.reads("/games/:game/state", func(tx *store.Tx, r *call) (any, error) { return s.State(tx, r.user, r.game()) }),
		a.reads("/games/:game/boxscore", func(tx *store.Tx, r *call) (any, error) { return s.Box(tx, r.user, r.game()) }),
		stream,
	}
}

func (a *api) atBatRoutes() []httpapi.Route {
	s := a.Service
	const one = "/games/:game/atbats/:atbat"
	return []httpapi.Route{
		a.route(http.MethodPost, "/games/:game/atbats", a.postAtBat),
		a.reads("/games/:game/atbats", func(tx *store.Tx, r *call) (any, error) { return s.AtBats(tx, r.user, r.game()) }),
		a.reads(one, func(tx *store.Tx, r *call) (any, error) { return s.AtBat(tx, r.user, r.game(), r.atBat()) }),
		a.writes("PUT", one, func(tx *store.Tx, r *call) (any, error) { return s.ChangeAtBat(tx, r.user, r.game(), r.atBat(), r.in) }),
		a.removes(one, func(tx *store.Tx, r *call) error { return s.DeleteAtBat(tx, r.user, r.game(), r.atBat()) }),
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

func (a *api) putUser(r *call) error {
	if err := r.own(); err != nil {
		return err
	}
	if done, err := refused(r, []string{"userId", "email", "createdAt", "updatedAt"}, []string{"firstName", "lastName", "phoneNumber"}); done || err != nil {
		return err
	}
	return httpapi.AnswerUpdate(r.Context, func(tx *store.Tx) (hacktracker.User, error) { return a.Service.ChangeUser(tx, r.user, r.in) })
}

func (a *api) putPlayer(r *call) error {
	if done, err := refused(r, []string{"playerId", "teamId", "isGhost", "userId", "linkedAt", "createdAt", "updatedAt"}, nil); done || err != nil {
		return err
	}
	return httpapi.AnswerUpdate(r.Context, func(tx *store.Tx) (hacktracker.Player, error) {
		return a.Service.ChangePlayer(tx, r.user, r.team(), r.player(), r.in)
	})
}

// refused answers 400 to a body with members that cannot be changed, or that nobody knows where allowed says which are.
func refused(r *call, readOnly, allowed []string) (done bool, err error) {
	var fixed, unknown []string
	for name := range r.in {
		switch {
		case slices.Contains(readOnly, name):
			fixed = append(fixed, name)
		case allowed != nil && !slices.Contains(allowed, name):
			unknown = append(unknown, strings.ToValidUTF8(name[:min(len(name), maxText)], ""))
		}
	}
	slices.Sort(fixed)
	slices.Sort(unknown)
	switch {
	case len(fixed) > 0:
		return true, httpapi.Answer(r.Context, http.StatusBadRequest, map[string]any{"error": "Cannot update read-only fields", "readOnlyFields": fixed}, nil)
	case len(unknown) > 0:
		body := map[string]any{"error": "Invalid fields", "invalidFields": unknown, "allowedFields": allowed}
		return true, httpapi.Answer(r.Context, http.StatusBadRequest, body, nil)
	}
	return false, nil
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
	all, err := a.Service.Roster(tx, r.user, r.team(), want)
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
	if err := httpapi.View(r.Context, func(tx *store.Tx) error {
		_, err := a.Service.Game(tx, r.user, r.game())
		return err
	}); err != nil {
		return err
	}
	return httpapi.Stream(r.Context, "game", topicGame+r.game())
}

// postAtBat scores a plate appearance as of the moment of the tap.
func (a *api) postAtBat(r *call) error {
	once, err := httpapi.IdempotencyKey(r.Context)
	if err != nil {
		return err
	}
	var made hacktracker.AtBat
	err = httpapi.Update(r.Context, func(tx *store.Tx) error {
		at, err := httpapi.OccurredAt(r.Context, tx.Now())
		if err != nil {
			return err
		}
		made, err = a.Service.NewAtBat(tx, r.user, r.game(), once, at, r.in)
		return err
	})
	return httpapi.Answer(r.Context, http.StatusCreated, made, err)
}
