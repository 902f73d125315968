package web

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func (a *api) routes() []httpapi.Route { return slices.Concat(a.teamRoutes(), a.gameRoutes()) }

// teamRoutes returns the routes of users, teams and players.
func (a *api) teamRoutes() []httpapi.Route {
	type book = hacktracker.Book
	const user, team, player = "/users/:user", "/teams/:team", "/teams/:team/players/:player"
	getTeam := func(b *book, r *call) any { return b.Team(r.id("team")) }
	getPlayer := func(b *book, r *call) any { return b.Player(r.Param("team"), r.id("player")) }
	return []httpapi.Route{
		a.newRoute("GET", "/users", users),
		a.newRoute("GET", "/users/context", func(b *book, _ *call) any { return b.Context() }),
		a.newRoute("GET", user, func(b *book, r *call) any { return b.VisibleUser(r.Param("user")) }),
		mine(a.newRoute("PUT", user, corrects([]string{"userId", "email", "createdAt", "updatedAt"}, []string{"firstName", "lastName", "phoneNumber"},
			func(b *book, r *call) any { return b.ChangeUser(r.in) }))),
		mine(a.newRoute("DELETE", user, func(b *book, _ *call) any { b.DeleteUser(); return nil })),
		mine(a.newRoute("GET", user+"/players", func(b *book, _ *call) any { return listPage("players", b.Players(), nil) })),

		a.creates("/teams", func(b *book, r *call) (string, []store.WriteItem) { return b.NewTeam(r.once, r.in) }, getTeam),
		a.newRoute("GET", "/teams", teams),
		a.newRoute("GET", team, getTeam),
		a.newRoute("PUT", team, func(b *book, r *call) any { return b.ChangeTeam(r.id("team"), r.in) }),
		a.newRoute("DELETE", team, func(b *book, r *call) any { r.Header("X-Recovery-Token", b.DeleteTeam(r.id("team"))); return nil }),
		a.newRoute("POST", team+"/recover", func(b *book, r *call) any { return b.RecoverTeam(r.id("team"), r.in) }),
		a.newRoute("POST", team+"/accept", func(b *book, r *call) any { return b.AcceptTeam(r.id("team")) }),
		a.newRoute("POST", team+"/leave", func(b *book, r *call) any { b.LeaveTeam(r.id("team")); return nil }),
		a.newRoute("PUT", team+"/members/:user", func(b *book, r *call) any { return b.ChangeMember(r.id("team"), r.Param("user"), r.in) }),
		a.newRoute("GET", team+"/games", teamGames),
		a.newRoute("GET", team+"/stats", func(b *book, r *call) any { return b.TeamStats(r.id("team"), r.Query.Text("seasonId", maxText)) }),
		a.route("GET", team+"/stats.csv", a.teamCSV),

		a.creates(team+"/players", func(b *book, r *call) (string, []store.WriteItem) { return b.NewPlayer(r.Param("team"), r.once, r.in) }, getPlayer),
		a.newRoute("GET", team+"/players", roster),
		a.newRoute("GET", player, getPlayer),
		a.newRoute("PUT", player, corrects([]string{"playerId", "teamId", "isGhost", "userId", "linkedAt", "createdAt", "updatedAt"}, nil,
			func(b *book, r *call) any { return b.ChangePlayer(r.Param("team"), r.id("player"), r.in) })),
		a.newRoute("DELETE", player, func(b *book, r *call) any { b.DeletePlayer(r.Param("team"), r.id("player")); return nil }),
		a.newRoute("POST", player+"/link", func(b *book, r *call) any { return b.LinkPlayer(r.Param("team"), r.id("player"), r.in) }),
		a.newRoute("POST", player+"/unlink", func(b *book, r *call) any { return b.UnlinkPlayer(r.Param("team"), r.id("player")) }),
		a.newRoute("GET", "/players/:player/stats", func(b *book, r *call) any { return b.PlayerStats(r.Param("player"), r.Query.Text("teamId", maxText)) }),
	}
}

