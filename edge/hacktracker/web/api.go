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

// handlers has a method for each route: that of an API route has the name of its operation in openapi.yaml.
type handlers struct {
	scorebook *hacktracker.Service
	node      string
	devices   *presence.Board
	look      *page.Renderer
}

// New returns the application's routes and pages for a server.
func New(c Config) (httpapi.App, error) {
	look, err := page.New(strings.TrimSuffix(c.Mount, "/")+"/-", files, nil)
	h := &handlers{scorebook: c.Service, node: c.Node, devices: c.Scorers, look: look}
	return httpapi.App{
		About:  "A softball scorebook with box scores and statistics",
		Routes: h.routes(), OpenAPI: document, Problem: problem, Topics: h.topicOf, Snapshot: snapshot, CORS: []string{"*"},
		Admit: h.admit, Table: c.Service.Table, Rows: c.Ensure,
		Pages: h.pageRoutes(), Offline: true, Look: look, Nav: h.navLinks, Scenes: h.scenes,
		SignIn: httpapi.SignIn{Header: "X-User-Id"}, Games: h.gamesInCloud(),
	}, err
}

// own is the role of a user on routes about themselves.
const own = "own"

// admit refuses callers who cannot have a scorebook. It fetches the partitions that the request concerns, and creates the user's profile at their
// first request.
func (h *handlers) admit(r *httpapi.Request) error {
	user, err := r.Caller()
	switch {
	case err != nil:
		return err
	case r.Route.Role == own && r.Param("user") != user:
		return fault.New(fault.Forbidden, "forbidden", "You can see and change only your own data")
	case !hacktracker.IsID(user):
		return fault.New(fault.Forbidden, "forbidden", "This account cannot be used here: a user ID must be at most 64 ASCII characters, without spaces and #.")
	}
	for _, value := range r.Params() {
		if !hacktracker.IsID(value) {
			return fault.New(fault.NotFound, "not_found", "Not found")
		}
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodDelete {
		if _, err := r.Body().Members(); err != nil {
			return err
		}
	}
	if _, err := r.Key(); err != nil && r.Method == http.MethodPost {
		return err
	}
	if err := r.FetchNeeds(func(tx *store.Tx) ([]attr.Item, error) { return h.partitions(tx, r) }); err != nil {
		return err
	}
	return h.enrol(r)
}

// partitions returns the partitions of what a request names, including the user in its body.
func (h *handlers) partitions(tx *store.Tx, r *httpapi.Request) ([]attr.Item, error) {
	other := r.Param("user")
	if raw, ok := bodyMembers(r)["userId"]; ok && json.Unmarshal(raw, &other) != nil || !hacktracker.IsID(other) {
		other = ""
	}
	b := h.open(tx, r)
	return b.Needs(r.Param("game"), r.Param("team"), other), b.Err()
}

// enrol creates the user's profile if it is missing.
func (h *handlers) enrol(r *httpapi.Request) error {
	err := r.View(func(tx *store.Tx) error {
		b := h.open(tx, r)
		b.User(r.User)
		return b.Err()
	})
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	return r.Update(func(tx *store.Tx) error {
		b := h.scorebook.Open(tx, r.User)
		b.Enrol(r.Identity().Email, r.Identity().Name)
		return b.Err()
	})
}

// open opens the scorebook for the request's user. Keys count once in the scope of the device, or of the user who has none.
func (h *handlers) open(tx *store.Tx, r *httpapi.Request) *hacktracker.Book {
	scope, _ := r.OnceScope(r.User)
	return h.scorebook.OpenOnce(tx, r.User, scope)
}

// bodyMembers returns all members of the request's body, including nulls and unknown ones; none for a request without a body.
func bodyMembers(r *httpapi.Request) hacktracker.Input {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodDelete {
		return nil
	}
	members, _ := r.Body().Members() // admit has refused a body that is no object
	return members
}

// read answers with what do reads from the scorebook.
func (h *handlers) read(r *httpapi.Request, do func(b *hacktracker.Book) any) (httpapi.Response, error) {
	return r.Read(func(tx *store.Tx) (any, error) {
		b := h.open(tx, r)
		out := do(b)
		return out, b.Err()
	})
}

// write answers with what do returns, after a change to the scorebook; with 204 for nil.
func (h *handlers) write(r *httpapi.Request, status int, do func(b *hacktracker.Book) any) (httpapi.Response, error) {
	return r.Write(status, func(tx *store.Tx) (any, error) {
		b := h.open(tx, r)
		out := do(b)
		return out, b.Err()
	})
}

// create creates a record, once per Idempotency-Key, and answers with what show returns.
func (h *handlers) create(
	r *httpapi.Request,
	do func(b *hacktracker.Book, key string) (id string, writes []store.WriteItem),
	show func(b *hacktracker.Book, id string) any,
) (httpapi.Response, error) {
	key, err := r.Key()
	if err != nil {
		return httpapi.Response{}, err
	}
	row, err := h.onceRow(r, key)
	if err != nil {
		return httpapi.Response{}, err
	}
	return r.WriteOnce(row, func(tx *store.Tx) (idempotency.Outcome, []store.WriteItem, error) {
		b := h.open(tx, r)
		id, writes := do(b, key)
		if row != nil {
			row.More = b.Stamp(attr.Item{}, nil)
		}
		return idempotency.Outcome{Status: http.StatusCreated, IDs: map[string]string{"id": id}}, writes, b.Err()
	}, func(tx *store.Tx, ids map[string]string) (any, error) {
		b := h.open(tx, r)
		out := show(b, ids["id"])
		return out, b.Err()
	})
}

// onceRow returns the row of an Idempotency-Key; nil for none.
func (h *handlers) onceRow(r *httpapi.Request, key string) (*idempotency.Row, error) {
	if key == "" {
		return nil, nil //nolint:nilnil // no key
	}
	scope, former := r.OnceScope(r.User)
	at, err := h.scorebook.OnceRow(scope, r.URL.Path, key, bodyMembers(r))
	if err != nil {
		return nil, err
	}
	row := &idempotency.Row{Table: h.scorebook.Table, Key: at.Key, Hash: at.Hash, Node: h.node}
	if scope != r.User {
		row.User = r.User
	}
	for _, scope := range former {
		was, err := h.scorebook.OnceRow(scope, r.URL.Path, key, bodyMembers(r))
		if err != nil {
			return nil, err
		}
		row.Former = append(row.Former, was)
	}
	return row, nil
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
func (h *handlers) topicOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	game := hacktracker.GameOf(r.Key)
	if r.Table != h.scorebook.Table || game == "" {
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

// readPage reads limit and nextToken, the last key of the previous page as JSON.
func readPage(q *bind.Query) (p hacktracker.Page) {
	p.Limit = q.Limit()
	token := q.Text("nextToken", maxToken)
	if token == "" {
		return p
	}
	var err error
	p.Start, err = attr.ParseJSON([]byte(token))
	if err != nil || len(p.Start) == 0 {
		q.Bad("nextToken", "is invalid")
	}
	return p
}

// readGamesPage reads the part of a list of games that a request asks for: limit, and the cursor of the previous page.
func readGamesPage(q *bind.Query, usual int) hacktracker.GamesPage {
	page := hacktracker.GamesPage{Limit: cmp.Or(q.Number("limit", bind.MaxLimit), usual)}
	cursor := q.Text("cursor", bind.MaxCursor)
	if cursor == "" {
		return page
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(raw, &page.After) != nil || page.After == nil {
		q.Bad("cursor", "was not issued by this list")
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
