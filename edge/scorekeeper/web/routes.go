package web

import (
	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// routes returns the routes of the API.
func (h *handlers) routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/health", Access: httpapi.Public, Handle: h.getHealth, Quiet: true},
		{Method: "POST", Path: "/session", Access: httpapi.Optional, Handle: h.beginSession},
		{Method: "POST", Path: "/guess", Access: httpapi.Guest, Role: player, Once: true, Handle: h.postGuess, NotHandedIn: guessesStay},
		{Method: "GET", Path: "/game/:date", Access: httpapi.Guest, Role: player, Needs: h.rowsOfGame, Handle: h.getGame},

		{Method: "GET", Path: "/history", Access: httpapi.User, Role: player, Needs: h.rowsOfRecentGames, Handle: h.getHistory},
		{Method: "GET", Path: "/profile", Access: httpapi.User, Role: player, Handle: h.getProfile},
		{Method: "PUT", Path: "/profile", Access: httpapi.User, Role: player, Handle: h.putProfile},
		{Method: "POST", Path: "/convert-session", Access: httpapi.User, Role: player, Handle: h.convertSession},
		{Method: "GET", Path: "/puzzles", Access: httpapi.User, Handle: h.listPuzzles},
		{Method: "GET", Path: "/puzzles/:date", Access: httpapi.User, Handle: h.getPuzzle},
		{Method: "PUT", Path: "/puzzles", Access: httpapi.User, Role: gameAdmin, Handle: h.putPuzzle},
		{Method: "POST", Path: "/puzzles/cache/clear", Access: httpapi.User, Role: gameAdmin, Handle: h.clearPuzzleCache},

		{Method: "GET", Path: "/team", Access: httpapi.User, Role: player, Handle: h.getTeam},
		{Method: "POST", Path: "/team", Access: httpapi.User, Role: player, Once: true, Handle: h.createTeam},
		{Method: "DELETE", Path: "/team", Access: httpapi.User, Role: player, Handle: h.deleteTeam},
		{Method: "POST", Path: "/team/accept", Access: httpapi.User, Role: player, Handle: h.acceptTeam},
		{Method: "PUT", Path: "/team/teammate", Access: httpapi.User, Role: player, Handle: h.putTeammate},
		{Method: "DELETE", Path: "/team/teammate", Access: httpapi.User, Role: player, Handle: h.deleteTeammate},
		{Method: "GET", Path: "/score", Access: httpapi.User, Role: player, Handle: h.getScore},
		{Method: "GET", Path: "/scoreboard", Access: httpapi.User, Role: player, Handle: h.getScoreboard},
		{Method: "GET", Path: "/stream", Access: httpapi.User, Role: player, Handle: h.streamBoards, Stream: true},
	}
}

// pageRoutes returns the routes of the pages.
func (h *handlers) pageRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/", Access: httpapi.Optional, Role: visitor, Handle: h.playPage},
		{Method: "GET", Path: "/days/:date", Access: httpapi.Optional, Role: visitor, Handle: h.playPage},
		{Method: "GET", Path: "/history", Access: httpapi.User, Role: player, Needs: h.rowsOfRecentGames, Handle: h.historyPage},
		{Method: "GET", Path: "/teams", Access: httpapi.User, Role: player, Handle: h.teamsPage},
		{Method: "GET", Path: "/teams/:id", Access: httpapi.User, Role: player, Handle: h.teamPage},
		{Method: "GET", Path: "/teams/:id/:when", Access: httpapi.User, Role: player, Handle: h.teamPage},
		{Method: "GET", Path: "/admin", Access: httpapi.Admin, Handle: h.adminPage},
		{Method: "GET", Path: "/admin/days/:date", Access: httpapi.Admin, Handle: h.dayPage},
	}
}

// guessesPerMinute limits the guesses of a player; guests share the limit of their address.
const guessesPerMinute = 30

// guessesStay is why guesses are not taken from a file.
const guessesStay = "Guesses cannot be handed in: they count as they arrive, and only from who made them."

// Limits of string fields, in bytes: of IDs, and of fields that the rules check themselves.
const (
	maxText  = 128
	longText = 1 << 16 // no body is longer
)

// requiredID reads a required, non-empty string field of the body.
func requiredID(b *bind.Body, name string) string {
	return bind.Need(b, name, func(name string) string { return b.Text(name, maxText) })
}

// requiredText reads a required string field of the body. It may be empty or far too long: the rules refuse it then, with their own message.
func requiredText(b *bind.Body, name string) string {
	if v := bind.Need(b, name, func(name string) *string { return b.Change(name, longText) }); v != nil {
		return *v
	}
	return ""
}

// requiredQuery reads a required query parameter.
func requiredQuery(r *httpapi.Request, name string) string {
	v := r.Query.Text(name, maxText)
	if v == "" {
		r.Query.Bad(name, "is required")
	}
	return v
}

// rowsOfGame names the rows behind the player's game for the day in the path.
func (h *handlers) rowsOfGame(_ *store.Tx, r *httpapi.Request) ([]attr.Item, error) {
	return h.puzzle.GameNeeds(r.User, r.Param("date")), nil
}

// rowsOfRecentGames names the player's recent games.
func (h *handlers) rowsOfRecentGames(tx *store.Tx, r *httpapi.Request) ([]attr.Item, error) {
	return h.puzzle.RecentNeeds(tx, r.User)
}

// fetchTeam fetches what a request about a team needs: the team, its members, and their games on the given days.
func (h *handlers) fetchTeam(r *httpapi.Request, team string, days ...string) error {
	return r.FetchNeeds(func(tx *store.Tx) ([]attr.Item, error) { return h.puzzle.TeamNeeds(tx, r.User, team, days...) })
}

// readTeammate reads {team_id, user_id}.
func readTeammate(r *httpapi.Request) (team, user string) {
	team, user = requiredID(r.Body(), "team_id"), requiredID(r.Body(), "user_id")
	if user != "" && (!scorekeeper.IsUser(user) || scorekeeper.IsSession(user)) {
		r.Body().Bad("user_id", "must be the ID of a player who has signed in")
	}
	return team, user
}
