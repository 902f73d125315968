// Package web serves the prediction league over HTTP: API routes, error format, event stream and pages.
package web

import (
	"cmp"
	"context"
	_ "embed" // the OpenAPI document
	"encoding/json"
	"net/url"
	"strings"

	"github.com/touchline/touchline/edge/pickem"
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
		Offline: true, Look: a.look, Nav: a.nav, Scenes: a.scenes, Games: a.gamesInCloud(),
	}, err
}

// gamesInCloud says which rows belong to an event, for the node's list of those that are not all in the cloud.
func (a *api) gamesInCloud() *operator.Games {
	return &operator.Games{
		Of: func(table string, key attr.Item) string {
			if table != a.Service.Table {
				return ""
			}
			event, _ := pickem.Concerns(key)
			return event
		},
		Name: func(tx *store.Tx, id string) (name, href string, err error) {
			card, err := a.Service.Event(tx, id, "")
			return card.Name + ", " + card.Date, a.look.At("/events/" + url.PathEscape(id)), err
		},
	}
}

type (
	call = httpapi.Call
	work = httpapi.Work
)

// user returns a route for invited users. It first fetches what another node may have written about the user and the event in the path.
func (a *api) user(method, path string, do func(c *call) (work, error)) httpapi.Route {
	return a.Ensure.Route(a.Service.Table, method, path, httpapi.User, func(c *call) (work, error) {
		user, err := httpapi.Subject(c.Context)
		if err == nil {
			err = a.Ensure.Keys(c.Context, a.Service.Table, pickem.Needs(user, c.Param("id"))...)
		}
		if err == nil {
			err = httpapi.View(c.Context, func(tx *store.Tx) error { return a.Service.CheckInvited(tx, user) })
		}
		if err != nil {
			return nil, err
		}
		return do(c)
	})
}

func (a *api) admin(method, path string, do func(c *call) (work, error)) httpapi.Route {
	return a.Ensure.Route(a.Service.Table, method, path, httpapi.Admin, do)
}

// deletes returns a route that deletes the user or event in its path. It first fetches their rows that another node may have written.
func (a *api) deletes(path string, rows func(tx *store.Tx, id string) ([]attr.Item, error), do func(tx *store.Tx, id string) error) httpapi.Route {
	return a.admin("DELETE", path, func(c *call) (work, error) {
		c.Needs = func(tx *store.Tx) ([]attr.Item, error) { return rows(tx, c.Param("id")) }
		return func(tx *store.Tx) (any, error) { return nil, do(tx, c.Param("id")) }, nil
	})
}

// plain returns a route without input besides its path.
func plain(do func(tx *store.Tx, c *call) (any, error)) func(c *call) (work, error) {
	return shows("", "", do)
}

// shows returns a page with the template kind + "-page".
func shows(kind, title string, read func(tx *store.Tx, c *call) (any, error)) func(c *call) (work, error) {
	return func(c *call) (work, error) {
		c.Kind, c.Title = kind, title
		return func(tx *store.Tx) (any, error) { return read(tx, c) }, nil
	}
}

// profile reads the profile of the user in the path or, if there is none, of the caller.
func (a *api) profile(tx *store.Tx, c *call) (any, error) {
	return a.Service.Profile(tx, cmp.Or(c.Param("user"), c.User), c.User)
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
