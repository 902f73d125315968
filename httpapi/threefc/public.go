package threefc

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/store"
)

func (a *api) publicRoutes() []route {
	return []route{
		{method: "GET", path: "/v1/public/leagues", do: a.getPublicLeagues},
		{method: "GET", path: "/v1/public/leagues/:league/seasons", do: a.getPublicSeasons},
		{method: "GET", path: "/v1/public/games/:game", do: a.getPublicGame},
		{method: "GET", path: "/v1/public/games/:game/timeline", do: a.getTimeline},
		{method: "GET", path: "/v1/public/games/:game/stream", do: a.streamPublic, stream: true},
		{method: "GET", path: "/v1/public/seasons/:season/standings", do: a.getStandings},
		{method: "GET", path: "/v1/public/seasons/:season/leaderboards/players", do: a.getLeaders},
	}
}

// publicLeague is a league as everybody may see it.
type publicLeague struct {
	LeagueID string  `json:"leagueId"`
	Name     string  `json:"name"`
	Slug     *string `json:"slug"`
}

func (a *api) getPublicLeagues(r *request) error {
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		all, err := a.Service.PublicLeagues(tx)
		out := []publicLeague{}
		for i := range all {
			out = append(out, publicLeague{all[i].LeagueID, all[i].Name, all[i].Slug})
		}
		return listed("leagues", out), err
	})
}

// publicSeason is a season as everybody may see it.
type publicSeason struct {
	SeasonID string  `json:"seasonId"`
	Name     string  `json:"name"`
	Slug     *string `json:"slug"`
	StartsOn *string `json:"startsOn"`
	EndsOn   *string `json:"endsOn"`
}

func (a *api) getPublicSeasons(r *request) error {
	if err := a.fetch(r, threefc.Scope{Kind: "league", ID: r.id("league")}); err != nil {
		return err
	}
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		l, err := a.Service.LeagueNamed(tx, r.id("league"))
		if err != nil {
			return nil, err
		}
		all, err := a.Service.Seasons(tx, l.LeagueID)
		out := []publicSeason{}
		for i := range all {
			s := &all[i]
			out = append(out, publicSeason{s.SeasonID, s.Name, s.Slug, s.StartsOn, s.EndsOn})
		}
		return map[string]any{"league": publicLeague{l.LeagueID, l.Name, l.Slug}, "seasons": out}, err
	})
}

// publicTeam is a team of a game as everybody may see it.
type publicTeam struct {
	TeamID   string  `json:"teamId"`
	Name     string  `json:"name"`
	Color    *string `json:"color"`
	Scored   int     `json:"scored"`
	Conceded int     `json:"conceded"`
}

// publicGame is a game as everybody may see it.
type publicGame struct {
	GameID      string          `json:"gameId"`
	LeagueID    string          `json:"leagueId"`
	SeasonID    string          `json:"seasonId"`
	Status      string          `json:"status"`
	GameStartTs string          `json:"gameStartTs"` //nolint:staticcheck // as the rows spell it
	Timer       threefc.Timer   `json:"timer"`
	Teams       []publicTeam    `json:"teams"`
	FinishedAt  *string         `json:"finishedAt"`
	Result      *threefc.Result `json:"result"`
}

func (a *api) getPublicGame(r *request) error {
	if err := a.fetch(r, threefc.Scope{Kind: "game", ID: r.id("game")}); err != nil {
		return err
	}
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (publicGame, error) {
		b, err := r.board(tx)
		if err != nil {
			return publicGame{}, err
		}
		g := publicGame{
			GameID: b.GameID, LeagueID: b.LeagueID, SeasonID: b.SeasonID, Status: b.Status, GameStartTs: b.GameStartTs, Timer: b.Timer(),
			FinishedAt: b.FinishedAt, Result: b.Result, Teams: []publicTeam{},
		}
		for i := range b.Teams {
			t := &b.Teams[i]
			g.Teams = append(g.Teams, publicTeam{t.TeamID, t.Name, t.Color, t.Scored, t.Conceded})
		}
		return g, nil
	})
}

func (a *api) getTimeline(r *request) error {
	if err := a.fetch(r, threefc.Scope{Kind: "game", ID: r.id("game")}); err != nil {
		return err
	}
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		b, err := r.board(tx)
		if err != nil {
			return nil, err
		}
		all, err := a.Service.Timeline(tx, b)
		return listed("timeline", all), err
	})
}

// season reads a season that a public route is about.
func (a *api) season(r *request, tx *store.Tx) error {
	_, err := a.Service.Season(tx, r.id("season"))
	return err
}

