package httpapi

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// A route's own error comes first, then those of query and body. Only then are rows fetched, and the work done.
func TestRouteReadsInputThenWorks(t *testing.T) {
	cfg, f := config(t)
	cfg.Auth = web.ByName{}
	app := f.app(t, "/calls")
	var err error
	app.Look, err = page.New("/calls/-", fstest.MapFS{"templates/call.html": {Data: []byte(`{{define "call-page"}}<p>{{.}}</p>{{end}}`)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	ensure := Ensure(func(_ context.Context, table string, keys ...attr.Item) error {
		steps = append(steps, "fetch "+table+" "+keys[0]["id"].Str())
		return nil
	})
	do := func(c *Call) (Work, error) {
		way := c.Query.OneOf("way", "none", "own", "page")
		if c.Request.Method == "PUT" {
			c.Status = 202
			c.Body().Text("name", 4)
		}
		switch {
		case c.GetHeader("X-Refuse") != "":
			return nil, fault.New(fault.Forbidden, "refused", "No.")
		case way == "own":
			return nil, JSON(c.Context, "its own", nil)
		case way == "page":
			c.Kind, c.Title = "call", "Call"
		}
		c.Needs = func(*store.Tx) ([]attr.Item, error) { return []attr.Item{{"id": attr.S(c.Param("id"))}}, nil }
		return func(*store.Tx) (any, error) {
			if steps = append(steps, "work"); way == "none" {
				return nil, nil
			}
			return c.User, nil
		}, nil
	}
	for _, method := range []string{"GET", "PUT"} {
		app.Routes = append(app.Routes, ensure.Route("rows", method, "/rows/:id", User, do))
	}
	cfg.Apps = []App{app}
	s := newServer(t, cfg)
	for _, tt := range []struct {
		method, query, body, refuse string
		status                      int
		has, steps                  string
	}{
		{"GET", "", "", "", 200, `"ann"`, "fetch rows r1, work"},
		{"HEAD", "", "", "", 200, "", "fetch rows r1, work"},
		{"GET", "?way=own", "", "", 200, `"its own"`, ""},
		{"GET", "?way=page", "", "", 200, "<p>ann</p>", "fetch rows r1, work"},
		{"GET", "?way=other", "", "", 400, `"field":"way"`, ""},
		{"PUT", "", `{"name":"x"}`, "", 202, `"ann"`, "fetch rows r1, work"},
		{"PUT", "?way=none", "", "", 204, "", "fetch rows r1, work"},
		{"PUT", "", `{"name":"longer"}`, "", 400, `"field":"name"`, ""},
		{"PUT", "", `{"other":1}`, "", 400, `"field":"other"`, ""},
		{"PUT", "?way=other", `{"name":"longer"}`, "", 400, `"field":"way"`, ""},
		{"PUT", "?way=other", `{"name":"longer"}`, "yes", 403, `"oops":"refused"`, ""},
	} {
		steps = nil
		w := web.Ask(s.Handler(), tt.method, "/calls/rows/r1"+tt.query, tt.body, "Authorization", "Bearer ann", "X-Refuse", tt.refuse)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.has) || strings.Join(steps, ", ") != tt.steps {
			t.Errorf("%s %s %s: %d %s after %q", tt.method, tt.query, tt.body, w.Code, w.Body, steps)
		}
	}
	stream := ensure.Route("rows", "GET", "/rows/stream", Optional, do)
	if !stream.Stream || slices.ContainsFunc(app.Routes[len(app.Routes)-2:], func(r Route) bool { return r.Stream }) {
		t.Error("a route is a stream if its path ends in /stream")
	}
}
