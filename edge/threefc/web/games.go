package web

import (
	"net/http"
	"slices"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// gameView is a game with its timer.
type gameView struct {
	threefc.Game
	Timer threefc.Timer `json:"timer"`
}

func viewOf(b *threefc.Board) gameView { return gameView{b.Game, b.Timer()} }

// readGame returns a game with its timer.
func (h *handlers) readGame(tx *store.Tx, id string) (any, error) {
	b, err := h.Service.Board(tx, id)
	if err != nil {
		return nil, err
	}
	return viewOf(b), nil
}

// readGames returns a page of the games of a session or a season, with their timers.
func (h *handlers) readGames(tx *store.Tx, of threefc.Scope, page threefc.ListPage) (any, error) {
	all, next, err := h.Service.Games(tx, of, page)
	var out []gameView
	for i := range all {
		out = append(out, viewOf(&all[i]))
	}
	return addCursor(wrapList("games", out), next), err
}

func (h *handlers) createGame(r *httpapi.Request) (httpapi.Response, error) {
	b := r.Body()
	given := readGameFields(b)
	if given.GameStartTs == nil {
		b.Bad("gameStartTs", "must be a non-empty string")
	}
	game := threefc.Game{
		SessionID: r.Param("session"), GameID: readNewID(b, "game"), GameStartTs: valueOrZero(given.GameStartTs), Status: valueOrZero(given.Status),
		ThirdLengthMinutes: valueOrZero(given.ThirdLengthMinutes),
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusCreated, input: game, rows: rowsOfNew("game", game.GameID),
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) { return h.Service.CreateGame(tx, game) },
		show: func(tx *store.Tx, run *onceRun) (any, error) { return h.readGame(tx, run.made["game"]) },
	})
}

func (h *handlers) listSessionGames(r *httpapi.Request) (httpapi.Response, error) {
	page := listPage(r, wholeList)
	return r.Read(func(tx *store.Tx) (any, error) { return h.readGames(tx, admitted(r).of, page) })
}

func (h *handlers) getGame(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) { return h.readGame(tx, r.Param("game")) })
}

func (h *handlers) updateGame(r *httpapi.Request) (httpapi.Response, error) {
	patch := readGameFields(r.Body())
	if patch == (threefc.GamePatch{}) && r.Body().Err() == nil {
		return httpapi.Response{}, fault.New(fault.Invalid, "", "PATCH /v1/games/{gameId} accepts status and/or gameStartTs.")
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK, input: patch,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.PatchGame(tx, r.Param("game"), patch)
		},
		show: func(tx *store.Tx, _ *onceRun) (any, error) { return h.readGame(tx, r.Param("game")) },
	})
}

func (h *handlers) deleteGame(r *httpapi.Request) (httpapi.Response, error) {
	return h.writeOnce(r, onceWrite{
		status: http.StatusNoContent,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.DeleteGame(tx, r.User, r.Param("game"))
		},
	})
}

func (h *handlers) listGameTeams(r *httpapi.Request) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		b, err := h.Service.Board(tx, r.Param("game"))
		if err != nil {
			return nil, err
		}
		return wrapList("teams", b.Teams), nil
	})
}

func (h *handlers) putGameTeam(r *httpapi.Request) (httpapi.Response, error) {
	name := readTeam(r)
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK, input: name,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.PutGameTeam(tx, r.Param("game"), r.Param("team"), name)
		},
		show: func(tx *store.Tx, _ *onceRun) (any, error) {
			b, err := h.Service.Board(tx, r.Param("game"))
			if err != nil {
				return nil, err
			}
			return b.Teams[teamIndex(r)], nil
		},
	})
}

// startThird starts the third in the path, at the time of the tap.
func (h *handlers) startThird(r *httpapi.Request) (httpapi.Response, error) {
	third, err := readThird(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK, input: third,
		plan: func(tx *store.Tx, run *onceRun) (threefc.Change, error) {
			if err := run.setTime(tx, r, h.Service); err != nil {
				return threefc.Change{}, err
			}
			return h.Service.StartThird(tx, r.Param("game"), third, run.at)
		},
		show: func(tx *store.Tx, _ *onceRun) (any, error) { return h.readGame(tx, r.Param("game")) },
	})
}

// finishThird ends the third in the path, at the time of the tap.
func (h *handlers) finishThird(r *httpapi.Request) (httpapi.Response, error) {
	third, err := readThird(r)
	if err != nil {
		return httpapi.Response{}, err
	}
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK, input: third,
		plan: func(tx *store.Tx, run *onceRun) (threefc.Change, error) {
			if err := run.setTime(tx, r, h.Service); err != nil {
				return threefc.Change{}, err
			}
			return h.Service.FinishThird(tx, r.Param("game"), third, run.at)
		},
		show: func(tx *store.Tx, _ *onceRun) (any, error) { return h.readGame(tx, r.Param("game")) },
	})
}

func (h *handlers) finishGame(r *httpapi.Request) (httpapi.Response, error) {
	return h.writeOnce(r, onceWrite{
		status: http.StatusOK,
		plan: func(tx *store.Tx, _ *onceRun) (threefc.Change, error) {
			return h.Service.FinishGame(tx, r.Param("game"))
		},
		show: func(tx *store.Tx, _ *onceRun) (any, error) { return h.readGame(tx, r.Param("game")) },
	})
}

// readGameFields reads the fields of a game that a body may set.
func readGameFields(b *bind.Body) (c threefc.GamePatch) {
	if _, ok := b.Get("status"); ok {
		text(b, "status")
		v := b.OneOf("status", threefc.Scheduled, threefc.Live)
		c.Status = &v
	}
	if _, ok := b.Get("gameStartTs"); ok {
		v, ok := threefc.NormalTime(text(b, "gameStartTs"))
		if c.GameStartTs = &v; !ok {
			b.Bad("gameStartTs", "must be an ISO 8601 timestamp")
		}
	}
	if _, ok := b.Get("thirdLengthMinutes"); ok {
		n := int(b.Whole("thirdLengthMinutes", 60, 0))
		if c.ThirdLengthMinutes = &n; !slices.Contains(threefc.Lengths(), n) {
			b.Bad("thirdLengthMinutes", "must be 20, 25 or 30")
		}
	}
	return c
}

// readThird reads the number of the third in the path.
func readThird(r *httpapi.Request) (int, error) {
	n, ok := threefc.ThirdOf(r.Param("third"))
	if !ok {
		return 0, fault.New(fault.Invalid, "", "Third must be 1, 2, or 3.")
	}
	return n, nil
}

// valueOrZero returns the pointer's value, or the zero value for nil.
func valueOrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
