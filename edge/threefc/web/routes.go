package web

import (
	"slices"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
)

// What a route asks of the caller: its Role. For routes of the API, admit finds the session itself, so their Access is Public; for pages the
// server has found it.
const (
	public      = "public"
	session     = "session"               // any signed-in user
	mailed      = "mailed"                // a user who has signed in by mail: what a session is for that counts in all leagues
	viewer      = threefc.RoleViewer      // any role in the league
	scorekeeper = threefc.RoleScorekeeper // that role, or admin
	admin       = threefc.RoleAdmin
)

// routes returns the routes of the API. The first parameter of a path names the route's subject.
func (h *handlers) routes() []httpapi.Route {
	return slices.Concat(h.leagueRoutes(), h.gameRoutes(), h.publicRoutes())
}

// leagueRoutes are about people and their leagues.
func (h *handlers) leagueRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/v1/health", Access: httpapi.Public, Role: public, Handle: h.getHealth},
		{Method: "POST", Path: "/v1/auth/magic/start", Access: httpapi.Public, Role: public, Handle: h.startMagicLink},
		{Method: "POST", Path: "/v1/auth/magic/complete", Access: httpapi.Public, Role: public, Handle: h.completeMagicLink, Once: true},
		{Method: "POST", Path: "/v1/auth/code/complete", Access: httpapi.Public, Role: public, Handle: h.completeSignInCode, Once: true},
		{Method: "POST", Path: "/v1/leagues/:league/sign-in-codes", Access: httpapi.Public, Role: admin, Handle: h.createSignInCode},
		{Method: "GET", Path: "/v1/auth/session", Access: httpapi.Public, Role: session, Handle: h.getOwnSession},
		{Method: "POST", Path: "/v1/auth/logout", Access: httpapi.Public, Role: public, Handle: h.signOut},
		{Method: "GET", Path: "/v1/auth/sessions", Access: httpapi.Public, Role: mailed, Handle: h.listOwnSessions},
		{Method: "DELETE", Path: "/v1/auth/sessions", Access: httpapi.Public, Role: mailed, Handle: h.endOwnSessions, Once: true},
		{Method: "DELETE", Path: "/v1/auth/sessions/:id", Access: httpapi.Public, Role: mailed, Handle: h.endOwnSession, Once: true},

		{Method: "POST", Path: "/v1/leagues", Access: httpapi.Public, Role: mailed, Handle: h.createLeague, Once: true},
		{Method: "GET", Path: "/v1/leagues", Access: httpapi.Public, Role: session, Handle: h.listLeagues},
		{Method: "POST", Path: "/v1/conflicts/:conflict/discard", Access: httpapi.Public, Role: session, Handle: h.dismissConflict},
		{Method: "GET", Path: "/v1/leagues/:league", Access: httpapi.Public, Role: viewer, Handle: h.getLeague},
		{Method: "DELETE", Path: "/v1/leagues/:league", Access: httpapi.Public, Role: admin, Handle: h.deleteLeague, Once: true},
		{Method: "POST", Path: "/v1/leagues/:league/seasons", Access: httpapi.Public, Role: admin, Handle: h.createSeason, Once: true},
		{Method: "GET", Path: "/v1/leagues/:league/seasons", Access: httpapi.Public, Role: viewer, Handle: h.listSeasons},
		{Method: "GET", Path: "/v1/seasons/:season", Access: httpapi.Public, Role: viewer, Handle: h.getSeason},
		{Method: "DELETE", Path: "/v1/seasons/:season", Access: httpapi.Public, Role: admin, Handle: h.deleteSeason, Once: true},
		{Method: "GET", Path: "/v1/seasons/:season/games", Access: httpapi.Public, Role: viewer, Handle: h.listSeasonGames},
		{Method: "POST", Path: "/v1/seasons/:season/sessions", Access: httpapi.Public, Role: admin, Handle: h.createSession, Once: true},
		{Method: "GET", Path: "/v1/seasons/:season/sessions", Access: httpapi.Public, Role: viewer, Handle: h.listSessions},
		{Method: "GET", Path: "/v1/seasons/:season/teams", Access: httpapi.Public, Role: viewer, Handle: h.listSeasonTeams},
		{Method: "PUT", Path: "/v1/seasons/:season/teams/:team", Access: httpapi.Public, Role: admin, Handle: h.putSeasonTeam, Once: true},

		{Method: "GET", Path: "/v1/leagues/:league/access", Access: httpapi.Public, Role: admin, Handle: h.listAccess},
		{Method: "POST", Path: "/v1/leagues/:league/access", Access: httpapi.Public, Role: admin, Handle: h.grantAccess, Once: true},
		{Method: "POST", Path: "/v1/leagues/:league/access/accept", Access: httpapi.Public, Role: mailed, Handle: h.acceptAccess, Once: true},
		{Method: "POST", Path: "/v1/leagues/:league/organiser-invites", Access: httpapi.Public, Role: admin, Handle: h.createInvite, Once: true},
		{Method: "POST", Path: "/v1/invites/:code/accept", Access: httpapi.Public, Role: mailed, Handle: h.acceptInvite, Once: true},
	}
}

