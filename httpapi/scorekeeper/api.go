// Package scorekeeper is the word puzzle's face to HTTP: its routes, errors in their shape, a stream, and its pages.
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

// Config is what the routes work with.
type Config struct {
	Service *scorekeeper.Service
	Mount   string
	Ensure  httpapi.Ensure
}

type api struct {
	Config
	mount   string // without a slash at its end
	look    *page.Renderer
	guesses httpapi.Handler // refuses who has guessed too often
}

// New makes the application's part of a server.
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

// guessesPerMinute is how often a player, or an address with guests, may guess.
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

// request is what has come. A route reads what it is asked for, and returns the work that is done when nothing is wrong with that.
type request struct {
	*gin.Context

	user   string     // whose rows it is about; empty: nobody's
	body   *bind.Body // empty of a GET
	query  *bind.Query
	wrong  error                                   // beside what body and query say
	needs  func(tx *store.Tx) ([]attr.Item, error) // rows that another node may have written; nil: none
	status int                                     // of the answer
	kind   string                                  // of the page that is answered; empty: it is JSON
	title  string                                  // of the page
}

type work func(tx *store.Tx) (any, error)

// route is one for users, whose rows it is about.
func (a *api) route(method, path string, do func(r *request) work) httpapi.Route {
	return httpapi.Route{Method: method, Path: path, Access: httpapi.User, Do: a.ofUser(do)}
}

// ofUser serves whose rows a route is about: a user, or a guest where the route is for guests too.
func (a *api) ofUser(do func(r *request) work) httpapi.Handler {
	return func(c *gin.Context) error {
		user, err := player(c)
		if err != nil {
			return err
		}
		return a.answer(c, user, do)
	}
}

// serve serves whoever may use a route.
func (a *api) serve(do func(r *request) work) httpapi.Handler {
	return func(c *gin.Context) error { return a.answer(c, "", do) }
}

// answer reads a request, has the rows here that another node may have written, does the work and answers.
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

// need reads a text of a body that has to be there, with something in it.
func need(b *bind.Body, name string) string {
	return bind.Need(b, name, func(name string) string { return b.Text(name, maxText) })
}

// given reads a text of a body that has to be there. Empty, or far too long, it is one that the rules refuse in their own words.
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

// player is whose rows a request is about.
func player(c *gin.Context) (user string, err error) {
	user, err = httpapi.Subject(c)
	if err == nil && !scorekeeper.IsUser(user) {
		err = fault.New(fault.Forbidden, "forbidden", "This account cannot play: its ID has a # in it")
	}
	return user, err
}

// postSession gives a browser the cookie of a guest, if it has none.
func postSession(c *gin.Context) error {
	if _, err := httpapi.GuestID(c); err != nil {
		return err
	}
	return httpapi.NoContent(c)
}

// codes are the original's, by status, where they are others than the status's own name.
var codes = map[int]string{
	http.StatusUnprocessableEntity: "VALIDATION_ERROR", http.StatusTooManyRequests: "RATE_LIMITED", http.StatusServiceUnavailable: "UNAVAILABLE",
	http.StatusRequestEntityTooLarge: "TOO_LARGE", http.StatusInternalServerError: "INTERNAL_ERROR",
}

// problem is the shape of the original's errors. A body or a parameter of another type than it should be is its 422.
func problem(f *httpapi.Failure) any {
	if f.Code == "validation" {
		f.Status = http.StatusUnprocessableEntity
	}
	own := strings.ToUpper(strings.ReplaceAll(http.StatusText(f.Status), " ", "_"))
	return httpapi.ErrorObject(cmp.Or(codes[f.Status], own), f.Message, f.Details)
}

// topicBoard is the topic of all boards. What is sent says of which day, or of which team, they have changed: who reads it asks for them.
const topicBoard = "board"

// snapshot has who begins to read, or has missed more than can be told, ask for all of their boards.
func snapshot(context.Context, string) ([]sse.Frame, error) {
	return []sse.Frame{sse.NewFrame("board", 0, []byte("{}"))}, nil
}

// topicOf is what a record means to the members of teams. No frame has a letter of a guess.
func (a *api) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	of, what, ok := scorekeeper.BoardsOf(r)
	if r.Table != a.Service.Table || !ok {
		return ch, false, nil
	}
	data, err := json.Marshal(what)
	frame := sse.NewFrame("board", r.Seq, data)
	frame.Slot, frame.Of = string(data), of
	return sse.Change{Topic: topicBoard, Frame: frame}, true, err
}

func (a *api) getStream(c *gin.Context) error {
	user, err := player(c)
	if err != nil {
		return err
	}
	return httpapi.StreamOf(c, "board", topicBoard, func(tx *store.Tx) ([]string, error) { return a.Service.Concerns(tx, user) })
}
