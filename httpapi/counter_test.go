package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/storetest"
)

// counter is an application for tests: named counts, a note with each change, and a page and a stream of each.
type counter struct {
	t       testing.TB
	store   *store.Store
	name    string
	mu      sync.Mutex
	counts  map[string]int
	notes   map[string][]string
	fail    error
	panicOn string // count whose snapshot is a bug
	ensured []string
}

// table returns the table of the counts.
func (f *counter) table() string { return f.name + "-counts" }

func (f *counter) app(t testing.TB, mount string) App {
	t.Helper()
	look, err := page.New(strings.TrimSuffix(mount, "/")+"/-", fstest.MapFS{"templates/counter.html": {Data: []byte(
		`{{define "count-page"}}<main id="content">{{.Parts.count}}{{.Parts.node}}<a href="{{at "/counts/c1"}}">c1</a></main>{{end}}` +
			`{{define "count"}}<p data-part="count">{{.}}</p>{{end}}{{define "node"}}<p data-part="node">{{.}}</p>{{end}}`,
	)}}, map[string][]byte{"count.css": []byte("." + f.name + " { color: red; }\n")})
	if err != nil {
		t.Fatal(err)
	}
	never := func(*gin.Context) error { return fault.New(fault.NotFound, "no_thing", "There is no such thing.") }
	onPage := func(c *gin.Context) error { return Page(c, c.Param("id")) }
	return App{
		Name: f.name, Title: "The " + f.name, Mount: mount, Strict: true, Look: look, OpenAPI: []byte("openapi: 3.0.3\nservers:\n  - url: /x\npaths: {}\n"),
		Routes: append([]Route{
			{Method: "GET", Path: "/", Access: Public, Do: func(c *gin.Context) error { return JSON(c, map[string]string{"name": f.name}, nil) }},
			{Method: "GET", Path: "/counts", Access: User, Do: f.list},
			{Method: "GET", Path: "/counts/:id", Access: User, Do: f.get},
			{Method: "POST", Path: "/counts/:id", Access: User, Do: f.post},
			{Method: "DELETE", Path: "/counts/:id", Access: User, Do: f.remove},
			{Method: "GET", Path: "/counts/:id/stream", Access: User, Do: f.stream, Stream: true},
			{Method: "GET", Path: "/stream", Access: User, Do: func(c *gin.Context) error { return Stream(c, "all", "") }, Stream: true},
			{Method: "POST", Path: "/guests", Access: Public, Do: func(c *gin.Context) error {
				id, err := GuestID(c)
				return JSON(c, map[string]string{"id": id}, err)
			}},
			{Method: "GET", Path: "/me", Access: Optional, Do: f.me},
			{Method: "GET", Path: "/guesses", Access: Guest, Do: f.me},
			{Method: "POST", Path: "/guesses", Access: Guest, Do: f.me},
			{Method: "GET", Path: "/admin/things", Access: Admin, Do: never},
			{Method: "POST", Path: "/admin/things", Access: Admin, Do: never},
			{Method: "DELETE", Path: "/admin/things/:id", Access: Admin, Do: never},
		}, OperatorRoutes()...),
		Pages: []Route{{Method: "GET", Path: "/", Access: User, Do: onPage}, {Method: "GET", Path: "/counts/:id", Access: User, Do: onPage}},
		Moved: []string{"/" + f.name + "s/:id"},
		Problem: func(f *Failure) any {
			return map[string]any{"oops": f.Code, "message": f.Message, "fields": f.Details, "conflict": f.Conflict}
		},
		Topics: f.topic, Snapshot: f.snapshot, Ensure: f.ensure, View: f.view(look),
		Nav: func(auth.Identity) []page.Link { return []page.Link{{Href: look.At("/"), Text: "Counts"}} },
		Live: func(context.Context) ([]page.Tile, error) {
			return []page.Tile{{Href: look.At("/counts/c1"), Title: f.name + " one"}}, f.failing()
		},
		Scenes: func() ([]page.Scene, error) {
			v, err := look.Parts(page.View{}, "One", []page.Block{{ID: "count", Data: 1}})
			return []page.Scene{{Name: "one", What: "One count", View: v, Page: []byte("the count of one")}}, err
		},
		Status: func(*operator.NodeStatus) map[string]any {
			return map[string]any{"counts": len(f.counts), "version": 7}
		},
		Operator: func(context.Context, time.Time) (operator.Part, error) {
			return operator.Part{
				Problems: []string{"The " + f.name + " counts too fast."}, Status: map[string]int{"counts": len(f.counts)},
				Tables: []page.Table{{ID: f.name, Title: "Counts of " + f.name, Heads: []string{"Name"}, Rows: [][]string{{"c1"}}}},
			}, f.failing()
		},
	}
}

