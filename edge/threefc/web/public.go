package web

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// listPublicLeagues lists a page of all leagues.
func (h *handlers) listPublicLeagues(r *httpapi.Request) (httpapi.Response, error) {
	page := listPage(r, wholeList)
	return r.ReadPublic(func(tx *store.Tx) (any, error) {
		all, next, err := h.Service.PublicLeagues(tx, page)
		out := make([]leagueName, 0, len(all))
		for i := range all {
			out = append(out, leagueName{all[i].LeagueID, all[i].Name, all[i].Slug})
		}
		return addCursor(wrapList("leagues", out), next), err
	})
}

// leagueName is the public part of a league.
type leagueName struct {
	LeagueID string  `json:"leagueId"`
	Name     string  `json:"name"`
	Slug     *string `json:"slug"`
}

// publicPart returns the public part of a record: the named members.
func publicPart(record any, names ...string) map[string]any {
	raw, _ := json.Marshal(record) // of our own
	var all map[string]any
	_ = json.Unmarshal(raw, &all)
	maps.DeleteFunc(all, func(name string, _ any) bool { return !slices.Contains(names, name) })
	return all
}

// each maps a list through show.
func each[T any](all []T, show func(one T) map[string]any) (out []map[string]any) {
	for _, one := range all {
		out = append(out, show(one))
	}
	return out
}

func (h *handlers) listPublicSeasons(r *httpapi.Request) (httpapi.Response, error) {
	return r.ReadPublic(func(tx *store.Tx) (any, error) {
		l, err := h.Service.LeagueNamed(tx, r.Param("league"))
		if err != nil {
			return nil, err
		}
		all, err := h.Service.Seasons(tx, l.LeagueID)
		out := wrapList("seasons", each(all, func(s threefc.Season) map[string]any {
			return publicPart(s, "seasonId", "name", "slug", "startsOn", "endsOn")
		}))
		out["league"] = publicPart(*l, "leagueId", "name", "slug")
		return out, err
	})
}

func (h *handlers) getPublicGame(r *httpapi.Request) (httpapi.Response, error) {
	return r.ReadPublic(func(tx *store.Tx) (any, error) {
		b, err := h.Service.Board(tx, r.Param("game"))
		if err != nil {
			return nil, err
		}
		out := publicPart(b.Game, "gameId", "leagueId", "seasonId", "status", "gameStartTs", "finishedAt", "result")
		out["timer"], out["teams"] = b.Timer(), each(b.Teams, func(t threefc.GameTeam) map[string]any {
			return publicPart(t, "teamId", "name", "color", "scored", "conceded")
		})
		return out, nil
	})
}

func (h *handlers) getPublicTimeline(r *httpapi.Request) (httpapi.Response, error) {
	return r.ReadPublic(func(tx *store.Tx) (any, error) {
		b, err := h.Service.Board(tx, r.Param("game"))
		if err != nil {
			return nil, err
		}
		all, err := h.Service.Timeline(tx, b)
		return wrapList("timeline", all), err
	})
}

// getStandings returns the table of a season, by the London league's points if the request asks for them.
func (h *handlers) getStandings(r *httpapi.Request) (httpapi.Response, error) {
	blissett := r.Query.OneOf("table", "blissett") == "blissett"
	return r.ReadPublic(func(tx *store.Tx) (any, error) {
		season := r.Param("season")
		if _, err := h.Service.Season(tx, season); err != nil {
			return nil, err
		}
		all, err := h.Service.Standings(tx, season, blissett)
		return map[string]any{"seasonId": season, "standings": all}, err
	})
}

// listLeaders lists the players of a season by their goals, or by their goals per game.
func (h *handlers) listLeaders(r *httpapi.Request) (httpapi.Response, error) {
	perGame := r.Query.OneOf("sort", "goals", "perGame") == "perGame"
	return r.ReadPublic(func(tx *store.Tx) (any, error) {
		season := r.Param("season")
		if _, err := h.Service.Season(tx, season); err != nil {
			return nil, err
		}
		all, err := h.Service.Leaders(tx, season, perGame)
		return map[string]any{"seasonId": season, "players": all}, err
	})
}

// topicGame is the prefix of a game's topic.
const topicGame = "game/"

func (h *handlers) streamGame(r *httpapi.Request) (httpapi.Response, error) {
	return r.Stream("game", topicGame+r.Param("game"))
}

// streamPublicGame serves the same stream without sign-in, because its frames hold only public data.
func (h *handlers) streamPublicGame(r *httpapi.Request) (httpapi.Response, error) {
	err := r.View(func(tx *store.Tx) error {
		_, err := h.Service.Board(tx, r.Param("game"))
		return err
	})
	if err != nil {
		return httpapi.Response{}, err
	}
	return h.streamGame(r)
}

// goalFrame announces a changed goal; Deleted is set if it was removed.
type goalFrame struct {
	GameID      string `json:"gameId"`
	EventID     string `json:"eventId"`
	Third       int    `json:"third"`
	DisplayTime string `json:"displayTime"`
	Deleted     bool   `json:"deleted,omitempty"`
}

// snapshot tells a new reader to fetch the game, so that nothing from before the stream is missed.
func snapshot(_ context.Context, topic string) ([]sse.Frame, error) {
	game, ok := strings.CutPrefix(topic, topicGame)
	if !ok {
		return nil, nil
	}
	raw, _ := json.Marshal(map[string]string{"gameId": game}) // of our own
	return []sse.Frame{sse.NewFrame("game", 0, raw)}, nil
}

// topicOf turns a journal record into an event of its game's streams: a goal, the clock, or another change to the game. Readers fetch
// what they show; events contain no names.
func (h *handlers) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	game, isGame := strings.CutPrefix(r.Key["pk"].Str(), "GAME#")
	if r.Table != h.Service.Table || !isGame {
		return ch, false, nil
	}
	name, body, err := frameOf(game, r)
	if err != nil || name == "" {
		return ch, false, err
	}
	raw, _ := json.Marshal(body) // of our own
	frame := sse.NewFrame(name, r.Seq, raw)
	return sse.Change{Topic: topicGame + game, Frame: frame, All: func() sse.Frame { return frame }}, true, nil
}

func frameOf(game string, r *store.Record) (name string, body any, err error) {
	kind, _, _ := strings.Cut(r.Key["sk"].Str(), "#")
	switch {
	case kind == "GOAL":
		f := goalFrame{Deleted: r.New == nil}
		err = dataOf(&f, r.New, r.Old)
		f.GameID = game
		return "goal", f, err
	case kind == "METADATA" && r.New != nil:
		var now, was threefc.Game
		err = errors.Join(dataOf(&now, r.New), dataOf(&was, r.Old))
		if len(now.Thirds) > 0 && !reflect.DeepEqual(now.Thirds, was.Thirds) {
			return "clock", map[string]any{"gameId": game, "timer": now.Timer()}, err // the clock runs from startedAt of the active third
		}
		return "game", map[string]string{"gameId": game, "status": now.Status}, err
	case slices.Contains([]string{"METADATA", "ROSTER", "TEAM", "PLAYER"}, kind):
		return "game", map[string]string{"gameId": game}, nil
	}
	return "", nil, nil
}

// dataOf decodes the data of the first row that exists.
func dataOf(to any, rows ...attr.Item) error {
	for _, it := range rows {
		if it != nil {
			return json.Unmarshal([]byte(it["data"].Str()), to)
		}
	}
	return nil
}
