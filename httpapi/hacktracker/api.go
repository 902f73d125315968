// Package hacktracker is the softball scorebook's face to HTTP: its routes, errors in their shape, a stream of each game, and pages.
package hacktracker

import (
	"cmp"
	"context"
	_ "embed" // the OpenAPI document
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
)

//go:embed openapi.yaml
var document []byte

// Config is what the routes work with.
type Config struct {
	Service *hacktracker.Service
	Mount   string
	Node    string // the id of this node
	// Ensure has rows here that another node may have written; nil: the node has no cloud.
	Ensure httpapi.Ensure
}

type api struct {
	Config
	mount string // without a slash at its end
	look  *page.Renderer
}

// New makes the application's part of a server.
func New(c Config) (httpapi.App, error) {
	mount := strings.TrimSuffix(c.Mount, "/")
	look, err := page.New(mount+"/-", files, nil)
	a := &api{c, mount, look}
	return httpapi.App{
		About:  "A softball scorebook with box scores and statistics",
		Routes: a.routes(), OpenAPI: document, Problem: problem, Topics: a.topicOf, Snapshot: snapshot, CORS: []string{"*"},
		Pages: a.pageRoutes(), Offline: true, Look: a.look, Nav: a.nav, Scenes: a.scenes,
		SignIn: httpapi.SignIn{Header: "X-User-Id"},
	}, err
}

// call is a request of a user, with the members of its body: nulls and unknown ones are in it too.
type call struct {
	*gin.Context

	user   string
	in     hacktracker.Input
	query  *bind.Query
	once   string // of a POST, the key by which it takes effect once; empty: it has none
	made   string // id of what it has made
	status int    // of the answer
}

// id is what a request names in its path, or has made.
func (r *call) id(name string) string { return cmp.Or(r.Param(name), r.made) }

// doing is what a request does with the scorebook as its user has it open, and what there is to answer.
type doing = func(b *hacktracker.Book, r *call) any

// in does something in a transaction.
func in[T any](a *api, r *call, do func(b *hacktracker.Book, r *call) T) func(tx *store.Tx) (T, error) {
	return func(tx *store.Tx) (T, error) {
		b := a.Service.Open(tx, r.user)
		out := do(b, r)
		return out, cmp.Or(r.query.Err(), b.Err())
	}
}

// route is one for people who are signed in. It has the rows here that another node may have written, and makes the profile of a
// user at their first request.
func (a *api) route(method, path string, do func(r *call) error) httpapi.Route {
	return httpapi.Route{Method: method, Path: path, Access: httpapi.User, Do: func(c *gin.Context) error {
		user, err := httpapi.Subject(c)
		if err != nil {
			return err
		}
		if !hacktracker.IsID(user) {
			return fault.New(fault.Forbidden, "forbidden", "This account's user id cannot be used here.")
		}
		for _, p := range c.Params {
			if !hacktracker.IsID(p.Value) {
				return fault.New(fault.NotFound, "not_found", "Not found")
			}
		}
		r := &call{Context: c, user: user, status: http.StatusOK, query: bind.Parameters(c.Request)}
		if method != http.MethodGet && method != http.MethodDelete {
			r.in, err = httpapi.Body(c).Members()
		}
		if err == nil && method == http.MethodPost {
			r.once, err = httpapi.IdempotencyKey(c)
		}
		if err == nil {
			err = a.prepare(r)
		}
		if err != nil {
			return err
		}
		return do(r)
	}}
}

// prepare has the partitions here that a request is about, and the user's profile.
func (a *api) prepare(r *call) error {
	if err := a.Ensure.Needs(r.Context, a.Service.Table, in(a, r, needs)); err != nil {
		return err
	}
	_, err := httpapi.Read(r.Context, in(a, r, func(b *hacktracker.Book, _ *call) hacktracker.User { return b.User(r.user) }))
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	return httpapi.Update(r.Context, func(tx *store.Tx) error {
		who, _ := httpapi.Identity(r.Context)
		b := a.Service.Open(tx, r.user)
		b.Enrol(who.Email, who.Name)
		return b.Err()
	})
}

