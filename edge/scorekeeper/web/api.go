// Package web serves the word puzzle over HTTP: API routes, error format, event stream and pages.
package web

import (
	"cmp"
	"context"
	_ "embed" // the OpenAPI document
	"encoding/json"
	"net/http"
	"strings"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

//go:embed openapi.yaml
var document []byte

// Config is what New needs.
type Config struct {
	Service *scorekeeper.Service
	Mount   string
	Ensure  httpapi.Ensure // fetches rows that another node may have written; nil: the node has no cloud
}

// handlers has a method for each route: that of an API route has the name of its operation in openapi.yaml.
type handlers struct {
	puzzle  *scorekeeper.Service
	cloud   bool
	look    *page.Renderer
	guesses httpapi.Handler // limits the rate of guesses
}

// New returns the application's part of a server.
func New(c Config) (httpapi.App, error) {
	look, err := page.New(strings.TrimSuffix(c.Mount, "/")+"/-", files, nil)
	h := &handlers{puzzle: c.Service, cloud: c.Ensure != nil, look: look, guesses: httpapi.Limit(guessesPerMinute)}
	return httpapi.App{
		About:  "A daily word puzzle, alone or in teams",
		Routes: h.routes(), Pages: h.pageRoutes(), OpenAPI: document, Problem: problem, Topics: h.topicOf, Snapshot: snapshot,
		SignIn: httpapi.SignIn{Anonymous: "wordle_session", Retired: c.Service.IsConverted},
		Admit:  h.admit, Table: c.Service.Table, Rows: c.Ensure,
		Offline: true, Look: look, Nav: h.navLinks, Scenes: h.scenes, Games: h.gamesInCloud(),
	}, err
}

// gamesInCloud says which rows belong to a day's puzzle, for the node's list of those that are not all in the cloud.
func (h *handlers) gamesInCloud() *operator.Games {
	return &operator.Games{
		Of: func(table string, key attr.Item) string {
			if table != h.puzzle.Table {
				return ""
			}
			return scorekeeper.DayOf(key)
		},
		Name: func(_ *store.Tx, day string) (name, href string, err error) {
			return "the puzzle of " + day, h.look.At("/days/" + day), nil
		},
	}
}

// What a route asks of the caller beyond its Access.
const (
	player    = "player"     // somebody who can have games: a user or, if the route's Access permits, a guest
	visitor   = "visitor"    // a player, or somebody without any id
	gameAdmin = "game admin" // sets the words
)

// admit refuses callers who have not the role of the route.
func (h *handlers) admit(r *httpapi.Request) error {
	switch r.Route.Role {
	case player:
		return checkPlayer(r)
	case visitor:
		if r.User != "" {
			return checkPlayer(r)
		}
	case gameAdmin:
		if !r.Identity().Admin {
			return fault.New(fault.Forbidden, "forbidden", "Only game administrators can set puzzle answers")
		}
	}
	return nil
}

func checkPlayer(r *httpapi.Request) error {
	user, err := r.Caller()
	if err == nil && !scorekeeper.IsUser(user) {
		err = fault.New(fault.Forbidden, "forbidden", "This account cannot play: its ID contains a #")
	}
	return err
}

// codes are the error codes of the original by status, where they differ from the name of the status.
var codes = map[int]string{
	http.StatusUnprocessableEntity: "VALIDATION_ERROR", http.StatusTooManyRequests: "RATE_LIMITED", http.StatusServiceUnavailable: "UNAVAILABLE",
	http.StatusRequestEntityTooLarge: "TOO_LARGE", http.StatusInternalServerError: "INTERNAL_ERROR",
}

// problem returns an error in the original's format. A field or parameter of the wrong type is a 422, as there.
func problem(f *httpapi.Failure) any {
	if f.Code == "validation" {
		f.Status = http.StatusUnprocessableEntity
	}
	own := strings.ToUpper(strings.ReplaceAll(http.StatusText(f.Status), " ", "_"))
	return httpapi.ErrorObject(cmp.Or(codes[f.Status], own), f.Message, f.Details)
}

// topicBoard is the topic of all boards. An event names the day or the team whose boards have changed; the reader then fetches them.
const topicBoard = "board"

// snapshot returns the event that tells a new reader, or one too far behind, to fetch all of its boards.
func snapshot(context.Context, string) ([]sse.Frame, error) {
	return []sse.Frame{sse.NewFrame("board", 0, []byte("{}"))}, nil
}

// topicOf turns a journal record into a board event. Events never contain letters of a guess.
func (h *handlers) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	subject, boards, ok := scorekeeper.BoardsOf(r)
	if r.Table != h.puzzle.Table || !ok {
		return ch, false, nil
	}
	data, err := json.Marshal(boards)
	frame := sse.NewFrame("board", r.Seq, data)
	frame.Slot, frame.Of = string(data), subject
	return sse.Change{Topic: topicBoard, Frame: frame}, true, err
}

// streamBoards tells of which days and teams the boards have changed that the player may see.
func (h *handlers) streamBoards(r *httpapi.Request) (httpapi.Response, error) {
	return r.StreamOf("board", topicBoard, func(tx *store.Tx) ([]string, error) { return h.puzzle.Concerns(tx, r.User) })
}
