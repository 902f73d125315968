package threefc

import (
	"net/http"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func (a *api) gameRoutes() []route {
	return []route{
		{method: "POST", path: "/v1/sessions/:session/games", who: admin, do: a.postGame},
		{method: "GET", path: "/v1/sessions/:session/games", who: viewer, do: a.getSessionGames},
		{method: "GET", path: "/v1/games/:game", who: viewer, do: a.getGame},
		{method: "PATCH", path: "/v1/games/:game", who: admin, do: a.patchGame},
		{method: "DELETE", path: "/v1/games/:game", who: admin, do: a.deleteGame},
		{method: "GET", path: "/v1/games/:game/teams", who: viewer, do: a.getGameTeams},
		{method: "PUT", path: "/v1/games/:game/teams/:team", who: admin, do: a.putGameTeam},
		{method: "GET", path: "/v1/games/:game/players", who: viewer, do: a.getPlayers},
		{method: "POST", path: "/v1/games/:game/players", who: scorekeeper, do: a.postPlayer},
		{method: "GET", path: "/v1/games/:game/roster", who: viewer, do: a.getRoster},
		{method: "PUT", path: "/v1/games/:game/roster/:player", who: scorekeeper, do: a.putRoster},
		{method: "DELETE", path: "/v1/games/:game/roster/:player", who: scorekeeper, do: a.deleteRoster},
		{method: "POST", path: "/v1/games/:game/thirds/:third/start", who: scorekeeper, do: a.third(a.Service.StartThird)},
		{method: "POST", path: "/v1/games/:game/thirds/:third/finish", who: scorekeeper, do: a.third(a.Service.FinishThird)},
		{method: "GET", path: "/v1/games/:game/goals", who: viewer, do: a.getGoals},
		{method: "POST", path: "/v1/games/:game/goals", who: scorekeeper, do: a.postGoal},
		{method: "PATCH", path: "/v1/games/:game/goals/:event", who: scorekeeper, do: a.patchGoal},
		{method: "DELETE", path: "/v1/games/:game/goals/:event", who: scorekeeper, do: a.deleteGoal},
		{method: "POST", path: "/v1/games/:game/goals/undo-last", who: scorekeeper, do: a.postUndo},
		{method: "POST", path: "/v1/games/:game/finish", who: scorekeeper, do: a.postFinish},
		{method: "GET", path: "/v1/games/:game/stream", who: viewer, do: streamGame, stream: true},
	}
}

// gameView is a game with its timer.
type gameView struct {
	threefc.Game
	Timer threefc.Timer `json:"timer"`
}

func viewOf(b *threefc.Board) gameView { return gameView{b.Game, b.Timer()} }

func gameViews(all []threefc.Board) (out []gameView) {
	for i := range all {
		out = append(out, viewOf(&all[i]))
	}
	return out
}

// game renders the game of a route.
func (a *api) game(tx *store.Tx, id string) (any, error) {
	b, err := a.Service.Board(tx, id)
	if err != nil {
		return nil, err
	}
	return viewOf(b), nil
}

// readGame reads the members of a game that bodies have.
func readGame(b *bind.Body) (c threefc.GamePatch) {
	if _, ok := b.Get("status"); ok {
		if v := b.OneOf("status", threefc.Scheduled, threefc.Live); v != "" {
			c.Status = &v
		} else {
			b.Bad("status", "must be scheduled or live")
		}
	}
	if _, ok := b.Get("gameStartTs"); ok {
		if v, err := threefc.NormalTime("gameStartTs", text(b, "gameStartTs")); err == nil {
			c.GameStartTs = &v
		} else {
			b.Bad("gameStartTs", "must be an ISO 8601 timestamp")
		}
	}
	if _, ok := b.Get("thirdLengthMinutes"); ok {
		n := int(b.Whole("thirdLengthMinutes", 60, 0))
		if n != 20 && n != 25 && n != 30 {
			b.Bad("thirdLengthMinutes", "must be 20, 25 or 30")
		}
		c.ThirdLengthMinutes = &n
	}
	return c
}

// postGame: {gameId, gameStartTs, status?, thirdLengthMinutes?}.
func (a *api) postGame(r *request) error {
	b := httpapi.Body(r.Context)
	g := threefc.Game{SessionID: r.id("session"), GameID: identifier(b, "gameId")}
	c := readGame(b)
	if _, ok := b.Get("gameStartTs"); !ok {
		b.Bad("gameStartTs", "must be a non-empty string")
	}
	if err := b.Err(); err != nil {
		return err
	}
	g.GameStartTs = *c.GameStartTs
	if c.Status != nil {
		g.Status = *c.Status
	}
	if c.ThirdLengthMinutes != nil {
		g.ThirdLengthMinutes = *c.ThirdLengthMinutes
	}
	if err := a.need(r.Context, threefc.Partition(threefc.Scope{Kind: "game", ID: g.GameID})); err != nil {
		return err
	}
	return r.write(http.StatusCreated, g, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return a.Service.CreateGame(tx, g)
	}, func(tx *store.Tx, made map[string]string) (any, error) { return a.game(tx, made["game"]) })
}

