package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// onlyAdmins is the error for users who are not in the admin group.
func onlyAdmins() error {
	return fault.New(fault.Forbidden, "forbidden", "Only administrators can list everything")
}

// listUsers returns one user by Cognito subject or, for an admin, a page of all users.
func (h *handlers) listUsers(r *httpapi.Request) (httpapi.Response, error) {
	sub, page := r.Query.Text("cognitoSub", maxText), readPage(r.Query)
	return h.read(r, func(b *hacktracker.Book) any {
		b.Refuse(sub != r.User && !r.Identity().Admin, onlyAdmins())
		if sub != "" {
			return b.UserBySub(sub)
		}
		users, next := b.Users(page)
		return listPage("users", users, next)
	})
}

func (h *handlers) getContext(r *httpapi.Request) (httpapi.Response, error) {
	return h.read(r, func(b *hacktracker.Book) any { return b.Context() })
}

func (h *handlers) getUser(r *httpapi.Request) (httpapi.Response, error) {
	return h.read(r, func(b *hacktracker.Book) any { return b.VisibleUser(r.Param("user")) })
}

func (h *handlers) updateUser(r *httpapi.Request) (httpapi.Response, error) {
	in := bodyMembers(r)
	if fixed := readOnly(in, "userId", "email", "createdAt", "updatedAt"); len(fixed) > 0 {
		return refuseReadOnly(fixed)
	}
	allowed := []string{"firstName", "lastName", "phoneNumber"}
	unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(in)), func(name string) bool { return slices.Contains(allowed, name) })
	if len(unknown) > 0 {
		return httpapi.Reply(http.StatusBadRequest, map[string]any{"error": "Invalid fields", "invalidFields": unknown, "allowedFields": allowed})
	}
	return h.write(r, http.StatusOK, func(b *hacktracker.Book) any { return b.ChangeUser(in) })
}

// readOnly returns the members of a body that nobody may change.
func readOnly(in hacktracker.Input, names ...string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(in)), func(name string) bool { return !slices.Contains(names, name) })
}

func refuseReadOnly(fields []string) (httpapi.Response, error) {
	return httpapi.Reply(http.StatusBadRequest, map[string]any{"error": "Cannot update read-only fields", "readOnlyFields": fields})
}

func (h *handlers) deleteUser(r *httpapi.Request) (httpapi.Response, error) {
	return h.write(r, http.StatusNoContent, func(b *hacktracker.Book) any {
		b.DeleteUser()
		return nil
	})
}

func (h *handlers) listOwnPlayers(r *httpapi.Request) (httpapi.Response, error) {
	return h.read(r, func(b *hacktracker.Book) any { return listPage("players", b.Players(), nil) })
}

func (h *handlers) createTeam(r *httpapi.Request) (httpapi.Response, error) {
	return h.create(r, func(b *hacktracker.Book, key string) (string, []store.WriteItem) {
		return b.NewTeam(key, bodyMembers(r))
	}, func(b *hacktracker.Book, id string) any { return b.Team(id) })
}

// listTeams lists the teams of a member or of an owner, or all teams.
func (h *handlers) listTeams(r *httpapi.Request) (httpapi.Response, error) {
	q := r.Query
	member := q.Text("userId", maxText)
	query := hacktracker.TeamQuery{Owner: q.Text("ownerId", maxText), Type: q.OneOf("team_type", hacktracker.Managed, hacktracker.Personal), Page: readPage(q)}
	if member != "" && query.Owner != "" {
		q.Bad("userId", "cannot be given together with ownerId")
	}
	return h.read(r, func(b *hacktracker.Book) any {
		if member == "" {
			teams, next := b.Teams(query)
			return listPage("teams", teams, next)
		}
		teams := slices.DeleteFunc(b.TeamsOf(member), func(t hacktracker.Team) bool { return query.Type != "" && t.Type != query.Type })
		return listPage("teams", teams, nil)
	})
}

func (h *handlers) getTeam(r *httpapi.Request) (httpapi.Response, error) {
	return h.read(r, func(b *hacktracker.Book) any { return b.Team(r.Param("team")) })
}

func (h *handlers) updateTeam(r *httpapi.Request) (httpapi.Response, error) {
	return h.write(r, http.StatusOK, func(b *hacktracker.Book) any { return b.ChangeTeam(r.Param("team"), bodyMembers(r)) })
}

// deleteTeam answers with the token by which the team can be recovered, in a header.
func (h *handlers) deleteTeam(r *httpapi.Request) (httpapi.Response, error) {
	return h.write(r, http.StatusNoContent, func(b *hacktracker.Book) any {
		r.SetHeader("X-Recovery-Token", b.DeleteTeam(r.Param("team")))
		return nil
	})
}

func (h *handlers) recoverTeam(r *httpapi.Request) (httpapi.Response, error) {
	return h.write(r, http.StatusOK, func(b *hacktracker.Book) any { return b.RecoverTeam(r.Param("team"), bodyMembers(r)) })
}

func (h *handlers) acceptTeam(r *httpapi.Request) (httpapi.Response, error) {
	return h.write(r, http.StatusOK, func(b *hacktracker.Book) any { return b.AcceptTeam(r.Param("team")) })
}

func (h *handlers) leaveTeam(r *httpapi.Request) (httpapi.Response, error) {
	return h.write(r, http.StatusNoContent, func(b *hacktracker.Book) any {
		b.LeaveTeam(r.Param("team"))
		return nil
	})
}

