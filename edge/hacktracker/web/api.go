// Package web serves the softball scorebook over HTTP: routes, errors, a stream for each game, and pages.
package web

import (
	"cmp"
	"context"
	_ "embed" // the OpenAPI document
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/presence"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
)

//go:embed openapi.yaml
var document []byte

// Config holds the dependencies of the routes.
type Config struct {
	Service *hacktracker.Service
	Mount   string
	Node    string // this node's id
	Scorers *presence.Board
	// Ensure fetches rows that another node may have written; nil if the node has no cloud.
	Ensure httpapi.Ensure
}

type api struct {
	Config
	mount string // without trailing slash
	look  *page.Renderer
}

// New returns the application's routes and pages for a server.
func New(c Config) (httpapi.App, error) {
	mount := strings.TrimSuffix(c.Mount, "/")
	look, err := page.New(mount+"/-", files, nil)
	a := &api{c, mount, look}
	return httpapi.App{
		About:  "A softball scorebook with box scores and statistics",
		Routes: a.routes(), OpenAPI: document, Problem: problem, Topics: a.topicOf, Snapshot: snapshot, CORS: []string{"*"},
		Pages: a.pageRoutes(), Offline: true, Look: a.look, Nav: a.nav, Scenes: a.scenes,
		SignIn: httpapi.SignIn{Header: "X-User-Id"}, Games: a.gamesInCloud(),
	}, err
}

// call is a user's request. in holds all members of its body, including nulls and unknown ones.
type call struct {
	*httpapi.Call

	in    hacktracker.Input
	once  string // Idempotency-Key of a POST; empty if it has none
	scope string // of the key: the user, or the device that the entry was made on
	made  string // id of the created record

	cloud  operator.SyncStatus // on pages of a game: the state of the replication
	former []string            // scopes in which the key may have been used
}

// id returns a path parameter, or else the id of the created record.
func (r *call) id(name string) string { return cmp.Or(r.Param(name), r.made) }

// doing handles a request on the scorebook opened for its user, and returns the response body.
type doing = func(b *hacktracker.Book, r *call) any

// inTransaction adapts do to a transaction.
func inTransaction[T any](a *api, r *call, do func(b *hacktracker.Book, r *call) T) func(tx *store.Tx) (T, error) {
	return func(tx *store.Tx) (T, error) {
		b := a.Service.OpenOnce(tx, r.User, r.scope)
		out := do(b, r)
		return out, cmp.Or(r.Query.Err(), b.Err())
	}
}

// route returns a route for signed-in users. It fetches the rows that another node may have written, and creates a user's profile at
// their first request.
func (a *api) route(method, path string, do func(r *call) (httpapi.Work, error)) httpapi.Route {
	return a.Ensure.Route(a.Service.Table, method, path, httpapi.User, func(c *httpapi.Call) (httpapi.Work, error) {
		_, err := httpapi.Subject(c.Context)
		if err == nil && !hacktracker.IsID(c.User) {
			err = fault.New(fault.Forbidden, "forbidden", "This account cannot be used here: a user ID must be at most 64 ASCII characters, without spaces and #.")
		}
		for _, p := range c.Params {
			if err == nil && !hacktracker.IsID(p.Value) {
				err = fault.New(fault.NotFound, "not_found", "Not found")
			}
		}
		r := &call{Call: c}
		r.scope, r.former = httpapi.OnceScope(c.Context, r.User)
		if err == nil && method != http.MethodGet && method != http.MethodDelete {
			r.in, err = c.Body().Members()
		}
		if err == nil && method == http.MethodPost {
			r.once, err = httpapi.IdempotencyKey(c.Context)
		}
		if err == nil {
			err = a.prepare(r)
		}
		if err != nil {
			return nil, err
		}
		return do(r)
	})
}

// prepare fetches the partitions that a request concerns, and creates the user's profile if it is missing.
func (a *api) prepare(r *call) error {
	if err := a.Ensure.Needs(r.Context, a.Service.Table, inTransaction(a, r, needs)); err != nil {
		return err
	}
	_, err := httpapi.Read(r.Context, inTransaction(a, r, func(b *hacktracker.Book, _ *call) hacktracker.User { return b.User(r.User) }))
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	return httpapi.Update(r.Context, func(tx *store.Tx) error {
		who, _ := httpapi.Identity(r.Context)
		b := a.Service.Open(tx, r.User)
		b.Enrol(who.Email, who.Name)
		return b.Err()
	})
}

