package web

import (
	"math"
	"net/http"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// playerView is a player without the claiming user, which is an address.
type playerView struct {
	PlayerID string `json:"playerId"`
	Nickname string `json:"nickname"`
	threefc.Stamps
}

func playerOf(p threefc.Player) playerView { return playerView{p.PlayerID, p.Nickname, p.Stamps} }

func (h *handlers) readPlayer(tx *store.Tx, id string) (playerView, error) {
	p, err := h.Service.Player(tx, id)
	return playerOf(valueOrZero(p)), err
}

func (h *handlers) listPlayers(r *httpapi.Request) (httpapi.Response, error) {
	search, limit := r.Query.Text("search", maxText), r.Query.Number("limit", math.MaxInt)
	return r.Read(func(tx *store.Tx) (any, error) {
		all, err := h.Service.Players(tx, r.Param("game"), search, limit)
		var out []playerView
		for i := range all {
			out = append(out, playerOf(all[i]))
		}
		return wrapList("players", out), err
	})
}

// addPlayer adds a player to a game: a new one, or the one that the body names.
func (h *handlers) addPlayer(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	player := threefc.Player{Nickname: nickname(b)}
	var rows []attr.Item
	if _, ok := b.Get("playerId"); ok {
		player.PlayerID = readNewID(b, "player")
		rows = rowsOfNew("player", player.PlayerID)
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusCreated, input: player, rows: rows,
		plan: func(tx *store.Tx, run *onceRun) (threefc.Change, error) {
			return h.Service.AddPlayer(tx, r.Param("game"), player.PlayerID, player.Nickname, run.ids)
		},
		show: func(tx *store.Tx, run *onceRun) (any, error) { return h.readPlayer(tx, run.made["player"]) },
	})
}

func (h *handlers) removePlayer(r *httpapi.Request) (httpapi.Response, error) {
	return h.writeOnce(r, onceWrite{
		status: http.StatusNoContent,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.RemovePlayer(tx, r.Param("game"), r.Param("player"))
		},
	})
}

func (h *handlers) getRoster(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		b, err := h.Service.Board(tx, r.Param("game"))
		if err != nil {
			return nil, err
		}
		in, err := h.Service.Roster(tx, b.GameID)
		free := []playerView{}
		for _, id := range in.Unassigned {
			free = append(free, playerOf(in.Players[id]))
		}
		return map[string]any{"teams": b.Teams, "roster": rosterViews(&in), "unassignedPlayers": free}, err
	})
}

// assignPlayer assigns the player in the path to a team.
func (h *handlers) assignPlayer(r *httpapi.Request) (httpapi.Response, error) {
	team := text(r.Body(), "teamId")
	if team != "" && !threefc.IsTeam(team) {
		r.Body().Bad("teamId", "must be red, blue or yellow")
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK, input: team,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.Assign(tx, r.Param("game"), r.Param("player"), team, h.isAdmin(tx, r, admitted(r).league))
		},
		show: func(tx *store.Tx, _ *onceRun) (any, error) {
			in, err := h.Service.Roster(tx, r.Param("game"))
			for _, one := range rosterViews(&in) {
				if one.PlayerID == r.Param("player") {
					return one, err
				}
			}
			return nil, err
		},
	})
}

func (h *handlers) unassignPlayer(r *httpapi.Request) (httpapi.Response, error) {
	return h.writeOnce(r, onceWrite{
		status: http.StatusNoContent,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.Unassign(tx, r.Param("game"), r.Param("player"), h.isAdmin(tx, r, admitted(r).league))
		},
	})
}

func (h *handlers) claimPlayer(r *httpapi.Request) (httpapi.Response, error) {
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.Claim(tx, r.User, r.Param("player"))
		},
		show: func(tx *store.Tx, _ *onceRun) (any, error) {
			p, err := h.readPlayer(tx, r.Param("player"))
			return map[string]any{"player": p, "claim": map[string]bool{"claimedByCurrentUser": true}}, err
		},
	})
}

func (h *handlers) getPlayer(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		p, err := h.Service.PlayerOf(tx, admitted(r).signIn, r.Param("player"))
		return playerOf(valueOrZero(p)), err
	})
}

// maxNickname is the maximum length of a nickname, in characters.
const maxNickname = 80

func nickname(b *bind.Body) string {
	v := text(b, "nickname")
	if len([]rune(v)) > maxNickname {
		b.Bad("nickname", "must be %d characters or fewer", maxNickname)
	}
	return v
}

// rosterView is a roster entry with its player.
type rosterView struct {
	threefc.Rostered
	Player playerView `json:"player"`
}

func rosterViews(in *threefc.Roster) []rosterView {
	out := []rosterView{}
	for _, one := range in.Roster {
		out = append(out, rosterView{one, playerOf(in.Players[one.PlayerID])})
	}
	return out
}