// me answers who the caller is.
func (f *counter) me(c *gin.Context) error {
	id, _ := Identity(c)
	return JSON(c, map[string]any{"subject": id.Subject, "scheme": id.Scheme, "admin": id.Admin, "name": id.Name}, nil)
}

func (f *counter) failing() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fail
}

func (f *counter) list(c *gin.Context) error {
	if err := f.failing(); err != nil {
		return err
	}
	return JSON(c, NewList([]string{"c1"}, ""), nil)
}

func (f *counter) known(id string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == "panic" {
		panic("a bug of " + f.name)
	}
	n, ok := f.counts[id]
	if f.fail != nil {
		return 0, f.fail
	}
	if !ok {
		return 0, fault.New(fault.NotFound, "no_count", "There is no count %s.", id)
	}
	return n, nil
}

func (f *counter) get(c *gin.Context) error {
	n, err := f.known(c.Param("id"))
	return JSON(c, map[string]int{"n": n}, err)
}

// post: {by}. It stores the new count, once per Idempotency-Key, with the time of counting.
func (f *counter) post(c *gin.Context) error {
	who, err := Subject(c)
	if err != nil {
		return err
	}
	b := Body(c)
	by := b.Whole("by", 9, 1)
	if err := b.Err(); err != nil {
		return err
	}
	row, err := f.once(c, who, by)
	if err != nil {
		return err
	}
	out, err := UpdateOnce(c, row, func(tx *store.Tx) (out idempotency.Outcome, writes []store.WriteItem, err error) {
		at, err := OccurredAt(c, tx.Now())
		item := attr.Item{"id": attr.S(c.Param("id")), "n": attr.Int(by), "at": attr.Int(at.Unix())}
		out = idempotency.Outcome{Status: http.StatusCreated, IDs: map[string]string{"by": fmt.Sprint(by)}}
		return out, []store.WriteItem{{Put: &store.PutItem{Table: f.table(), Item: item}}}, err
	})
	return Answer(c, http.StatusCreated, map[string]json.RawMessage{"by": json.RawMessage(out.IDs["by"])}, err)
}

// once returns the row of a request with an Idempotency-Key.
func (f *counter) once(c *gin.Context, who string, body any) (*idempotency.Row, error) {
	key, err := IdempotencyKey(c)
	if err != nil || key == "" {
		return nil, err
	}
	scope, _ := OnceScope(c, who+" "+c.Request.Method+" "+c.Request.URL.Path)
	hash, err := idempotency.Hash(scope, body)
	return &idempotency.Row{
		Table: f.table(), Key: attr.Item{"id": attr.S("once#" + scope + "#" + key)}, Hash: hash, Node: serverOf(c).cfg.Store.Node(),
	}, err
}

func (f *counter) remove(c *gin.Context) error {
	err := Update(c, func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: f.table(), Key: attr.Item{"id": attr.S(c.Param("id"))}})
		return err
	})
	if err != nil {
		return err
	}
	return NoContent(c)
}

func (f *counter) stream(c *gin.Context) error {
	if _, err := f.known(c.Param("id")); err != nil {
		return err
	}
	return Stream(c, "count", c.Param("id"))
}

// The frames of a count's stream.
const (
	frameCount = "count"
	frameNote  = "note"
)

func (f *counter) topic(r *store.Record) (ch sse.Change, ok bool, err error) {
	id := r.Key["id"].Str()
	switch r.Table {
	case f.table():
		ch = sse.Change{Topic: id, Frame: sse.NewFrame(frameCount, r.Seq, []byte(r.New["state"].Str()))}
		ch.Frame.Slot = "count"
	case f.name + "-notes":
		ch = sse.Change{Topic: id, Frame: sse.NewFrame(frameNote, r.Seq, []byte(r.New["state"].Str()))}
	case f.name + "-bug":
		panic("a bug of " + f.name)
	case f.name + "-odd":
		return ch, false, errors.New("not understood")
	default:
		return ch, false, nil
	}
	ch.All = func() sse.Frame {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.panicOn == id {
			panic("a bug of all of " + f.name)
		}
		return ch.Frame
	}
	return ch, true, nil
}