// needs returns the partitions of what a request names, including the user in its body.
func needs(b *hacktracker.Book, r *call) []attr.Item {
	other := r.Param("user")
	if raw, ok := r.in["userId"]; ok && json.Unmarshal(raw, &other) != nil || !hacktracker.IsID(other) {
		other = ""
	}
	return b.Needs(r.Param("game"), r.Param("team"), other)
}

// newRoute returns a route that answers with the result of do.
func (a *api) newRoute(method, path string, do doing) httpapi.Route {
	return a.route(method, path, func(r *call) (httpapi.Work, error) { return inTransaction(a, r, do), nil })
}

// creates returns a route that creates a record, once per Idempotency-Key.
func (a *api) creates(path string, do func(b *hacktracker.Book, r *call) (string, []store.WriteItem), show doing) httpapi.Route {
	return a.route(http.MethodPost, path, func(r *call) (_ httpapi.Work, err error) {
		var row *idempotency.Row
		if r.once != "" {
			if row, err = a.row(r); err != nil {
				return nil, err
			}
		}
		return nil, httpapi.AnswerOnce(r.Context, row, func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error) {
			b := a.Service.OpenOnce(tx, r.User, r.scope)
			id, writes := do(b, r)
			if row != nil {
				row.More = b.Stamp(attr.Item{}, nil)
			}
			return idempotency.Outcome{Status: http.StatusCreated, IDs: map[string]string{"id": id}}, writes, b.Err()
		}, func(tx *store.Tx, ids map[string]string) (any, error) {
			r.made = ids["id"]
			return inTransaction(a, r, show)(tx)
		})
	})
}

// row returns the row of a request's Idempotency-Key.
func (a *api) row(r *call) (*idempotency.Row, error) {
	at, err := a.Service.OnceRow(r.scope, r.Request.URL.Path, r.once, r.in)
	row := &idempotency.Row{Table: a.Service.Table, Key: at.Key, Hash: at.Hash, Node: a.Node}
	if r.scope != r.User {
		row.User = r.User
	}
	for _, scope := range r.former {
		was, wrong := a.Service.OnceRow(scope, r.Request.URL.Path, r.once, r.in)
		row.Former, err = append(row.Former, was), cmp.Or(err, wrong)
	}
	return row, err
}

// problem returns the JSON body of an error.
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

// topicOf turns a journal record into an event that tells readers of a game's stream to fetch it again.
func (a *api) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	game := hacktracker.GameOf(r.Key)
	if r.Table != a.Service.Table || game == "" {
		return ch, false, nil
	}
	frame := gameFrame(game, r.Seq)
	frame.Slot = "game " + game
	return sse.Change{Topic: topicGame + game, Frame: frame, All: func() sse.Frame { return frame }}, true, nil
}

// snapshot tells a new reader, or one that has missed too many events, to fetch the game.
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

// page reads limit and nextToken, the last key of the previous page as JSON.
func (r *call) page() (p hacktracker.Page) {
	p.Limit = r.Query.Limit()
	if token := r.Query.Text("nextToken", maxToken); token != "" {
		var err error
		if p.Start, err = attr.ParseJSON([]byte(token)); err != nil || len(p.Start) == 0 {
			r.Query.Bad("nextToken", "is invalid")
		}
	}
	return p
}

// gamesPage reads the part of a list of games that a request asks for: limit, and the cursor of the previous page.
func (r *call) gamesPage(usual int) hacktracker.GamesPage {
	page := hacktracker.GamesPage{Limit: cmp.Or(r.Query.Number("limit", bind.MaxLimit), usual)}
	if cursor := r.Query.Text("cursor", bind.MaxCursor); cursor != "" {
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || json.Unmarshal(raw, &page.After) != nil || page.After == nil {
			r.Query.Bad("cursor", "was not issued by this list")
		}
	}
	return page
}

// cursorOf encodes the place of a page's last game.
func cursorOf(last *hacktracker.Place) string {
	return base64.RawURLEncoding.EncodeToString([]byte(encodeJSON(last)))
}

// listPage returns a page of a list under name, with the token of the next page.
func listPage[T any](name string, all []T, next attr.Item) any {
	out := map[string]any{name: all, "count": len(all)}
	if next != nil {
		out["nextToken"] = string(attr.AppendJSON(nil, next))
	}
	return out
}
