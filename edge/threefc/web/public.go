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

func (a *api) publicRoutes() []route {
	s := a.Service
	return []route{
		{"GET", "/v1/public/leagues", public, a.publicLeagues},
		{"GET", "/v1/public/leagues/:league/seasons", public, reads(a.publicSeasons)},
		{"GET", "/v1/public/games/:game", public, reads(ofBoard(publicGameOf))},
		{"GET", "/v1/public/games/:game/timeline", public, reads(func(tx *store.Tx, r *request) (any, error) {
			b, err := s.Board(tx, r.of.ID)
			if err != nil {
				return nil, err
			}
			all, err := s.Timeline(tx, b)
			return wrapList("timeline", all), err
		})},
		{"GET", "/v1/public/games/:game/stream", public, a.streamPublic},
		{"GET", "/v1/public/seasons/:season/standings", public, ofSeason("standings", "table", "blissett", s.Standings)},
		{"GET", "/v1/public/seasons/:season/leaderboards/players", public, ofSeason("players", "sort", "perGame", s.Leaders, "goals")},
	}
}

// publicLeagues lists a page of all leagues.
func (a *api) publicLeagues(r *request) (work, error) {
	page := r.listPage(wholeList)
	return func(tx *store.Tx) (any, error) {
		all, next, err := a.Service.PublicLeagues(tx, page)
		out := make([]leagueName, 0, len(all))
		for i := range all {
			out = append(out, leagueName{all[i].LeagueID, all[i].Name, all[i].Slug})
		}
		return addCursor(wrapList("leagues", out), next), err
	}, nil
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

func publicLeague(l threefc.League) map[string]any { return publicPart(l, "leagueId", "name", "slug") }

func (a *api) publicSeasons(tx *store.Tx, r *request) (any, error) {
	l, err := a.Service.LeagueNamed(tx, r.of.ID)
	if err != nil {
		return nil, err
	}
	all, err := a.Service.Seasons(tx, l.LeagueID)
	out := wrapList("seasons", each(all, func(s threefc.Season) map[string]any {
		return publicPart(s, "seasonId", "name", "slug", "startsOn", "endsOn")
	}))
	out["league"] = publicLeague(*l)
	return out, err
}

func publicGameOf(b *threefc.Board) any {
	out := publicPart(b.Game, "gameId", "leagueId", "seasonId", "status", "gameStartTs", "finishedAt", "result")
	out["timer"], out["teams"] = b.Timer(), each(b.Teams, func(t threefc.GameTeam) map[string]any {
		return publicPart(t, "teamId", "name", "color", "scored", "conceded")
	})
	return out
}

// ofSeason answers with a table of a season, under name. If the query parameter has the given value, it uses the table's other order.
func ofSeason[T any](name, parameter, value string, read func(tx *store.Tx, season string, other bool) ([]T, error), usual ...string) func(r *request) (work, error) {
	return func(r *request) (work, error) {
		other := r.Query.OneOf(parameter, append(usual, value)...) == value
		return func(tx *store.Tx) (any, error) {
			if _, err := r.api.Service.Season(tx, r.of.ID); err != nil {
				return nil, err
			}
			all, err := read(tx, r.of.ID, other)
			return map[string]any{"seasonId": r.of.ID, name: all}, err
		}, nil
	}
}

// topicGame is the prefix of a game's topic.
const topicGame = "game/"

func streamGame(r *request) (work, error) {
	return nil, httpapi.Stream(r.Context, "game", topicGame+r.of.ID)
}

// streamPublic serves the same stream without sign-in, because its frames hold only public data.
func (a *api) streamPublic(r *request) (work, error) {
	if _, err := httpapi.Read(r.Context, func(tx *store.Tx) (any, error) { return a.game(tx, r.of.ID) }); err != nil {
		return nil, err
	}
	return streamGame(r)
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
func (a *api) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	game, isGame := strings.CutPrefix(r.Key["pk"].Str(), "GAME#")
	if r.Table != a.Service.Table || !isGame {
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
