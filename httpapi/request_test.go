package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// rowsApp is an application whose routes have handlers. It notes the steps of each request.
type rowsApp struct{ steps []string }

func (a *rowsApp) note(step string) { a.steps = append(a.steps, step) }

func (a *rowsApp) admit(r *Request) error {
	a.note("admit")
	if r.Header.Get("X-Refuse") != "" {
		return fault.New(fault.Forbidden, "refused", "No.")
	}
	return nil
}

func (a *rowsApp) needs(_ *store.Tx, r *Request) ([]attr.Item, error) {
	return []attr.Item{{"id": attr.S(r.Param("id"))}}, nil
}

func (a *rowsApp) getRow(r *Request) (Response, error) {
	r.Query.OneOf("way", "one", "other")
	return r.Read(func(*store.Tx) (any, error) {
		a.note("read")
		return r.User + " reads " + r.Param("id"), nil
	})
}

func (a *rowsApp) putRow(r *Request) (Response, error) {
	name := r.Body().Text("name", 4)
	r.Query.OneOf("way", "one", "other")
	return r.Write(http.StatusAccepted, func(*store.Tx) (any, error) {
		a.note("write")
		if name == "" {
			return nil, nil
		}
		return r.User + " writes " + name, nil
	})
}

func (a *rowsApp) rowPage(r *Request) (Response, error) {
	return r.Page("row", "Row", func(*store.Tx) (any, error) { return r.Param("id"), nil })
}

func (a *rowsApp) exportRow(r *Request) (Response, error) {
	return ReplyCSV("row.csv", [][]string{{"id"}, {r.Param("id")}})
}

