// Package scorekeeper is the word puzzle's face to HTTP: its routes, errors in their shape, a stream, and its pages.
package scorekeeper

import (
	"context"
	_ "embed" // the OpenAPI document
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

//go:embed openapi.yaml
var document []byte

// Config is what the routes work with.
type Config struct {
	Service *scorekeeper.Service
	Mount   string
	// Ensure has rows here that another node may have written; nil: the node has no cloud.
	Ensure func(ctx context.Context, table string, keys ...attr.Item) error
}

type api struct {
	Config
	mount string // without a slash at its end
	look  *page.Renderer
}

// New makes the application's part of a server.
func New(c Config) (httpapi.App, error) {
	a := &api{Config: c, mount: strings.TrimSuffix(c.Mount, "/")}
	guess, err := httpapi.Limited(guessesPerMinute, ofUser(a.postGuess))
	if err != nil {
		return httpapi.App{}, err
	}
	a.look, err = page.Mounted(a.mount, files)
	return httpapi.App{
		Routes: a.routes(guess), OpenAPI: document, Problem: problem, Topics: a.topicOf, SignIn: httpapi.SignIn{Anonymous: "wordle_session"},
		Pages: a.pageRoutes(), Offline: true, Look: a.look, Nav: a.nav, Scenes: a.scenes,
	}, err
}

// guessesPerMinute is how often a player, or an address with guests, may guess.
const guessesPerMinute = 30

func (a *api) routes(guess httpapi.Handler) []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/health", Access: httpapi.Public, Do: getHealth, Quiet: true},
		{Method: "POST", Path: "/session", Access: httpapi.Optional, Do: postSession},
		{Method: "POST", Path: "/guess", Access: httpapi.Guest, Do: guess},
		{Method: "GET", Path: "/game/:date", Access: httpapi.Guest, Do: ofUser(a.getGame)},

		{Method: "GET", Path: "/history", Access: httpapi.User, Do: ofUser(mine(a.Service.History))},
		{Method: "GET", Path: "/profile", Access: httpapi.User, Do: ofUser(mine(a.Service.Profile))},
		{Method: "PUT", Path: "/profile", Access: httpapi.User, Do: ofUser(a.putProfile)},
		{Method: "POST", Path: "/convert-session", Access: httpapi.User, Do: ofUser(a.postConvert)},
		{Method: "GET", Path: "/puzzles", Access: httpapi.User, Do: a.getPuzzles},
		{Method: "GET", Path: "/puzzles/:date", Access: httpapi.User, Do: a.getPuzzle},
		{Method: "PUT", Path: "/puzzles", Access: httpapi.User, Do: ofAdmin(a.putPuzzle)},
		{Method: "POST", Path: "/puzzles/cache/clear", Access: httpapi.User, Do: ofAdmin(a.postCacheClear)},

		{Method: "GET", Path: "/team", Access: httpapi.User, Do: ofUser(a.getTeam)},
		{Method: "POST", Path: "/team", Access: httpapi.User, Do: ofUser(a.postTeam)},
		{Method: "DELETE", Path: "/team", Access: httpapi.User, Do: ofUser(a.deleteTeam)},
		{Method: "PUT", Path: "/team/teammate", Access: httpapi.User, Do: ofUser(a.putTeammate)},
		{Method: "DELETE", Path: "/team/teammate", Access: httpapi.User, Do: ofUser(a.deleteTeammate)},
		{Method: "GET", Path: "/score", Access: httpapi.User, Do: ofUser(a.getScore)},
		{Method: "GET", Path: "/scoreboard", Access: httpapi.User, Do: ofUser(a.getScoreboard)},
		{Method: "GET", Path: "/stream", Access: httpapi.User, Do: func(c *gin.Context) error { return httpapi.Stream(c, "board", topicBoard) }, Stream: true},
	}
}

func getHealth(c *gin.Context) error {
	c.String(http.StatusOK, "OK")
	return nil
}

// ofUser hands a route whose rows it is about: a user's, or a guest's where the route is for guests too.
func ofUser(do func(c *gin.Context, user string) error) httpapi.Handler {
	return func(c *gin.Context) error {
		user, err := httpapi.Subject(c)
		if err != nil {
			return err
		}
		return do(c, user)
	}
}

// mine answers with what is read of the caller's.
func mine[T any](read func(tx *store.Tx, user string) (T, error)) func(c *gin.Context, user string) error {
	return func(c *gin.Context, user string) error {
		return httpapi.AnswerView(c, func(tx *store.Tx) (T, error) { return read(tx, user) })
	}
}

// postSession gives a browser the cookie of a guest, if it has none.
func postSession(c *gin.Context) error {
	if _, err := httpapi.GuestID(c); err != nil {
		return err
	}
	return httpapi.NoContent(c)
}

func ofAdmin(do httpapi.Handler) httpapi.Handler {
	return func(c *gin.Context) error {
		if who, _ := httpapi.Identity(c); !who.Admin {
			return fault.New(fault.Forbidden, "forbidden", "Only game administrators can set puzzle answers")
		}
		return do(c)
	}
}

// codes are the original's, by status.
var codes = map[int]string{
	http.StatusBadRequest: "BAD_REQUEST", http.StatusUnauthorized: "UNAUTHORIZED", http.StatusForbidden: "FORBIDDEN",
	http.StatusNotFound: "NOT_FOUND", http.StatusConflict: "CONFLICT", http.StatusUnprocessableEntity: "VALIDATION_ERROR",
	http.StatusTooManyRequests: "RATE_LIMITED", http.StatusServiceUnavailable: "UNAVAILABLE",
	http.StatusMethodNotAllowed: "METHOD_NOT_ALLOWED", http.StatusRequestEntityTooLarge: "TOO_LARGE",
}

type errorBody struct {
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Details []bind.Detail `json:"details,omitempty"`
}

// problem is the shape of the original's errors. A body or a parameter of another type than it should be is its 422.
func problem(f *httpapi.Failure) any {
	if f.Code == "validation" {
		f.Status = http.StatusUnprocessableEntity
	}
	code, ok := codes[f.Status]
	if !ok {
		code = "INTERNAL_ERROR"
	}
	return map[string]errorBody{"error": {code, f.Message, f.Details}}
}

// topicBoard is the topic of all boards. What is sent says which day has changed: who reads it asks for the board of their team.
const topicBoard = "board"

// topicOf is what a record means to streams. No frame has a letter of a guess.
func (a *api) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	if r.Table != a.Service.Table || r.New == nil || !strings.HasPrefix(r.Key["sk"].Str(), "GAME") {
		return ch, false, nil
	}
	frame := sse.NewFrame("board", r.Seq, []byte(`{"puzzle_date_iso_day":"`+r.New["puzzle_date"].Str()+`"}`))
	frame.Slot = "board " + r.New["puzzle_date"].Str()
	return sse.Change{Topic: topicBoard, Frame: frame, All: func() sse.Frame { return frame }}, true, nil
}