// gameRoutes are about games, their players and goals.
func (h *handlers) gameRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "POST", Path: "/v1/sessions/:session/games", Access: httpapi.Public, Role: admin, Handle: h.createGame, Once: true},
		{Method: "GET", Path: "/v1/sessions/:session/games", Access: httpapi.Public, Role: viewer, Handle: h.listSessionGames},
		{Method: "GET", Path: "/v1/games/:game", Access: httpapi.Public, Role: viewer, Handle: h.getGame},
		{Method: "PATCH", Path: "/v1/games/:game", Access: httpapi.Public, Role: admin, Handle: h.updateGame, Once: true},
		{Method: "DELETE", Path: "/v1/games/:game", Access: httpapi.Public, Role: admin, Handle: h.deleteGame, Once: true},
		{Method: "GET", Path: "/v1/games/:game/teams", Access: httpapi.Public, Role: viewer, Handle: h.listGameTeams},
		{Method: "PUT", Path: "/v1/games/:game/teams/:team", Access: httpapi.Public, Role: admin, Handle: h.putGameTeam, Once: true},
		{Method: "POST", Path: "/v1/games/:game/thirds/:third/start", Access: httpapi.Public, Role: scorekeeper, Handle: h.startThird, Once: true, Say: h.sayThirdStart},
		{Method: "POST", Path: "/v1/games/:game/thirds/:third/finish", Access: httpapi.Public, Role: scorekeeper, Handle: h.finishThird, Once: true, Say: h.sayThirdEnd},
		{Method: "POST", Path: pathFinish, Access: httpapi.Public, Role: scorekeeper, Handle: h.finishGame, Once: true, Say: h.sayGameEnd},
		{Method: "POST", Path: "/v1/games/:game/conflicts/:conflict/retry", Access: httpapi.Public, Role: admin, Handle: h.retryConflict},
		{Method: "POST", Path: "/v1/games/:game/conflicts/:conflict/discard", Access: httpapi.Public, Role: admin, Handle: h.discardConflict},
		{Method: "GET", Path: "/v1/games/:game/stream", Access: httpapi.Public, Role: viewer, Handle: h.streamGame, Stream: true},

		{Method: "GET", Path: "/v1/games/:game/players", Access: httpapi.Public, Role: viewer, Handle: h.listPlayers},
		{Method: "POST", Path: "/v1/games/:game/players", Access: httpapi.Public, Role: scorekeeper, Handle: h.addPlayer, Once: true},
		{Method: "DELETE", Path: "/v1/games/:game/players/:player", Access: httpapi.Public, Role: admin, Handle: h.removePlayer, Once: true},
		{Method: "GET", Path: "/v1/games/:game/roster", Access: httpapi.Public, Role: viewer, Handle: h.getRoster},
		{Method: "PUT", Path: "/v1/games/:game/roster/:player", Access: httpapi.Public, Role: scorekeeper, Handle: h.assignPlayer, Once: true},
		{Method: "DELETE", Path: "/v1/games/:game/roster/:player", Access: httpapi.Public, Role: scorekeeper, Handle: h.unassignPlayer, Once: true},
		{Method: "POST", Path: "/v1/join/:code", Access: httpapi.Public, Role: public, Handle: h.joinGame, Once: true},
		{Method: "POST", Path: "/v1/players/:player/claim", Access: httpapi.Public, Role: mailed, Handle: h.claimPlayer, Once: true},
		{Method: "GET", Path: "/v1/players/:player", Access: httpapi.Public, Role: session, Handle: h.getPlayer},

		{Method: "GET", Path: "/v1/games/:game/goals", Access: httpapi.Public, Role: viewer, Handle: h.listGoals},
		{Method: "POST", Path: "/v1/games/:game/goals", Access: httpapi.Public, Role: scorekeeper, Handle: h.createGoal, Once: true, Say: h.sayNewGoal},
		{Method: "PATCH", Path: "/v1/games/:game/goals/:event", Access: httpapi.Public, Role: scorekeeper, Handle: h.updateGoal, Once: true, Say: h.sayGoalChange},
		{Method: "DELETE", Path: "/v1/games/:game/goals/:event", Access: httpapi.Public, Role: scorekeeper, Handle: h.deleteGoal, Once: true, Say: h.sayGoalDeletion},
		{Method: "POST", Path: "/v1/games/:game/goals/undo-last", Access: httpapi.Public, Role: scorekeeper, Handle: h.undoLastGoal, Once: true, Say: h.sayGoalUndo},
	}
}

