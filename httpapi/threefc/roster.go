package threefc

import (
	"net/http"
	"strconv"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/store"
)

// playerView is a player without whose he is, which is an address.
type playerView struct {
	PlayerID string `json:"playerId"`
	Nickname string `json:"nickname"`
	threefc.Stamps
}

func playerOf(p *threefc.Player) playerView { return playerView{p.PlayerID, p.Nickname, p.Stamps} }

func (a *api) getPlayers(r *request) error {
	q := bind.Parameters(r.Request)
	search, limit := q.Text("search", maxText), 0
	if raw := r.Query("limit"); raw != "" {
		var err error
		if limit, err = strconv.Atoi(raw); err != nil || limit < 1 {
			q.Bad("limit", "must be a number from 1")
		}
	}
	if err := q.Err(); err != nil {
		return err
	}
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		all, err := a.Service.Players(tx, r.id("game"), search, limit)
		out := []playerView{}
		for i := range all {
			out = append(out, playerOf(&all[i]))
		}
		return listed("players", out), err
	})
}

// maxNickname is the longest nickname, in characters.
const maxNickname = 80

func nickname(b *bind.Body) string {
	v := text(b, "nickname")
	if len([]rune(v)) > maxNickname {
		b.Bad("nickname", "must be %d characters or fewer", maxNickname)
	}
	return v
}

// postPlayer: {playerId?, nickname}.
func (a *api) postPlayer(r *request) error {
	b := httpapi.Body(r.Context)
	id, name := "", nickname(b)
	if _, ok := b.Get("playerId"); ok {
		id = identifier(b, "playerId")
	}
	if err := b.Err(); err != nil {
		return err
	}
	return r.write(http.StatusCreated, [2]string{id, name}, func(tx *store.Tx, ids *threefc.IDs) (threefc.Change, error) {
		return a.Service.AddPlayer(tx, r.id("game"), id, name, ids)
	}, func(tx *store.Tx, made map[string]string) (any, error) { return a.player(tx, made["player"]) })
}

func (a *api) player(tx *store.Tx, id string) (any, error) {
	p, err := a.Service.Player(tx, id)
	if err != nil {
		return nil, err
	}
	return playerOf(p), nil
}

// rosterView is a player's place in a team, with the player.
type rosterView struct {
	GameID   string     `json:"gameId"`
	TeamID   string     `json:"teamId"`
	PlayerID string     `json:"playerId"`
	Player   playerView `json:"player"`
	threefc.Stamps
}

func rosterViews(in *threefc.Roster) []rosterView {
	out := []rosterView{}
	for _, one := range in.Roster {
		p := in.Players[one.PlayerID]
		out = append(out, rosterView{one.GameID, one.TeamID, one.PlayerID, playerOf(&p), one.Stamps})
	}
	return out
}

func (a *api) getRoster(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		b, err := r.board(tx)
		if err != nil {
			return nil, err
		}
		in, err := a.Service.Roster(tx, b.GameID)
		free := []playerView{}
		for _, id := range in.Unassigned {
			p := in.Players[id]
			free = append(free, playerOf(&p))
		}
		return map[string]any{"teams": b.Teams, "roster": rosterViews(&in), "unassignedPlayers": free}, err
	})
}

// putRoster: {teamId}.
func (a *api) putRoster(r *request) error {
	b := httpapi.Body(r.Context)
	team := text(b, "teamId")
	if team != "" && !threefc.IsTeam(team) {
		b.Bad("teamId", "must be red, blue or yellow")
	}
	if err := b.Err(); err != nil {
		return err
	}
	player := r.id("player")
	if err := a.need(r.Context, threefc.Partition(threefc.Scope{Kind: "player", ID: player})); err != nil {
		return err
	}
	return r.write(http.StatusOK, team, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return a.Service.Assign(tx, r.id("game"), player, team, r.isAdmin(tx))
	}, func(tx *store.Tx, _ map[string]string) (any, error) {
		in, err := a.Service.Roster(tx, r.id("game"))
		for _, one := range rosterViews(&in) {
			if one.PlayerID == player {
				return one, err
			}
		}
		return nil, err
	})
}

func (a *api) deleteRoster(r *request) error {
	return r.remove(func(tx *store.Tx) (threefc.Change, error) {
		return a.Service.Unassign(tx, r.id("game"), r.id("player"), r.isAdmin(tx))
	})
}
