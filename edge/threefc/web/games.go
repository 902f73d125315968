package web

import (
	"net/http"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func (a *api) gameRoutes() []route {
	s := a.Service
	return []route{
		{"POST", "/v1/sessions/:session/games", admin, writes(http.StatusCreated, readNewGame, plain(s.CreateGame), answerCreated("game", a.game))},
		{"GET", "/v1/sessions/:session/games", viewer, listsPage("games", a.games("session"))},
		{"GET", "/v1/games/:game", viewer, one(a.game)},
		{"PATCH", "/v1/games/:game", admin, changes(readPatch, func(tx *store.Tx, r *request, c threefc.GamePatch) (threefc.Change, error) {
			return s.PatchGame(tx, r.of.ID, c)
		})},
		{"DELETE", "/v1/games/:game", admin, removes(s.DeleteGame)},
		{"GET", "/v1/games/:game/teams", viewer, reads(ofBoard(func(b *threefc.Board) any { return wrapList("teams", b.Teams) }))},
		{"PUT", "/v1/games/:game/teams/:team", admin, writes(http.StatusOK, readTeam, func(tx *store.Tx, r *request, n threefc.TeamName) (threefc.Change, error) {
			return s.PutGameTeam(tx, r.of.ID, r.Param("team"), n)
		}, func(tx *store.Tx, r *request) (any, error) {
			return ofBoard(func(b *threefc.Board) any { return b.Teams[r.team()] })(tx, r)
		})},
		{"POST", "/v1/games/:game/thirds/:third/start", scorekeeper, third(s.StartThird)},
		{"POST", "/v1/games/:game/thirds/:third/finish", scorekeeper, third(s.FinishThird)},
		{"POST", "/v1/games/:game/finish", scorekeeper, changes(nothing, func(tx *store.Tx, r *request, _ any) (threefc.Change, error) {
			return s.FinishGame(tx, r.of.ID)
		})},
		{"POST", "/v1/games/:game/conflicts/:conflict/retry", admin, postDecision("retry")},
		{"POST", "/v1/games/:game/conflicts/:conflict/discard", admin, postDecision("discard")},
		{"GET", "/v1/games/:game/stream", viewer, streamGame},
	}
}

// gameView is a game with its timer.
type gameView struct {
	threefc.Game
	Timer threefc.Timer `json:"timer"`
}

func viewOf(b *threefc.Board) any { return gameView{b.Game, b.Timer()} }

// games reads a page of the games of a session or a season, with their timers.
func (a *api) games(kind string) func(tx *store.Tx, id string, page threefc.ListPage) ([]any, string, error) {
	return func(tx *store.Tx, id string, page threefc.ListPage) (out []any, next string, err error) {
		all, next, err := a.Service.Games(tx, threefc.Scope{Kind: kind, ID: id}, page)
		for i := range all {
			out = append(out, viewOf(&all[i]))
		}
		return out, next, err
	}
}

// ofBoard answers with a view of the route's game.
func ofBoard(show func(b *threefc.Board) any) func(tx *store.Tx, r *request) (any, error) {
	return func(tx *store.Tx, r *request) (any, error) {
		b, err := r.api.Service.Board(tx, r.of.ID)
		if err != nil {
			return nil, err
		}
		return show(b), nil
	}
}

func (a *api) game(tx *store.Tx, id string) (any, error) {
	b, err := a.Service.Board(tx, id)
	if err != nil {
		return nil, err
	}
	return viewOf(b), nil
}

// changes handles a change to a game and answers with the game.
func changes[T any](read func(r *request, b *bind.Body) (T, error), plan func(tx *store.Tx, r *request, in T) (threefc.Change, error)) func(r *request) (work, error) {
	return writes(http.StatusOK, read, plan, ofBoard(viewOf))
}

// readGame reads the fields of a game that a body may set.
func readGame(b *bind.Body) (c threefc.GamePatch) {
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

// valueOrZero returns the pointer's value, or the zero value for nil.
func valueOrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func readNewGame(r *request, b *bind.Body) (threefc.Game, error) {
	c := readGame(b)
	if c.GameStartTs == nil {
		b.Bad("gameStartTs", "must be a non-empty string")
	}
	return threefc.Game{
		SessionID: r.of.ID, GameID: r.newID(b, "game"), GameStartTs: valueOrZero(c.GameStartTs), Status: valueOrZero(c.Status), ThirdLengthMinutes: valueOrZero(c.ThirdLengthMinutes),
	}, nil
}

func readPatch(_ *request, b *bind.Body) (threefc.GamePatch, error) {
	c := readGame(b)
	if c == (threefc.GamePatch{}) && b.Err() == nil {
		return c, fault.New(fault.Invalid, "", "PATCH /v1/games/{gameId} accepts status and/or gameStartTs.")
	}
	return c, nil
}

// third applies do to the third in the path, at the time of the tap.
func third(do func(tx *store.Tx, game string, n int, at time.Time) (threefc.Change, error)) func(r *request) (work, error) {
	return changes(func(r *request, _ *bind.Body) (int, error) {
		n, ok := threefc.ThirdOf(r.Param("third"))
		if !ok {
			return 0, fault.New(fault.Invalid, "", "Third must be 1, 2, or 3.")
		}
		return n, nil
	}, func(tx *store.Tx, r *request, n int) (threefc.Change, error) {
		at, err := httpapi.OccurredAt(r.Context, r.api.Service.Now(tx))
		if err != nil {
			return threefc.Change{}, err
		}
		c, err := do(tx, r.of.ID, n, at)
		c.At = at
		return c, err
	})
}