func (a *api) getSessionGames(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		all, err := a.Service.GamesOf(tx, r.id("session"))
		return listed("games", gameViews(all)), err
	})
}

func (a *api) getGame(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (any, error) { return a.game(tx, r.id("game")) })
}

// patchGame: {status?, gameStartTs?, thirdLengthMinutes?}.
func (a *api) patchGame(r *request) error {
	b := httpapi.Body(r.Context)
	c := readGame(b)
	if err := b.Err(); err != nil {
		return err
	}
	if c == (threefc.GamePatch{}) {
		return fault.New(fault.Invalid, "", "PATCH /v1/games/{gameId} accepts status and/or gameStartTs.")
	}
	return r.change(c, func(tx *store.Tx) (threefc.Change, error) { return a.Service.PatchGame(tx, r.id("game"), c) })
}

// change answers a change of the game with the game.
func (r *request) change(body any, do func(tx *store.Tx) (threefc.Change, error)) error {
	return r.write(http.StatusOK, body, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) { return do(tx) },
		func(tx *store.Tx, _ map[string]string) (any, error) { return r.api.game(tx, r.id("game")) })
}

func (a *api) deleteGame(r *request) error {
	return r.remove(func(tx *store.Tx) (threefc.Change, error) { return a.Service.DeleteGame(tx, r.user, r.id("game")) })
}

// board reads the game of a route.
func (r *request) board(tx *store.Tx) (*threefc.Board, error) {
	return r.api.Service.Board(tx, r.id("game"))
}

func (a *api) getGameTeams(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		b, err := r.board(tx)
		if err != nil {
			return nil, err
		}
		return listed("teams", b.Teams), nil
	})
}

func (a *api) putGameTeam(r *request) error {
	n, err := teamName(r)
	if err != nil {
		return err
	}
	return r.write(http.StatusOK, n, func(tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return a.Service.PutGameTeam(tx, r.id("game"), r.id("team"), n)
	}, func(tx *store.Tx, made map[string]string) (any, error) {
		b, err := r.board(tx)
		if err != nil {
			return nil, err
		}
		for i := range b.Teams {
			if b.Teams[i].TeamID == made["team"] {
				return b.Teams[i], nil
			}
		}
		return nil, nil
	})
}

// third does what its route says to a third, as of the tap.
func (a *api) third(do func(tx *store.Tx, game string, n int, at time.Time) (threefc.Change, error)) func(r *request) error {
	return func(r *request) error {
		if err := nothing(r); err != nil {
			return err
		}
		n, ok := threefc.ThirdOf(r.id("third"))
		if !ok {
			return fault.New(fault.Invalid, "", "Third must be 1, 2, or 3.")
		}
		return r.change(n, func(tx *store.Tx) (threefc.Change, error) {
			at, err := httpapi.OccurredAt(r.Context, a.Service.Now(tx))
			if err != nil {
				return threefc.Change{}, err
			}
			return do(tx, r.id("game"), n, at)
		})
	}
}

func (a *api) postFinish(r *request) error {
	if err := nothing(r); err != nil {
		return err
	}
	return r.change(nil, func(tx *store.Tx) (threefc.Change, error) { return a.Service.FinishGame(tx, r.id("game")) })
}