// publicRoutes tell anybody about leagues and games, but name nobody except by nickname.
func (h *handlers) publicRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/v1/public/leagues", Access: httpapi.Public, Role: public, Handle: h.listPublicLeagues},
		{Method: "GET", Path: "/v1/public/leagues/:league/seasons", Access: httpapi.Public, Role: public, Handle: h.listPublicSeasons},
		{Method: "GET", Path: "/v1/public/games/:game", Access: httpapi.Public, Role: public, Handle: h.getPublicGame},
		{Method: "GET", Path: "/v1/public/games/:game/timeline", Access: httpapi.Public, Role: public, Handle: h.getPublicTimeline},
		{Method: "GET", Path: "/v1/public/games/:game/stream", Access: httpapi.Public, Role: public, Handle: h.streamPublicGame, Stream: true},
		{Method: "GET", Path: "/v1/public/seasons/:season/standings", Access: httpapi.Public, Role: public, Handle: h.getStandings},
		{Method: "GET", Path: "/v1/public/seasons/:season/leaderboards/players", Access: httpapi.Public, Role: public, Handle: h.listLeaders},
	}
}

// pathFinish ends a game.
const pathFinish = "/v1/games/:game/finish"

// pageRoutes returns the routes of the pages.
func (h *handlers) pageRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/", Access: httpapi.Optional, Role: public, Handle: h.leaguesPage},
		{Method: "GET", Path: signInPath, Access: httpapi.Optional, Role: public, Handle: h.signInPage},
		{Method: "GET", Path: "/join/:code", Access: httpapi.Optional, Role: public, Handle: h.joinPage},
		{Method: "GET", Path: "/invites/:code", Access: httpapi.User, Role: session, Handle: h.invitePage},
		{Method: "GET", Path: "/leagues/:league", Access: httpapi.Optional, Role: public, Handle: h.leaguePage},
		{Method: "GET", Path: "/seasons/:season", Access: httpapi.Optional, Role: public, Handle: h.seasonPage},
		{Method: "GET", Path: "/seasons/:season/london", Access: httpapi.Optional, Role: public, Handle: h.londonPage},
		{Method: "GET", Path: "/seasons/:season/games", Access: httpapi.Optional, Role: public, Handle: h.seasonGamesPage},
		{Method: "GET", Path: "/seasons/:season/admin", Access: httpapi.User, Role: admin, Handle: h.seasonAdminPage},
		{Method: "GET", Path: "/games/:game", Access: httpapi.Optional, Role: public, Handle: h.gamePage},
		{Method: "GET", Path: "/games/:game/overlay", Access: httpapi.Optional, Role: public, Handle: h.overlayPage},
		{Method: "GET", Path: "/games/:game/teams", Access: httpapi.User, Role: scorekeeper, Handle: h.teamsPage},
		{Method: "GET", Path: "/games/:game/score", Access: httpapi.User, Role: scorekeeper, Handle: h.scorerPage},
		{Method: "GET", Path: "/games/:game/results", Access: httpapi.User, Role: scorekeeper, Handle: h.resultsPage},
		{Method: "GET", Path: "/games/:game/goals/:event", Access: httpapi.User, Role: scorekeeper, Handle: h.correctPage},
		{Method: "GET", Path: "/games/:game/conflicts", Access: httpapi.User, Role: admin, Handle: h.conflictsPage},
		{Method: "GET", Path: "/:in/:name", Access: httpapi.Optional, Role: public, Handle: h.namedPage},
		{Method: "GET", Path: "/:in/:name/:game", Access: httpapi.Optional, Role: public, Handle: h.namedPage},
		{Method: "POST", Path: "/games/:game/scorers", Access: httpapi.User, Role: scorekeeper, Handle: h.shareScoring},
	}
}
