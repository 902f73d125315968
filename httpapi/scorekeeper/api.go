// Package scorekeeper serves the word puzzle over HTTP: API routes, error format, event stream and pages.
package scorekeeper

import (
	"cmp"
	"context"
	_ "embed" // the OpenAPI document
	"encoding/json"
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

// Config is what New needs.
type Config struct {
	Service *scorekeeper.Service
	Mount   string
	Ensure  httpapi.Ensure
}

type api struct {
	Config
	mount   string // without a trailing slash
	look    *page.Renderer
	guesses httpapi.Handler // limits the rate of guesses
}

// New returns the application's part of a server.
func New(c Config) (httpapi.App, error) {
	a := &api{Config: c, mount: strings.TrimSuffix(c.Mount, "/"), guesses: httpapi.Limit(guessesPerMinute)}
	var err error
	a.look, err = page.New(a.mount+"/-", files, nil)
	return httpapi.App{
		About:  "A daily word puzzle, alone or in teams",
		Routes: a.routes(), OpenAPI: document, Problem: problem, Topics: a.topicOf, Snapshot: snapshot, SignIn: httpapi.SignIn{Anonymous: "wordle_session"},
		Pages: a.pageRoutes(), Offline: true, Look: a.look, Nav: a.nav, Scenes: a.scenes,
	}, err
}

// guessesPerMinute limits the guesses of a player; guests share the limit of their address.
const guessesPerMinute = 30

func (a *api) routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/health", Access: httpapi.Public, Do: getHealth, Quiet: true},
		{Method: "POST", Path: "/session", Access: httpapi.Optional, Do: postSession},
		{Method: "POST", Path: "/guess", Access: httpapi.Guest, Do: a.ofUser(a.postGuess)},
		{Method: "GET", Path: "/game/:date", Access: httpapi.Guest, Do: a.getGame},

		a.route("GET", "/history", a.getHistory),
		a.route("GET", "/profile", a.getProfile),
		a.route("PUT", "/profile", a.putProfile),
		a.route("POST", "/convert-session", a.postConvert),
		{Method: "GET", Path: "/puzzles", Access: httpapi.User, Do: a.serve(a.getPuzzles)},
		{Method: "GET", Path: "/puzzles/:date", Access: httpapi.User, Do: a.serve(a.getPuzzle)},
		{Method: "PUT", Path: "/puzzles", Access: httpapi.User, Do: ofAdmin(a.serve(a.putPuzzle))},
		{Method: "POST", Path: "/puzzles/cache/clear", Access: httpapi.User, Do: ofAdmin(a.serve(a.postCacheClear))},

		a.route("GET", "/team", a.getTeam),
		a.route("POST", "/team", a.postTeam),
		a.route("DELETE", "/team", a.deleteTeam),
		a.route("PUT", "/team/teammate", a.putTeammate),
		a.route("DELETE", "/team/teammate", a.deleteTeammate),
		a.route("GET", "/score", a.getScore),
		a.route("GET", "/scoreboard", a.getScoreboard),
		{Method: "GET", Path: "/stream", Access: httpapi.User, Do: a.getStream, Stream: true},
	}
}

// request is a request being served. A route reads its input from it, and returns the work to do if the input is valid.
type request struct {
	*gin.Context

	user   string     // the player whose rows the request is about; may be empty
	body   *bind.Body // empty for a GET
	query  *bind.Query
	wrong  error                                   // an error found besides those of body and query
	needs  func(tx *store.Tx) ([]attr.Item, error) // rows that another node may have written; nil if there are none
	status int                                     // of the response
	kind   string                                  // kind of the page to answer with; empty for JSON
	title  string                                  // of the page
}

type work func(tx *store.Tx) (any, error)

// route returns a route about the rows of the user who calls it.
func (a *api) route(method, path string, do func(r *request) work) httpapi.Route {
	return httpapi.Route{Method: method, Path: path, Access: httpapi.User, Do: a.ofUser(do)}
}

// ofUser returns the handler of a route about the caller's rows. The caller is a user or, if the route's Access permits, a guest.
func (a *api) ofUser(do func(r *request) work) httpapi.Handler {
	return func(c *gin.Context) error {
		user, err := player(c)
		if err != nil {
			return err
		}
		return a.answer(c, user, do)
	}
}

// serve returns the handler of a route that is not about the caller's rows.
func (a *api) serve(do func(r *request) work) httpapi.Handler {
	return func(c *gin.Context) error { return a.answer(c, "", do) }
}

// answer serves a request: it reads the input, fetches rows that another node may have written, does the work and writes the response.
func (a *api) answer(c *gin.Context, user string, do func(r *request) work) error {
	reads := c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead
	r := &request{Context: c, user: user, query: bind.Parameters(c.Request), body: bind.ParseBody(nil, false), status: http.StatusOK}
	if !reads {
		r.body = httpapi.Body(c)
	}
	todo := do(r)
	err := cmp.Or(r.query.Err(), r.body.Err(), r.wrong)
	if err == nil && r.needs != nil {
		err = a.Ensure.Needs(c, a.Service.Table, r.needs)
	}
	switch {
	case err != nil:
		return err
	case r.kind != "":
		return httpapi.OwnView(c, r.kind, r.title, todo)
	case reads:
		return httpapi.AnswerView(c, todo)
	}
	out, err := httpapi.Change(c, todo)
	return httpapi.Answer(c, r.status, out, err)
}

// need reads a required, non-empty string field of the body.
func need(b *bind.Body, name string) string {
	return bind.Need(b, name, func(name string) string { return b.Text(name, maxText) })
}

// given reads a required string field of the body. It may be empty or far too long: the rules refuse it then, with their own message.
func given(b *bind.Body, name string) string {
	if v := bind.Need(b, name, func(name string) *string { return b.Change(name, longText) }); v != nil {
		return *v
	}
	return ""
}

func ofAdmin(do httpapi.Handler) httpapi.Handler {
	return func(c *gin.Context) error {
		if who, _ := httpapi.Identity(c); !who.Admin {
			return fault.New(fault.Forbidden, "forbidden", "Only game administrators can set puzzle answers")
		}
		return do(c)
	}
}

func getHealth(c *gin.Context) error {
	c.String(http.StatusOK, "OK")
	return nil
}

// player returns the ID of the player who makes a request.
func player(c *gin.Context) (user string, err error) {
	user, err = httpapi.Subject(c)
	if err == nil && !scorekeeper.IsUser(user) {
		err = fault.New(fault.Forbidden, "forbidden", "This account cannot play: its ID contains a #")
	}
	return user, err
}

// postSession sets a guest's cookie in a browser that has none.
func postSession(c *gin.Context) error {
	if _, err := httpapi.GuestID(c); err != nil {
		return err
	}
	return httpapi.NoContent(c)
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
func (a *api) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	subject, boards, ok := scorekeeper.BoardsOf(r)
	if r.Table != a.Service.Table || !ok {
		return ch, false, nil
	}
	data, err := json.Marshal(boards)
	frame := sse.NewFrame("board", r.Seq, data)
	frame.Slot, frame.Of = string(data), subject
	return sse.Change{Topic: topicBoard, Frame: frame}, true, err
}

func (a *api) getStream(c *gin.Context) error {
	user, err := player(c)
	if err != nil {
		return err
	}
	return httpapi.StreamOf(c, "board", topicBoard, func(tx *store.Tx) ([]string, error) { return a.Service.Concerns(tx, user) })
}