func (a *api) getStandings(r *request) error {
	q := bind.Parameters(r.Request)
	blissett := q.OneOf("table", "blissett") != ""
	if err := q.Err(); err != nil {
		return err
	}
	if err := a.fetch(r, threefc.Scope{Kind: "season", ID: r.id("season")}); err != nil {
		return err
	}
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		if err := a.season(r, tx); err != nil {
			return nil, err
		}
		all, err := a.Service.Standings(tx, r.id("season"), blissett)
		return map[string]any{"seasonId": r.id("season"), "standings": all}, err
	})
}

func (a *api) getLeaders(r *request) error {
	q := bind.Parameters(r.Request)
	perGame := q.OneOf("sort", "goals", "perGame") == "perGame"
	if err := q.Err(); err != nil {
		return err
	}
	if err := a.fetch(r, threefc.Scope{Kind: "season", ID: r.id("season")}); err != nil {
		return err
	}
	return httpapi.AnswerView(r.Context, func(tx *store.Tx) (map[string]any, error) {
		if err := a.season(r, tx); err != nil {
			return nil, err
		}
		all, err := a.Service.Leaders(tx, r.id("season"), perGame)
		return map[string]any{"seasonId": r.id("season"), "players": all}, err
	})
}

// topicGame begins the topic of a game.
const topicGame = "game/"

func streamGame(r *request) error { return httpapi.Stream(r.Context, "game", topicGame+r.id("game")) }

// streamPublic is the same stream without signing in: its frames hold nothing that is not public.
func (a *api) streamPublic(r *request) error {
	if err := a.fetch(r, threefc.Scope{Kind: "game", ID: r.id("game")}); err != nil {
		return err
	}
	if err := httpapi.View(r.Context, func(tx *store.Tx) error {
		_, err := r.board(tx)
		return err
	}); err != nil {
		return err
	}
	return streamGame(r)
}

// goalFrame is a goal that has changed; Deleted: it is no more.
type goalFrame struct {
	GameID      string `json:"gameId"`
	EventID     string `json:"eventId"`
	Third       int    `json:"third"`
	DisplayTime string `json:"displayTime"`
	Deleted     bool   `json:"deleted,omitempty"`
}

// gameFrame is a game that has changed.
type gameFrame struct {
	GameID string `json:"gameId"`
	Status string `json:"status,omitempty"`
}

// clockFrame is a game's clock: it runs from startedAt of the active third.
type clockFrame struct {
	GameID string        `json:"gameId"`
	Timer  threefc.Timer `json:"timer"`
}

// snapshot has who begins to read ask for the game: what came before the stream is not missed.
func snapshot(_ context.Context, topic string) ([]sse.Frame, error) {
	game, ok := strings.CutPrefix(topic, topicGame)
	if !ok {
		return nil, nil
	}
	raw, err := json.Marshal(gameFrame{GameID: game})
	return []sse.Frame{sse.NewFrame("game", 0, raw)}, err
}

// topicOf is what a record means to the streams of its game: goal, clock, or that something of the game has changed. Readers ask for
// what they show; nobody's name is in it.
func (a *api) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	game, isGame := strings.CutPrefix(r.Key["pk"].Str(), "GAME#")
	if r.Table != a.Service.Table || !isGame {
		return ch, false, nil
	}
	name, body, err := frameOf(game, r)
	if err != nil || name == "" {
		return ch, false, err
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return ch, false, err
	}
	frame := sse.NewFrame(name, r.Seq, raw)
	return sse.Change{Topic: topicGame + game, Frame: frame, All: func() sse.Frame { return frame }}, true, nil
}

func frameOf(game string, r *store.Record) (name string, body any, err error) {
	sk := r.Key["sk"].Str()
	switch {
	case strings.HasPrefix(sk, "GOAL#"):
		it := r.New
		if it == nil {
			it = r.Old
		}
		var f goalFrame
		if it != nil {
			err = json.Unmarshal([]byte(it["data"].Str()), &f)
		}
		f.GameID, f.Deleted = game, r.New == nil
		return "goal", f, err
	case sk == "METADATA" && r.New != nil:
		var now, was threefc.Game
		if err := json.Unmarshal([]byte(r.New["data"].Str()), &now); err != nil {
			return "", nil, err
		}
		if r.Old != nil {
			if err := json.Unmarshal([]byte(r.Old["data"].Str()), &was); err != nil {
				return "", nil, err
			}
		}
		if len(now.Thirds) > 0 && !sameThirds(now.Thirds, was.Thirds) {
			return "clock", clockFrame{game, now.Timer()}, nil
		}
		return "game", gameFrame{game, now.Status}, nil
	case sk == "METADATA", strings.HasPrefix(sk, "ROSTER#"), strings.HasPrefix(sk, "TEAM#"), strings.HasPrefix(sk, "PLAYER#"):
		return "game", gameFrame{GameID: game}, nil
	}
	return "", nil, nil
}

func sameThirds(a, b []threefc.Third) bool {
	x, _ := json.Marshal(a) // of our own structs
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
