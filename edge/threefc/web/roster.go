package web

import (
	"math"
	"net/http"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/store"
)

func (a *api) playerRoutes() []route {
	s := a.Service
	return []route{
		{"GET", "/v1/games/:game/players", viewer, a.getPlayers},
		{"POST", "/v1/games/:game/players", scorekeeper, writes(http.StatusCreated, readPlayer, func(tx *store.Tx, r *request, p threefc.Player) (threefc.Change, error) {
			return s.AddPlayer(tx, r.of.ID, p.PlayerID, p.Nickname, r.ids)
		}, answerCreated("player", a.player))},
		{"DELETE", "/v1/games/:game/players/:player", admin, writes(http.StatusNoContent, nothing, func(tx *store.Tx, r *request, _ any) (threefc.Change, error) {
			return s.RemovePlayer(tx, r.of.ID, r.Param("player"))
		}, nil)},
		{"GET", "/v1/games/:game/roster", viewer, reads(a.roster)},
		{"PUT", "/v1/games/:game/roster/:player", scorekeeper, writes(http.StatusOK, readPlace, func(tx *store.Tx, r *request, team string) (threefc.Change, error) {
			return s.Assign(tx, r.of.ID, r.Param("player"), team, r.isAdmin(tx))
		}, a.answerPlaced)},
		{"DELETE", "/v1/games/:game/roster/:player", scorekeeper, writes(http.StatusNoContent, nothing, func(tx *store.Tx, r *request, _ any) (threefc.Change, error) {
			return s.Unassign(tx, r.of.ID, r.Param("player"), r.isAdmin(tx))
		}, nil)},
		{"POST", "/v1/players/:player/claim", mailed, writes(http.StatusOK, nothing, func(tx *store.Tx, r *request, _ any) (threefc.Change, error) {
			return s.Claim(tx, r.User, r.of.ID)
		}, func(tx *store.Tx, r *request) (any, error) {
			p, err := a.player(tx, r.of.ID)
			return map[string]any{"player": p, "claim": map[string]bool{"claimedByCurrentUser": true}}, err
		})},
		{"GET", "/v1/players/:player", session, reads(func(tx *store.Tx, r *request) (any, error) {
			p, err := s.PlayerOf(tx, r.signIn, r.of.ID)
			return playerOf(valueOrZero(p)), err
		})},
	}
}

// playerView is a player without the claiming user, which is an address.
type playerView struct {
	PlayerID string `json:"playerId"`
	Nickname string `json:"nickname"`
	threefc.Stamps
}

func playerOf(p threefc.Player) playerView { return playerView{p.PlayerID, p.Nickname, p.Stamps} }

func (a *api) player(tx *store.Tx, id string) (playerView, error) {
	p, err := a.Service.Player(tx, id)
	return playerOf(valueOrZero(p)), err
}

func (a *api) getPlayers(r *request) (work, error) {
	search, limit := r.Query.Text("search", maxText), r.Query.Number("limit", math.MaxInt)
	return lists("players", func(tx *store.Tx, game string) (out []playerView, err error) {
		all, err := a.Service.Players(tx, game, search, limit)
		for i := range all {
			out = append(out, playerOf(all[i]))
		}
		return out, err
	})(r)
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

func readPlayer(r *request, b *bind.Body) (p threefc.Player, err error) {
	p.Nickname = nickname(b)
	if _, ok := b.Get("playerId"); ok {
		p.PlayerID = r.newID(b, "player")
	}
	return p, nil
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

func (a *api) roster(tx *store.Tx, r *request) (any, error) {
	b, err := a.Service.Board(tx, r.of.ID)
	if err != nil {
		return nil, err
	}
	in, err := a.Service.Roster(tx, b.GameID)
	free := []playerView{}
	for _, id := range in.Unassigned {
		free = append(free, playerOf(in.Players[id]))
	}
	return map[string]any{"teams": b.Teams, "roster": rosterViews(&in), "unassignedPlayers": free}, err
}

// readPlace reads the team to assign a player to.
func readPlace(_ *request, b *bind.Body) (string, error) {
	team := text(b, "teamId")
	if team != "" && !threefc.IsTeam(team) {
		b.Bad("teamId", "must be red, blue or yellow")
	}
	return team, nil
}

// answerPlaced answers with a player's roster entry.
func (a *api) answerPlaced(tx *store.Tx, r *request) (any, error) {
	in, err := a.Service.Roster(tx, r.of.ID)
	for _, one := range rosterViews(&in) {
		if one.PlayerID == r.Param("player") {
			return one, err
		}
	}
	return nil, err
}
