// Package pickem serves the prediction league over HTTP: API routes, error format, event stream and pages.
package pickem

import (
	"cmp"
	"context"
	_ "embed" // the OpenAPI document
	"encoding/json"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/pickem"
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
	Service *pickem.Service
	Mount   string
	Ensure  httpapi.Ensure
}

type api struct {
	Config
	mount string // without a trailing slash
	look  *page.Renderer
}

// New returns the application's part of a server.
func New(c Config) (httpapi.App, error) {
	a := &api{Config: c, mount: strings.TrimSuffix(c.Mount, "/")}
	var err error
	a.look, err = page.New(a.mount+"/-", files, nil)
	return httpapi.App{
		About:  "A prediction league whose picks lock on time",
		Routes: a.routes(), Pages: a.pageRoutes(), OpenAPI: document, Problem: problem, Topics: a.topicOf, Snapshot: snapshot,
		Offline: true, Look: a.look, Nav: a.nav, Scenes: a.scenes,
	}, err
}

// call is a request being served.
type call struct {
	*gin.Context
	user string     // the caller's ID on routes for users; empty on those for admins
	body *bind.Body // set for changes only
}

// id returns the path's parameter id: an event or, on some routes for admins, a user.
func (c *call) id() string { return c.Param("id") }

// profile returns the user in the path or, if there is none, the caller.
func (a *api) profile(tx *store.Tx, c *call) (any, error) {
	return a.Service.Profile(tx, cmp.Or(c.Param("user"), c.user), c.user)
}

// user returns a route for invited users. It first fetches what another node may have written about the user and the event in the path.
func (a *api) user(method, path string, do func(c *call) error) httpapi.Route {
	return httpapi.Route{Method: method, Path: path, Access: httpapi.User, Do: func(g *gin.Context) error {
		user, err := httpapi.Subject(g)
		if err == nil {
			err = a.Ensure.Keys(g, a.Service.Table, pickem.Needs(user, g.Param("id"))...)
		}
		if err == nil {
			err = httpapi.View(g, func(tx *store.Tx) error { return a.Service.Invited(tx, user) })
		}
		if err != nil {
			return err
		}
		return do(&call{Context: g, user: user})
	}}
}

func admin(method, path string, do func(c *call) error) httpapi.Route {
	return httpapi.Route{Method: method, Path: path, Access: httpapi.Admin, Do: func(g *gin.Context) error { return do(&call{Context: g}) }}
}

// work reads what a response or a page shows, or makes a change.
type work func(tx *store.Tx, c *call) (any, error)

func (w work) of(c *call) func(tx *store.Tx) (any, error) {
	return func(tx *store.Tx) (any, error) { return w(tx, c) }
}

// answers returns a handler that responds with what do reads.
func answers(do work) func(c *call) error {
	return func(c *call) error { return httpapi.AnswerView(c.Context, do.of(c)) }
}

// shows returns the handler of a page with the template kind + "-page".
func shows(kind, title string, do work) func(c *call) error {
	return func(c *call) error { return httpapi.OwnView(c.Context, kind, title, do.of(c)) }
}

// changes returns the handler of a route that changes something by its body. If the body is invalid, nothing changes.
func changes(status int, do work) func(c *call) error {
	return func(c *call) error {
		c.body = httpapi.Body(c.Context)
		out, err := httpapi.Change(c.Context, func(tx *store.Tx) (any, error) {
			out, err := do(tx, c)
			return out, cmp.Or(c.body.Err(), err)
		})
		return httpapi.Answer(c.Context, status, out, err)
	}
}

// behind returns a handler that first fetches rows that another node may have written, and then calls do.
func (a *api) behind(rows func(tx *store.Tx, id string) ([]attr.Item, error), do func(c *call) error) func(c *call) error {
	return func(c *call) error {
		err := a.Ensure.Needs(c.Context, a.Service.Table, func(tx *store.Tx) ([]attr.Item, error) { return rows(tx, c.id()) })
		if err != nil {
			return err
		}
		return do(c)
	}
}

func removes(do func(tx *store.Tx, c *call) error) func(c *call) error {
	return func(c *call) error { return httpapi.Remove(c.Context, func(tx *store.Tx) error { return do(tx, c) }) }
}

// problem returns an error in the format of the API.
func problem(f *httpapi.Failure) any { return httpapi.ErrorObject(f.Code, f.Message, f.Details) }

const topicLeague = "league"

// snapshot returns the events that tell a new reader, or one too far behind, to fetch everything it shows.
func snapshot(context.Context, string) ([]sse.Frame, error) {
	all := []byte("{}")
	return []sse.Frame{sse.NewFrame("event", 0, all), sse.NewFrame("standings", 0, all)}, nil
}

// topicOf turns a journal record into an event that names the league event, or the year of the standings, to fetch. It never reveals picks.
func (a *api) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	event, year := pickem.Concerns(r.Key)
	kind, about := "event", map[string]string{"id": event}
	if event == "" {
		kind, about = "standings", map[string]string{"year": year}
	}
	if r.Table != a.Service.Table || year == "" || kind == "event" && strings.HasPrefix(r.Key["PK"].Str(), "USER#") {
		return ch, false, nil
	}
	body, err := json.Marshal(about)
	frame := sse.NewFrame(kind, r.Seq, body)
	frame.Slot = kind + " " + string(body)
	return sse.Change{Topic: topicLeague, Frame: frame, All: func() sse.Frame { return frame }}, true, err
}

// offline returns an error if the cloud, which scoring needs, cannot be reached.
func (a *api) offline(c *call) error {
	if a.Ensure != nil && httpapi.Node(c.Context).Cloud.State == "offline" {
		return fault.New(fault.Unavailable, "offline", "Scoring needs the cloud, which cannot be reached right now. Try again later.")
	}
	return nil
}
