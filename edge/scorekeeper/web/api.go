// Package web serves the word puzzle over HTTP: API routes, error format, event stream and pages.
package web

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
		Routes: a.routes(), OpenAPI: document, Problem: problem, Topics: a.topicOf, Snapshot: snapshot, SignIn: httpapi.SignIn{Anonymous: "wordle_session", Retired: c.Service.IsConverted},
		Pages: a.pageRoutes(), Offline: true, Look: a.look, Nav: a.nav, Scenes: a.scenes, Games: a.gamesInCloud(),
	}, err
}

// gamesInCloud says which rows belong to a day's puzzle, for the node's list of those that are not all in the cloud.
func (a *api) gamesInCloud() *operator.Games {
	return &operator.Games{
		Of: func(table string, key attr.Item) string {
			if table != a.Service.Table {
				return ""
			}
			return scorekeeper.DayOf(key)
		},
		Name: func(_ *store.Tx, day string) (name, href string, err error) {
			return "the puzzle of " + day, a.look.At("/days/" + day), nil
		},
	}
}

// guessesPerMinute limits the guesses of a player; guests share the limit of their address.
const guessesPerMinute = 30

func (a *api) routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/health", Access: httpapi.Public, Do: getHealth, Quiet: true},
		{Method: "POST", Path: "/session", Access: httpapi.Optional, Do: postSession},
		refuseHandIn(a.newRoute("POST", "/guess", httpapi.Guest, ofPlayer(a.postGuess))),
		a.newRoute("GET", "/game/:date", httpapi.Guest, ofPlayer(a.getGame)),

		a.route("GET", "/history", a.getHistory),
		a.route("GET", "/profile", a.getProfile),
		a.route("PUT", "/profile", a.putProfile),
		a.route("POST", "/convert-session", a.postConvert),
		a.newRoute("GET", "/puzzles", httpapi.User, a.getPuzzles),
		a.newRoute("GET", "/puzzles/:date", httpapi.User, a.getPuzzle),
		a.newRoute("PUT", "/puzzles", httpapi.User, ofAdmin(a.putPuzzle)),
		a.newRoute("POST", "/puzzles/cache/clear", httpapi.User, ofAdmin(a.postCacheClear)),

		a.route("GET", "/team", a.getTeam),
		a.route("POST", "/team", a.postTeam),
		a.route("DELETE", "/team", a.deleteTeam),
		a.route("POST", "/team/accept", a.postAccept),
		a.route("PUT", "/team/teammate", a.putTeammate),
		a.route("DELETE", "/team/teammate", a.deleteTeammate),
		a.route("GET", "/score", a.getScore),
		a.route("GET", "/scoreboard", a.getScoreboard),
		a.route("GET", "/stream", a.getStream),
	}
}

// refuseHandIn refuses to take guesses from a file: they count as they arrive.
func refuseHandIn(r httpapi.Route) httpapi.Route {
	r.NotHandedIn = "Guesses cannot be handed in: they count as they arrive, and only from who made them."
	return r
}

type (
	call = httpapi.Call
	work = httpapi.Work
)

// route returns a route about the rows of the user who calls it.
func (a *api) route(method, path string, do func(r *call) (work, error)) httpapi.Route {
	return a.newRoute(method, path, httpapi.User, ofPlayer(do))
}

func (a *api) newRoute(method, path string, access httpapi.Access, do func(r *call) (work, error)) httpapi.Route {
	return a.Ensure.Route(a.Service.Table, method, path, access, do)
}

// ofPlayer admits callers who can play: users and, if the route's Access permits, guests.
func ofPlayer(do func(r *call) (work, error)) func(r *call) (work, error) {
	return func(r *call) (work, error) {
		_, err := httpapi.Subject(r.Context)
		if err == nil && !scorekeeper.IsUser(r.User) {
			err = fault.New(fault.Forbidden, "forbidden", "This account cannot play: its ID contains a #")
		}
		if err != nil {
			return nil, err
		}
		return do(r)
	}
}

func ofAdmin(do func(r *call) (work, error)) func(r *call) (work, error) {
	return func(r *call) (work, error) {
		if who, _ := httpapi.Identity(r.Context); !who.Admin {
			return nil, fault.New(fault.Forbidden, "forbidden", "Only game administrators can set puzzle answers")
		}
		return do(r)
	}
}

// need reads a required, non-empty string field of the body.
func need(b *bind.Body, name string) string {
	return bind.Need(b, name, func(name string) string { return b.Text(name, maxText) })
}

// requiredText reads a required string field of the body. It may be empty or far too long: the rules refuse it then, with their own message.
func requiredText(b *bind.Body, name string) string {
	if v := bind.Need(b, name, func(name string) *string { return b.Change(name, longText) }); v != nil {
		return *v
	}
	return ""
}

func getHealth(c *gin.Context) error {
	c.String(http.StatusOK, "OK")
	return nil
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

func (a *api) getStream(r *call) (work, error) {
	return nil, httpapi.StreamOf(r.Context, "board", topicBoard, func(tx *store.Tx) ([]string, error) { return a.Service.Concerns(tx, r.User) })
}