// gameRoutes returns the routes of games and their at-bats.
func (a *api) gameRoutes() []httpapi.Route {
	type book = hacktracker.Book
	const game, atBat = "/games/:game", "/games/:game/atbats/:atbat"
	getGame := func(b *book, r *call) any { return b.Game(r.id("game")) }
	putGame := func(b *book, r *call) any {
		g := b.ChangeGame(r.id("game"), r.in)
		if ended := string(r.in["status"]) == `"`+hacktracker.Final+`"`; ended && b.Err() == nil {
			who, _ := scorerOf(r.Context, "")
			a.Scorers.Finish(g.ID, who)
		}
		return g
	}
	return []httpapi.Route{
		a.creates("/games", func(b *book, r *call) (string, []store.WriteItem) { return b.NewGame(r.once, r.in) }, getGame),
		a.newRoute("GET", "/games", games),
		a.newRoute("GET", game, getGame),
		refuseHandIn(a.scores(a.newRoute("PATCH", game, putGame))),
		refuseHandIn(a.scores(a.newRoute("PUT", game, putGame))),
		a.newRoute("DELETE", game, func(b *book, r *call) any { b.DeleteGame(r.id("game")); return nil }),
		a.newRoute("GET", game+"/state", func(b *book, r *call) any { return b.State(r.id("game")) }),
		a.newRoute("GET", game+"/boxscore", func(b *book, r *call) any { return b.Box(r.id("game")) }),
		a.route("GET", game+"/stream", func(r *call) (httpapi.Work, error) {
			if _, err := httpapi.Read(r.Context, inTransaction(a, r, getGame)); err != nil {
				return nil, err
			}
			return nil, httpapi.Stream(r.Context, "game", topicGame+r.id("game"))
		}),

		a.handedIn(runsSaid, a.scores(a.newRoute("POST", game+"/runs", func(b *book, r *call) any {
			at, late := httpapi.OccurredAt(r.Context, b.Now())
			b.Fail(late)
			httpapi.CountsOnce(r.Context)
			return b.AddRuns(r.id("game"), r.once, at, r.in)
		}))),
		a.handedIn(atBatSaid, a.scores(a.newRoute("POST", game+"/atbats", func(b *book, r *call) any {
			r.Status = http.StatusCreated
			at, late := httpapi.OccurredAt(r.Context, b.Now())
			httpapi.CountsOnce(r.Context)
			if of, handed := httpapi.Handed(r.Context); handed {
				b.HandIn(of.MadeBy(scorersOf(b, r)))
			}
			return b.NewAtBat(r.id("game"), r.once, at, late, r.in)
		}))),
		a.newRoute("GET", game+"/atbats", func(b *book, r *call) any { return b.AtBats(r.id("game")) }),
		a.newRoute("GET", atBat, func(b *book, r *call) any { return b.AtBat(r.id("game"), r.Param("atbat")) }),
		refuseHandIn(a.scores(a.newRoute("PUT", atBat, func(b *book, r *call) any { return b.ChangeAtBat(r.id("game"), r.Param("atbat"), r.in) }))),
		refuseHandIn(a.scores(a.newRoute("DELETE", atBat, func(b *book, r *call) any { b.DeleteAtBat(r.id("game"), r.Param("atbat")); return nil }))),
	}
}

// admin refuses a user who is not in the admin group.
func (r *call) admin(b *hacktracker.Book) {
	if who, _ := httpapi.Identity(r.Context); !who.Admin {
		b.Fail(fault.New(fault.Forbidden, "forbidden", "Only administrators can list everything"))
	}
}

// users returns one user by Cognito subject or, for an admin, a page of all users.
func users(b *hacktracker.Book, r *call) any {
	sub, p := r.Query.Text("cognitoSub", maxText), r.page()
	if sub != r.User {
		r.admin(b)
	}
	if sub != "" {
		return b.UserBySub(sub)
	}
	all, next := b.Users(p)
	return listPage("users", all, next)
}

// mine restricts a route to the caller's own user.
func mine(rt httpapi.Route) httpapi.Route {
	do := rt.Do
	rt.Do = func(c *gin.Context) error {
		if user, err := httpapi.Subject(c); err == nil && c.Param("user") != user {
			return fault.New(fault.Forbidden, "forbidden", "You can see and change only your own data")
		}
		return do(c)
	}
	return rt
}

// corrects wraps a change: it refuses read-only members, and members not in allowed. If allowed is nil, it ignores unknown members.
func corrects(readOnly, allowed []string, do doing) doing {
	return func(b *hacktracker.Book, r *call) any {
		named := slices.Sorted(maps.Keys(r.in))
		fixed := slices.DeleteFunc(slices.Clone(named), func(name string) bool { return !slices.Contains(readOnly, name) })
		unknown := slices.DeleteFunc(named, func(name string) bool { return allowed == nil || slices.Contains(allowed, name) })
		switch r.Status = http.StatusBadRequest; {
		case len(fixed) > 0:
			return map[string]any{"error": "Cannot update read-only fields", "readOnlyFields": fixed}
		case len(unknown) > 0:
			return map[string]any{"error": "Invalid fields", "invalidFields": unknown, "allowedFields": allowed}
		}
		r.Status = http.StatusOK
		return do(b, r)
	}
}

// teams lists the teams of a member or of an owner, or all teams.
func teams(b *hacktracker.Book, r *call) any {
	member, q := r.Query.Text("userId", maxText), r.Query
	t := hacktracker.TeamQuery{Owner: q.Text("ownerId", maxText), Type: q.OneOf("team_type", hacktracker.Managed, hacktracker.Personal), Page: r.page()}
	if member != "" && t.Owner != "" {
		q.Bad("userId", "cannot be given together with ownerId")
	}
	if member == "" {
		all, next := b.Teams(t)
		return listPage("teams", all, next)
	}
	return listPage("teams", slices.DeleteFunc(b.TeamsOf(member), func(one hacktracker.Team) bool { return t.Type != "" && one.Type != t.Type }), nil)
}

func roster(b *hacktracker.Book, r *call) any {
	q := r.Query
	return listPage("players", b.Roster(r.id("team"), hacktracker.RosterQuery{
		Status: q.OneOf("status", "active", "inactive", "sub"), Ghost: q.OneOf("isGhost", "true", "false"), Roles: q.OneOf("includeRoles", "true", "false") == "true",
	}), nil)
}

// wholeList is how many games a request without a limit gets, as from clients that know no cursors: more than most teams have.
const wholeList = 1000

// teamGames returns a page of a team's games. The address of the next page is in a header, since the document's list is an array.
func teamGames(b *hacktracker.Book, r *call) any {
	page := r.gamesPage(wholeList)
	all, next := b.GamesOf(r.id("team"), page)
	if next != nil {
		query := url.Values{"cursor": {cursorOf(next)}}
		if page.Limit != wholeList {
			query.Set("limit", strconv.Itoa(page.Limit))
		}
		r.Header("Link", "<?"+query.Encode()+`>; rel="next"`)
	}
	return all
}

func games(b *hacktracker.Book, r *call) any {
	r.admin(b)
	all, next := b.Games(r.page())
	return listPage("games", all, next)
}