// A request is admitted, the rows it needs are fetched, and its input is read whole before any work is done.
func TestHandlersWorkInOrder(t *testing.T) {
	cfg, f := config(t)
	cfg.Auth = web.ByName{}
	var a rowsApp
	app := f.app(t, "/rows")
	app.Admit, app.Table = a.admit, "rows"
	app.Rows = func(_ context.Context, table string, keys ...attr.Item) error {
		a.note("fetch " + table + " " + keys[0]["id"].Str())
		return nil
	}
	var err error
	app.Look, err = page.New("/rows/-", fstest.MapFS{"templates/row.html": {Data: []byte(`{{define "row-page"}}<p>{{.}}</p>{{end}}`)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	app.Routes = []Route{
		{Method: "GET", Path: "/rows/:id", Access: User, Needs: a.needs, Handle: a.getRow},
		{Method: "PUT", Path: "/rows/:id", Access: User, Needs: a.needs, Handle: a.putRow, Once: true},
		{Method: "GET", Path: "/rows/:id/csv", Access: User, Handle: a.exportRow},
	}
	app.Pages = []Route{{Method: "GET", Path: "/rows/:id", Access: User, Handle: a.rowPage}}
	cfg.Apps = []App{app}
	s := newServer(t, cfg)
	for _, tt := range []struct {
		method, path, body, refuse string
		status                     int
		has, steps                 string
	}{
		{"GET", "/rows/r1", "", "", 200, `"ann reads r1"`, "admit, fetch rows r1, read"},
		{"HEAD", "/rows/r1", "", "", 200, "", "admit, fetch rows r1, read"},
		{"GET", "/rows/r1", "", "yes", 403, `"oops":"refused"`, "admit"},
		{"GET", "/rows/r1?way=third", "", "", 400, `"field":"way"`, "admit, fetch rows r1"},
		{"PUT", "/rows/r1", `{"name":"x"}`, "", 202, `"ann writes x"`, "admit, fetch rows r1, write"},
		{"PUT", "/rows/r1", "", "", 204, "", "admit, fetch rows r1, write"},
		{"PUT", "/rows/r1", `{"name":"longer"}`, "", 400, `"field":"name"`, "admit, fetch rows r1"},
		{"PUT", "/rows/r1", `{"other":1}`, "", 400, `"field":"other"`, "admit, fetch rows r1"},
		{"PUT", "/rows/r1?way=third", `{"name":"longer"}`, "", 400, `"field":"way"`, "admit, fetch rows r1"},
		{"GET", "/rows/r1/csv", "", "", 200, "id\nr1\n", "admit"},
		{"GET", "/-/rows/r1", "", "", 200, "<p>r1</p>", "admit"},
	} {
		a.steps = nil
		w := web.Ask(s.Handler(), tt.method, "/rows"+tt.path, tt.body, "Authorization", "Bearer ann", "X-Refuse", tt.refuse, "Idempotency-Key", "k1")
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.has) || strings.Join(a.steps, ", ") != tt.steps {
			t.Errorf("%s %s %s: %d %s after %q", tt.method, tt.path, tt.body, w.Code, w.Body, a.steps)
		}
		if once := w.Header().Get(headerLife) != ""; once != (tt.method == "PUT" && tt.refuse == "") {
			t.Errorf("%s %s: told that it takes effect once: %t", tt.method, tt.path, once)
		}
	}
}

// An entry of a page is done once at a node, whoever sends it again and however late, and a repetition asks about the first one's write. Another
// request with its key is refused. What was refused, and requests of API clients, are done each time.
func TestEntryIsDoneOnce(t *testing.T) {
	cfg, f := configIn(t, storetest.Open(t, handover.Tables()...))
	cfg.Devices = true
	cfg.Sync = waited{wait: func(context.Context) (uint64, error) { return 0, context.DeadlineExceeded }}
	app := f.app(t, "/counter")
	state, refused := "", false
	app.Routes = append(app.Routes, Route{Method: "PUT", Path: "/state", Access: User, Handle: func(r *Request) (Response, error) {
		to := r.Body().Text("to", 9)
		return r.Write(http.StatusOK, func(tx *store.Tx) (any, error) {
			if refused {
				return nil, fault.New(fault.Conflict, "refused", "Not now.")
			}
			state = to
			_, err := tx.Put(store.PutItem{Table: f.table(), Item: attr.Item{"id": attr.S("state"), "to": attr.S(to)}})
			return to, err
		})
	}})
	cfg.Apps = []App{app}
	s := newServer(t, cfg)
	phone := handover.NewDevice()
	hash, _ := handover.DeviceHash(phone)
	put := func(status int, key, to, device string, headers ...string) *httptest.ResponseRecorder {
		t.Helper()
		w := web.Ask(s.Handler(), "PUT", "/counter/state", `{"to":"`+to+`"}`, append(headers, "Idempotency-Key", key, "Prefer", "wait=0",
			"Cookie", deviceCookie+"="+device, "Sec-Fetch-Site", "same-origin")...)
		if w.Code != status {
			t.Errorf("%s to %s: %d %s, want %d", key, to, w.Code, w.Body, status)
		}
		return w
	}
	first := put(202, "k1", "one", phone)
	put(202, "k2", "two", phone)
	again := put(202, "k1", "one", phone)
	if state != "two" || again.Header().Get(headerSeq) != first.Header().Get(headerSeq) || again.Header().Get(headerCloud) != cloudWaiting {
		t.Errorf("state %s, %v, first %v", state, again.Header(), first.Header())
	}
	put(202, "k1", "one", handover.NewDevice(), headerDevice, hash)
	if state != "two" {
		t.Errorf("with another id: %s", state)
	}
	put(409, "k1", "three", phone)
	refused = true
	put(409, "k3", "three", phone)
	refused = false
	put(202, "k3", "three", phone)
	put(202, "k1", "one", "")
	put(202, "k1", "two", "")
	if state != "two" {
		t.Errorf("an API client: %s", state)
	}
}

// replies is an application whose routes answer in one way each.
type replies struct{}

func (replies) tagged(*Request) (Response, error) { return ReplyTagged([]int{1}) }

func (replies) html(*Request) (Response, error) {
	return ReplyHTML(http.StatusConflict, []byte("<p>no"))
}

func (replies) bare(*Request) (Response, error) {
	return ReplyBarePage(http.StatusConflict, page.View{Title: "Bare", Kind: "count", Parts: []page.Part{{ID: "only", HTML: "<p>part"}}})
}

func (replies) elsewhere(*Request) (Response, error) { return ReplySeeOther("/there") }

func (replies) topic(r *Request) (Response, error) {
	r.Query.OneOf("way", "one", "other")
	return r.TopicPage("c1")
}

func (replies) form(r *Request) (Response, error) { return Response{}, r.CheckOwnPage() }

// A reply has the status, the headers and the body of its kind.
func TestReplies(t *testing.T) {
	cfg, f := config(t)
	cfg.Auth = web.ByName{}
	app := f.app(t, "/replies")
	var a replies
	app.Routes = []Route{{Method: "GET", Path: "/tagged", Access: User, Handle: a.tagged}}
	app.Pages = []Route{
		{Method: "GET", Path: "/html", Access: User, Handle: a.html},
		{Method: "GET", Path: "/bare", Access: User, Handle: a.bare},
		{Method: "GET", Path: "/elsewhere", Access: User, Handle: a.elsewhere},
		{Method: "GET", Path: "/topic", Access: User, Handle: a.topic},
		{Method: "POST", Path: "/form", Access: User, Handle: a.form},
	}
	cfg.Apps = []App{app}
	s := newServer(t, cfg)
	for _, tt := range []struct {
		method, path, from string
		status             int
		header, value, has string
	}{
		{"GET", "/tagged", "", 200, "Cache-Control", "private, no-cache", "[1]"},
		{"GET", "/-/html", "", 409, "Cache-Control", "no-store", "<p>no"},
		{"GET", "/-/bare", "", 409, "Content-Type", htmlType, "<p>part"},
		{"GET", "/-/elsewhere", "", 303, "Location", "/there", ""},
		{"GET", "/-/topic", "", 200, "Content-Type", htmlType, "data-stream="},
		{"GET", "/-/topic?way=third", "", 400, "", "", ""},
		{"POST", "/-/form", "http://example.com", 204, "", "", ""},
		{"POST", "/-/form", "http://elsewhere.example", 403, "", "", ""},
	} {
		w := web.Ask(s.Handler(), tt.method, "/replies"+tt.path, "", "Authorization", "Bearer ann", "Origin", tt.from)
		if w.Code != tt.status || w.Header().Get(tt.header) != tt.value || !strings.Contains(w.Body.String(), tt.has) {
			t.Errorf("%s %s: %d %s %s", tt.method, tt.path, w.Code, w.Header(), w.Body)
		}
	}
}
