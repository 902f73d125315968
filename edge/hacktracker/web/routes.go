package web

import "github.com/touchline/touchline/httpapi"

// routes returns the routes of the API, all for signed-in users (admit).
func (h *handlers) routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/users", Access: httpapi.User, Handle: h.listUsers},
		{Method: "GET", Path: "/users/context", Access: httpapi.User, Handle: h.getContext},
		{Method: "GET", Path: "/users/:user", Access: httpapi.User, Handle: h.getUser},
		{Method: "PUT", Path: "/users/:user", Access: httpapi.User, Role: own, Handle: h.updateUser},
		{Method: "DELETE", Path: "/users/:user", Access: httpapi.User, Role: own, Handle: h.deleteUser},
		{Method: "GET", Path: "/users/:user/players", Access: httpapi.User, Role: own, Handle: h.listOwnPlayers},

		{Method: "POST", Path: "/teams", Access: httpapi.User, Once: true, Handle: h.createTeam},
		{Method: "GET", Path: "/teams", Access: httpapi.User, Handle: h.listTeams},
		{Method: "GET", Path: "/teams/:team", Access: httpapi.User, Handle: h.getTeam},
		{Method: "PUT", Path: "/teams/:team", Access: httpapi.User, Handle: h.updateTeam},
		{Method: "DELETE", Path: "/teams/:team", Access: httpapi.User, Handle: h.deleteTeam},
		{Method: "POST", Path: "/teams/:team/recover", Access: httpapi.User, Handle: h.recoverTeam},
		{Method: "POST", Path: "/teams/:team/accept", Access: httpapi.User, Handle: h.acceptTeam},
		{Method: "POST", Path: "/teams/:team/leave", Access: httpapi.User, Handle: h.leaveTeam},
		{Method: "PUT", Path: "/teams/:team/members/:user", Access: httpapi.User, Handle: h.updateMember},
		{Method: "GET", Path: "/teams/:team/games", Access: httpapi.User, Handle: h.listTeamGames},
		{Method: "GET", Path: "/teams/:team/stats", Access: httpapi.User, Handle: h.getTeamStats},
		{Method: "GET", Path: "/teams/:team/stats.csv", Access: httpapi.User, Handle: h.exportTeamStats},

		{Method: "POST", Path: "/teams/:team/players", Access: httpapi.User, Once: true, Handle: h.createPlayer},
		{Method: "GET", Path: "/teams/:team/players", Access: httpapi.User, Handle: h.listPlayers},
		{Method: "GET", Path: "/teams/:team/players/:player", Access: httpapi.User, Handle: h.getPlayer},
		{Method: "PUT", Path: "/teams/:team/players/:player", Access: httpapi.User, Handle: h.updatePlayer},
		{Method: "DELETE", Path: "/teams/:team/players/:player", Access: httpapi.User, Handle: h.deletePlayer},
		{Method: "POST", Path: "/teams/:team/players/:player/link", Access: httpapi.User, Handle: h.linkPlayer},
		{Method: "POST", Path: "/teams/:team/players/:player/unlink", Access: httpapi.User, Handle: h.unlinkPlayer},
		{Method: "GET", Path: "/players/:player/stats", Access: httpapi.User, Handle: h.getPlayerStats},

		{Method: "POST", Path: "/games", Access: httpapi.User, Once: true, Handle: h.createGame},
		{Method: "GET", Path: "/games", Access: httpapi.User, Handle: h.listGames},
		{Method: "GET", Path: "/games/:game", Access: httpapi.User, Handle: h.getGame},
		{Method: "PATCH", Path: "/games/:game", Access: httpapi.User, Handle: h.patchGame, NotHandedIn: changesStay},
		{Method: "PUT", Path: "/games/:game", Access: httpapi.User, Handle: h.updateGame, NotHandedIn: changesStay},
		{Method: "DELETE", Path: "/games/:game", Access: httpapi.User, Handle: h.deleteGame},
		{Method: "GET", Path: "/games/:game/state", Access: httpapi.User, Handle: h.getGameState},
		{Method: "GET", Path: "/games/:game/boxscore", Access: httpapi.User, Handle: h.getBoxScore},
		{Method: "GET", Path: "/games/:game/stream", Access: httpapi.User, Handle: h.streamGame, Stream: true},
		{Method: "POST", Path: "/games/:game/runs", Access: httpapi.User, Once: true, Handle: h.addRuns, Say: h.sayRuns},
		{Method: "POST", Path: "/games/:game/atbats", Access: httpapi.User, Once: true, Handle: h.createAtBat, Say: h.sayAtBat},
		{Method: "GET", Path: "/games/:game/atbats", Access: httpapi.User, Handle: h.listAtBats},
		{Method: "GET", Path: "/games/:game/atbats/:atbat", Access: httpapi.User, Handle: h.getAtBat},
		{Method: "PUT", Path: "/games/:game/atbats/:atbat", Access: httpapi.User, Handle: h.updateAtBat, NotHandedIn: changesStay},
		{Method: "DELETE", Path: "/games/:game/atbats/:atbat", Access: httpapi.User, Handle: h.deleteAtBat, NotHandedIn: changesStay},
	}
}

// pageRoutes returns the routes of the pages.
func (h *handlers) pageRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/", Access: httpapi.User, Handle: h.homePage},
		{Method: "GET", Path: "/teams/:team", Access: httpapi.User, Handle: h.statsPage},
		{Method: "GET", Path: "/teams/:team/schedule", Access: httpapi.User, Handle: h.schedulePage},
		{Method: "GET", Path: "/teams/:team/roster", Access: httpapi.User, Handle: h.rosterPage},
		{Method: "GET", Path: "/teams/:team/players/:player", Access: httpapi.User, Handle: h.playerPage},
		{Method: "GET", Path: "/games/:game", Access: httpapi.User, Handle: h.gamePage},
		{Method: "GET", Path: "/games/:game/score", Access: httpapi.User, Handle: h.scorerPage},
		{Method: "GET", Path: "/games/:game/lineup", Access: httpapi.User, Handle: h.lineupPage},
		{Method: "GET", Path: "/games/:game/overlay", Access: httpapi.User, Handle: h.overlayPage},
		{Method: "POST", Path: "/games/:game/scorers", Access: httpapi.User, Handle: h.handScoringOver},
	}
}

// changesStay is why changes are not taken from a file: they count once at one node alone, and a file may be handed in anywhere.
const changesStay = "A change, or the start or end of a game, cannot be handed in: make it on the game's page."
