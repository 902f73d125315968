// Package pickem is the league's face to HTTP: its routes, errors in their shape, a stream, and its pages.
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

// Config is what the routes work with.
type Config struct {
	Service *pickem.Service
	Mount   string
	Ensure  httpapi.Ensure
}

type api struct {
	Config
	mount string // without a slash at its end
	look  *page.Renderer
}

// New makes the application's part of a server.
func New(c Config) (httpapi.App, error) {
	a := &api{Config: c, mount: strings.TrimSuffix(c.Mount, "/")}
	var err error
	a.look, err = page.New(a.mount+"/-", files, nil)
	return httpapi.App{
		About:  "A league of predictions that lock on time",
		Routes: a.routes(), Pages: a.pageRoutes(), OpenAPI: document, Problem: problem, Topics: a.topicOf, Snapshot: snapshot,
		Offline: true, Look: a.look, Nav: a.nav, Scenes: a.scenes,
	}, err
}

// call is a request with who asks: on routes for users somebody who was invited, on those of admins nobody.
type call struct {
	*gin.Context
	user string
	body *bind.Body // of a change
}

// id is the event that the path names, on routes of admins the event or the user.
func (c *call) id() string { return c.Param("id") }

// profile is the user whom the path names, or who asks.
func (a *api) profile(tx *store.Tx, c *call) (any, error) {
	return a.Service.Profile(tx, cmp.Or(c.Param("user"), c.user), c.user)
}

// user is a route for those who were invited; what another node may have written of them and of an event is here before it is asked.
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

// work is what an answer, or a page, is made of, and what a change does.
type work func(tx *store.Tx, c *call) (any, error)

func (w work) of(c *call) func(tx *store.Tx) (any, error) {
	return func(tx *store.Tx) (any, error) { return w(tx, c) }
}

// answers is a route that answers with what it reads.
func answers(do work) func(c *call) error {
	return func(c *call) error { return httpapi.AnswerView(c.Context, do.of(c)) }
}

// shows is a page of the template kind + "-page".
func shows(kind, title string, do work) func(c *call) error {
	return func(c *call) error { return httpapi.OwnView(c.Context, kind, title, do.of(c)) }
}

// changes is a route that does what its body says. Where something is wrong with that, nothing has happened.
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

// behind does something when rows are here that another node may have written.
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

// problem is the shape of errors.
func problem(f *httpapi.Failure) any { return httpapi.ErrorObject(f.Code, f.Message, f.Details) }

const topicLeague = "league"

// snapshot has who begins to read, or has missed more than can be told, ask for whatever they show.
func snapshot(context.Context, string) ([]sse.Frame, error) {
	all := []byte("{}")
	return []sse.Frame{sse.NewFrame("event", 0, all), sse.NewFrame("standings", 0, all)}, nil
}

// topicOf is what a record means to streams: which event or which year's standings to ask for. Nothing says who has picked what.
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

// offline refuses what needs the cloud while it cannot be reached.
func (a *api) offline(c *call) error {
	if a.Ensure != nil && httpapi.Node(c.Context).Cloud.State == "offline" {
		return fault.New(fault.Unavailable, "offline", "Scoring needs the cloud, which cannot be reached.")
	}
	return nil
}
