// Package pickem is the league's face to HTTP: its routes, errors in their shape, a stream, and its pages.
package pickem

import (
	"context"
	_ "embed" // the OpenAPI document
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
	var err error
	if a.look, err = page.Mounted(a.mount, files); err != nil {
		return httpapi.App{}, err
	}
	return httpapi.App{
		About:  "A league of predictions that lock on time",
		Routes: append(a.userRoutes(), a.adminRoutes()...), Pages: a.pageRoutes(), OpenAPI: document, Problem: problem, Topics: a.topicOf,
		Offline: true, Look: a.look, Nav: a.nav, Scenes: a.scenes,
	}, nil
}

func (a *api) userRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/app/events", Access: httpapi.User, Do: a.invited(a.getEvents)},
		{Method: "GET", Path: "/app/events/:id", Access: httpapi.User, Do: a.invited(a.getEvent)},
		{Method: "PUT", Path: "/app/events/:id/predictions", Access: httpapi.User, Do: a.invited(a.putPredictions)},
		{Method: "GET", Path: "/app/events/:id/predictions.csv", Access: httpapi.User, Do: a.invited(a.getEventCSV)},
		{Method: "GET", Path: "/app/standings.csv", Access: httpapi.User, Do: a.invited(a.getStandingsCSV)},
		{Method: "GET", Path: "/app/standings", Access: httpapi.User, Do: a.invited(a.getStandings)},
		{Method: "GET", Path: "/app/me", Access: httpapi.User, Do: a.invited(a.getMe)},
		{Method: "GET", Path: "/app/users/:id", Access: httpapi.User, Do: a.invited(a.getUser)},
		{Method: "GET", Path: "/app/stream", Access: httpapi.User, Do: a.invited(stream), Stream: true},
	}
}

func (a *api) adminRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/admin/users", Access: httpapi.Admin, Do: a.getUsers},
		{Method: "POST", Path: "/admin/users", Access: httpapi.Admin, Do: a.postUser},
		{Method: "PATCH", Path: "/admin/users/:id", Access: httpapi.Admin, Do: a.patchUser},
		{Method: "DELETE", Path: "/admin/users/:id", Access: httpapi.Admin, Do: a.deleteUser},
		{Method: "POST", Path: "/admin/events", Access: httpapi.Admin, Do: a.postEvent},
		{Method: "PATCH", Path: "/admin/events/:id", Access: httpapi.Admin, Do: a.patchEvent},
		{Method: "DELETE", Path: "/admin/events/:id", Access: httpapi.Admin, Do: a.deleteEvent},
		{Method: "POST", Path: "/admin/events/:id/matches", Access: httpapi.Admin, Do: a.postMatch},
		{Method: "POST", Path: "/admin/events/:id/card", Access: httpapi.Admin, Do: a.postCard},
		{Method: "PATCH", Path: "/admin/events/:id/matches/:match", Access: httpapi.Admin, Do: a.patchMatch},
		{Method: "DELETE", Path: "/admin/events/:id/matches/:match", Access: httpapi.Admin, Do: a.deleteMatch},
		{Method: "PUT", Path: "/admin/events/:id/order", Access: httpapi.Admin, Do: a.putOrder},
		{Method: "PUT", Path: "/admin/events/:id/state", Access: httpapi.Admin, Do: a.putState},
		{Method: "PUT", Path: "/admin/events/:id/results", Access: httpapi.Admin, Do: a.putResults},
		{Method: "POST", Path: "/admin/events/:id/score", Access: httpapi.Admin, Do: a.postScore},
	}
}

// invited hands a route its user, who must have been invited, and has the rows here that another node may have written.
func (a *api) invited(do func(c *gin.Context, user string) error) httpapi.Handler {
	return func(c *gin.Context) error {
		user, err := httpapi.Subject(c)
		if err != nil {
			return err
		}
		if a.Ensure != nil {
			fetch := func(ctx context.Context) error {
				return a.Ensure(ctx, a.Service.Table, pickem.Needs(user, c.Param("id"))...)
			}
			if err := httpapi.EnsureWithin(c.Request.Context(), fetch); err != nil {
				return err
			}
		}
		if err := httpapi.View(c, func(tx *store.Tx) error { return a.Service.Invited(tx, user) }); err != nil {
			return err
		}
		return do(c, user)
	}
}

type errorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

// problem is the shape of errors.
func problem(f *httpapi.Failure) any {
	e := errorBody{Code: f.Code, Message: f.Message}
	if len(f.Details) > 0 {
		e.Details = f.Details
	}
	return map[string]errorBody{"error": e}
}

const topicLeague = "league"

func stream(c *gin.Context, _ string) error { return httpapi.Stream(c, topicLeague, topicLeague) }

// topicOf is what a record means to streams: which event or which year's standings to ask for. Nothing says who has picked what.
func (a *api) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	if r.Table != a.Service.Table {
		return ch, false, nil
	}
	var kind, body string
	pk, sk := r.Key["PK"].Str(), r.Key["SK"].Str()
	switch {
	case pk == "EVENT":
		kind, body = "event", `{"id":"`+strings.TrimPrefix(sk, "EVENT#")+`"}`
	case strings.HasPrefix(pk, "EVENT#"):
		kind, body = "event", `{"id":"`+strings.TrimPrefix(pk, "EVENT#")+`"}`
	case strings.HasPrefix(sk, "STANDINGS#"):
		kind, body = "standings", `{"year":"`+strings.TrimPrefix(sk, "STANDINGS#")+`"}`
	default:
		return ch, false, nil
	}
	frame := sse.NewFrame(kind, r.Seq, []byte(body))
	frame.Slot = kind + " " + body
	return sse.Change{Topic: topicLeague, Frame: frame, All: func() sse.Frame { return frame }}, true, nil
}

// offline refuses what needs the cloud while it cannot be reached.
func (a *api) offline(c *gin.Context) error {
	if a.Ensure != nil && httpapi.Node(c).Cloud.State == "offline" {
		return fault.New(fault.Unavailable, "offline", "Scoring needs the cloud, which cannot be reached.")
	}
	return nil
}

// maxText is the longest id or date that is looked at.
const maxText = 128

func text(b *bind.Body, name string) string {
	return bind.Need(b, name, func(name string) string { return b.Text(name, 4*maxText) })
}
