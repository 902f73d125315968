package httpapi

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
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