func (f *counter) snapshot(_ context.Context, id string) (out []sse.Frame, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panicOn == id && id != "" {
		panic("a bug of " + f.name)
	}
	for _, note := range f.notes[id] {
		out = append(out, sse.Frame{Name: frameNote, Data: []byte(note)})
	}
	if n, ok := f.counts[id]; ok {
		out = append(out, sse.Frame{Name: frameCount, Data: fmt.Appendf(nil, `{"n":%d}`, n)})
	}
	return out, f.fail
}

func (f *counter) ensure(ctx context.Context, id string) error {
	f.mu.Lock()
	f.ensured = append(f.ensured, id)
	f.mu.Unlock()
	return ctx.Err()
}

func (f *counter) view(look *page.Renderer) func(context.Context, *operator.NodeStatus, string, page.View) (page.View, error) {
	return func(_ context.Context, node *operator.NodeStatus, id string, last page.View) (page.View, error) {
		n := 0
		if id != "" {
			var err error
			if n, err = f.known(id); err != nil {
				return page.View{}, err
			}
		}
		v, err := look.Parts(last, fmt.Sprint(f.name, " ", n), []page.Block{{ID: "count", Data: n}, {ID: "node", Data: node.Version}})
		v.Kind, v.Operator, v.Styles = "count", "node", []string{"count.css"}
		return v, err
	}
}

// count sets a count, with its journal record.
func (f *counter) count(id string, n int) uint64 { return f.state(id, n, fmt.Sprintf(`{"n":%d}`, n)) }

func (f *counter) state(id string, n int, state string) uint64 {
	return f.commit(f.table(), id, state, func() { f.counts[id] = n })
}

// note adds the n-th note of a count.
func (f *counter) note(id string, n int) uint64 {
	text := noteText(n)
	return f.commit(f.name+"-notes", id, text, func() { f.notes[id] = append(f.notes[id], text) })
}

// commit makes a change together with a row, and returns the sequence of the row's journal record.
func (f *counter) commit(table, id, state string, change func()) (seq uint64) {
	f.t.Helper()
	storetest.Update(f.t, f.store, func(tx *store.Tx) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		change()
		_, err := tx.Put(store.PutItem{Table: table, Item: attr.Item{"id": attr.S(id), "state": attr.S(state)}})
		seq = tx.Seq()
		return err
	})
	return seq
}

func noteText(n int) string {
	raw, _ := json.Marshal(map[string]string{"key": fmt.Sprint("note ", n)}) // a string
	return string(raw)
}

// newCounter returns a counter, and creates its tables in a store.
func newCounter(t testing.TB, name string, s *store.Store) *counter {
	t.Helper()
	for _, table := range []string{"-counts", "-notes", "-bug", "-odd"} {
		err := s.Define(t.Context(), store.TableSpec{Name: name + table, Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return &counter{t: t, store: s, name: name, counts: map[string]int{"c1": 3}, notes: map[string][]string{}}
}

const (
	streamPath = "/counter/counts/c1/stream"
	listenPath = "/_/stream?app=counter&page=c1"
)

// config configures a node with one counter.
func config(t testing.TB) (*Config, *counter) {
	t.Helper()
	return configIn(t, storetest.Open(t))
}

// configIn is config with the test's own store.
func configIn(t testing.TB, s *store.Store) (*Config, *counter) {
	t.Helper()
	f := newCounter(t, "counter", s)
	return &Config{
		Apps: []App{f.app(t, "/counter")}, Store: s, Clock: clock.Real(), Version: "test", Auth: web.ByName{Silent: auth.Identity{Subject: "u0"}}, Tokens: true,
	}, f
}

// mountAt moves the counter to another mount.
func mountAt(t testing.TB, cfg *Config, f *counter, mount string) {
	t.Helper()
	was := cfg.Apps[0]
	cfg.Apps[0] = f.app(t, mount)
	cfg.Apps[0].CORS, cfg.Apps[0].Rate = was.CORS, was.Rate
}

func newServer(t testing.TB, cfg *Config) *Server {
	t.Helper()
	s, err := New(*cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // where Run does not, this waits for streams: a store that is closed next must have no reader
		s.drain()
		s.streams.Wait()
	})
	return s
}

// start runs a server on a port of its own until stop or the end of the test.
func start(t testing.TB, cfg *Config) (address string, stop func() error) {
	t.Helper()
	return web.Run(t, newServer(t, cfg))
}