// needs is what a request names, users in its body too.
func needs(b *hacktracker.Book, r *call) []attr.Item {
	other := r.Param("user")
	if raw, ok := r.in["userId"]; ok && json.Unmarshal(raw, &other) != nil || !hacktracker.IsID(other) {
		other = ""
	}
	return b.Needs(r.Param("game"), r.Param("team"), other)
}

// on is a route that answers with what comes of something, or that it is gone.
func (a *api) on(method, path string, do doing) httpapi.Route {
	return a.route(method, path, func(r *call) error {
		if method == http.MethodGet {
			return httpapi.AnswerView(r.Context, in(a, r, do))
		}
		out, err := httpapi.Change(r.Context, in(a, r, do))
		if method == http.MethodDelete && err == nil {
			return httpapi.NoContent(r.Context)
		}
		return httpapi.Answer(r.Context, r.status, out, err)
	})
}

// creates is a route that makes something, once where a request carries an Idempotency-Key.
func (a *api) creates(path string, do func(b *hacktracker.Book, r *call) (string, []store.WriteItem), show doing) httpapi.Route {
	return a.route(http.MethodPost, path, func(r *call) (err error) {
		var row *idempotency.Row
		if r.once != "" {
			if row, err = a.Service.Once(r.user, r.Request.URL.Path, r.once, a.Node, r.in); err != nil {
				return err
			}
		}
		out, err := httpapi.UpdateOnce(r.Context, row, func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error) {
			b := a.Service.Open(tx, r.user)
			id, writes := do(b, r)
			if row != nil {
				row.More = b.Stamp(attr.Item{}, nil)
			}
			return idempotency.Outcome{Status: http.StatusCreated, IDs: map[string]string{"id": id}}, writes, b.Err()
		})
		if err != nil {
			return err
		}
		r.made = out.IDs["id"]
		made, err := httpapi.Read(r.Context, in(a, r, show))
		return httpapi.Answer(r.Context, http.StatusCreated, made, err)
	})
}

// problem is the shape of errors.
func problem(f *httpapi.Failure) any {
	if f.Status == http.StatusUnauthorized {
		return map[string]string{"error": "User ID not found. Authentication required."}
	}
	var parts []string
	for _, d := range f.Details {
		parts = append(parts, d.Field+" "+d.Message)
	}
	return map[string]string{"error": cmp.Or(strings.Join(parts, "; "), f.Message)}
}

// topicOf is what a record means to streams: a game of which something is to be asked for anew.
func (a *api) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	game := hacktracker.GameOf(r.Key)
	if r.Table != a.Service.Table || game == "" {
		return ch, false, nil
	}
	frame := gameFrame(game, r.Seq)
	frame.Slot = "game " + game
	return sse.Change{Topic: topicGame + game, Frame: frame, All: func() sse.Frame { return frame }}, true, nil
}

// snapshot has who begins to read, or has missed more than can be told, ask for the game.
func snapshot(_ context.Context, topic string) ([]sse.Frame, error) {
	return []sse.Frame{gameFrame(strings.TrimPrefix(topic, topicGame), 0)}, nil
}

func gameFrame(game string, seq uint64) sse.Frame {
	return sse.NewFrame("game", seq, []byte(`{"gameId":"`+game+`"}`))
}

const (
	topicGame = "game/"
	maxText   = 128
	maxToken  = 1024
)

// page reads limit and nextToken, which is the key that the page before ended with, as JSON.
func (r *call) page() (p hacktracker.Page) {
	p.Limit = r.query.Limit()
	if token := r.query.Text("nextToken", maxToken); token != "" {
		var err error
		if p.Start, err = attr.ParseJSON([]byte(token)); err != nil || len(p.Start) == 0 {
			r.query.Bad("nextToken", "is invalid")
		}
	}
	return p
}

// listed is a page of a list by what it lists, with the token of the next one.
func listed[T any](name string, all []T, next attr.Item) any {
	out := map[string]any{name: all, "count": len(all)}
	if next != nil {
		out["nextToken"] = string(attr.AppendJSON(nil, next))
	}
	return out
}