func (h *handlers) updateMember(r *httpapi.Request) (httpapi.Response, error) {
	return h.write(r, http.StatusOK, func(b *hacktracker.Book) any { return b.ChangeMember(r.Param("team"), r.Param("user"), bodyMembers(r)) })
}

// wholeList is how many games a request without a limit gets, as from clients that know no cursors: more than most teams have.
const wholeList = 1000

// listTeamGames returns a page of a team's games. The address of the next page is in a header, since the document's list is an array.
func (h *handlers) listTeamGames(r *httpapi.Request) (httpapi.Response, error) {
	page := readGamesPage(r.Query, wholeList)
	return h.read(r, func(b *hacktracker.Book) any {
		games, next := b.GamesOf(r.Param("team"), page)
		if next != nil {
			query := url.Values{"cursor": {cursorOf(next)}}
			if page.Limit != wholeList {
				query.Set("limit", strconv.Itoa(page.Limit))
			}
			r.SetHeader("Link", "<?"+query.Encode()+`>; rel="next"`)
		}
		return games
	})
}

func (h *handlers) getTeamStats(r *httpapi.Request) (httpapi.Response, error) {
	season := r.Query.Text("seasonId", maxText)
	return h.read(r, func(b *hacktracker.Book) any { return b.TeamStats(r.Param("team"), season) })
}

// exportTeamStats answers with a team's statistics as CSV, with the columns that other scorebooks export.
func (h *handlers) exportTeamStats(r *httpapi.Request) (httpapi.Response, error) {
	season := r.Query.Text("seasonId", maxText)
	if err := r.InputErr(); err != nil {
		return httpapi.Response{}, err
	}
	var stats hacktracker.TeamStats
	err := r.View(func(tx *store.Tx) error {
		b := h.open(tx, r)
		stats = b.TeamStats(r.Param("team"), season)
		return b.Err()
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	rows := [][]string{strings.Split("Number,Player,GP,PA,AB,AVG,OBP,SLG,OPS,H,1B,2B,3B,HR,RBI,BB,K,HBP,SF,SH,TB,ISO,BABIP", ",")}
	for i := range stats.Players {
		p := &stats.Players[i]
		figures := cells[any](p.Games, p.PA, p.AB, p.AVG, p.OBP, p.SLG, p.OPS, p.H, p.H-p.Doubles-p.Triples-p.HR, p.Doubles, p.Triples, p.HR,
			p.RBI, p.BB, p.K, p.HBP, p.SF, p.SH, p.TB, p.ISO, p.BABIP)
		for i := range figures {
			figures[i] = strings.TrimLeft(figures[i], "-") // unknown averages are left empty
		}
		rows = append(rows, append([]string{hacktracker.Shirt(p.Number), p.Name}, figures...))
	}
	return httpapi.ReplyCSV("stats.csv", rows)
}

// cells formats values for a table.
func cells[T any](all ...T) (out []string) {
	for _, one := range all {
		out = append(out, fmt.Sprint(one))
	}
	return out
}

func (h *handlers) createPlayer(r *httpapi.Request) (httpapi.Response, error) {
	return h.create(r, func(b *hacktracker.Book, key string) (string, []store.WriteItem) {
		return b.NewPlayer(r.Param("team"), key, bodyMembers(r))
	}, func(b *hacktracker.Book, id string) any { return b.Player(r.Param("team"), id) })
}

func (h *handlers) listPlayers(r *httpapi.Request) (httpapi.Response, error) {
	q := r.Query
	query := hacktracker.RosterQuery{
		Status: q.OneOf("status", "active", "inactive", "sub"), Ghost: q.OneOf("isGhost", "true", "false"), Roles: q.OneOf("includeRoles", "true", "false") == "true",
	}
	return h.read(r, func(b *hacktracker.Book) any { return listPage("players", b.Roster(r.Param("team"), query), nil) })
}

func (h *handlers) getPlayer(r *httpapi.Request) (httpapi.Response, error) {
	return h.read(r, func(b *hacktracker.Book) any { return b.Player(r.Param("team"), r.Param("player")) })
}

func (h *handlers) updatePlayer(r *httpapi.Request) (httpapi.Response, error) {
	in := bodyMembers(r)
	if fixed := readOnly(in, "playerId", "teamId", "isGhost", "userId", "linkedAt", "createdAt", "updatedAt"); len(fixed) > 0 {
		return refuseReadOnly(fixed)
	}
	return h.write(r, http.StatusOK, func(b *hacktracker.Book) any { return b.ChangePlayer(r.Param("team"), r.Param("player"), in) })
}

func (h *handlers) deletePlayer(r *httpapi.Request) (httpapi.Response, error) {
	return h.write(r, http.StatusNoContent, func(b *hacktracker.Book) any {
		b.DeletePlayer(r.Param("team"), r.Param("player"))
		return nil
	})
}

func (h *handlers) linkPlayer(r *httpapi.Request) (httpapi.Response, error) {
	return h.write(r, http.StatusOK, func(b *hacktracker.Book) any { return b.LinkPlayer(r.Param("team"), r.Param("player"), bodyMembers(r)) })
}

func (h *handlers) unlinkPlayer(r *httpapi.Request) (httpapi.Response, error) {
	return h.write(r, http.StatusOK, func(b *hacktracker.Book) any { return b.UnlinkPlayer(r.Param("team"), r.Param("player")) })
}

func (h *handlers) getPlayerStats(r *httpapi.Request) (httpapi.Response, error) {
	team := r.Query.Text("teamId", maxText)
	return h.read(r, func(b *hacktracker.Book) any { return b.PlayerStats(r.Param("player"), team) })
}
