package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
)

// scenario is one request and everything that must be true of its answer.
type scenario struct {
	name    string
	method  string
	path    string
	header  map[string]string
	prepare func(*setup, *fake)
	status  int
	body    []string          // must be in it
	not     []string          // must not be
	headers map[string]string // "*": any; "": none
}

const problemType = "application/problem+json"

func broken(err error) func(*setup, *fake) { return func(_ *setup, f *fake) { f.fail = err } }

func scenarios() []scenario {
	browser := map[string]string{"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
	key := map[string]string{"X-API-Key": "key"}
	secret := errors.New("password=hunter2")
	return []scenario{
		{name: "list", path: "/cricket/matches", status: 200, headers: map[string]string{"Content-Type": jsonType, "ETag": "*", "Cache-Control": "private, no-cache"},
			body: []string{`{"items":[{"id":"1144530"`, `"cursor":null}`}},
		{name: "list filtered", path: "/cricket/matches?status=live&league=L1&from=2019-07-01&to=2019-07-31&limit=5", status: 200, body: []string{`"1144530"`}},
		{name: "list bad", path: "/cricket/matches?status=on&limit=0&from=yesterday", status: 400, headers: map[string]string{"Content-Type": jsonType},
			body: []string{`{"error":{"code":"validation"`, `"field":"status"`, `"field":"limit"`, `"field":"from"`}},
		{name: "list twice", path: "/cricket/matches?status=live&status=live", status: 400, body: []string{"is given 2 times"}},
		{name: "list to before from", path: "/cricket/matches?from=2019-07-14&to=2019-07-13", status: 400, body: []string{"lies before from"}},
		{name: "list encoding", path: "/cricket/matches?league=%zz", status: 400, body: []string{"validation"}},
		{name: "list cursor", path: "/cricket/matches?cursor=x", status: 400, body: []string{`"code":"bad_cursor"`}},
		{name: "match", path: "/cricket/matches/1144530", status: 200, body: []string{`"round":"Final"`}},
		{name: "match unknown", path: "/cricket/matches/7", status: 404, body: []string{`{"error":{"code":"match_not_found"`}},
		{name: "match id too long", path: "/cricket/matches/" + strings.Repeat("7", 65), status: 404, body: []string{"match_not_found"}},
		{name: "display", path: "/cricket/matches/1144530/display", status: 200, headers: map[string]string{"ETag": "*"},
			body: []string{`"equation":"need 9 from 3"`, `"runs":233`}},
		{name: "display head", method: http.MethodHead, path: "/cricket/matches/1144530/display", status: 200, headers: map[string]string{"ETag": "*"}},
		{name: "card", path: "/cricket/matches/1144530/card", status: 200, body: []string{`"howOut":"c Latham b Henry"`}},
		{name: "events", path: "/cricket/matches/1144530/events", status: 200, body: []string{`{"items":[{"key":"start"`, `"cursor":null`}},
		{name: "events unknown", path: "/cricket/matches/7/events", status: 404},
		{name: "stream unknown", path: "/cricket/matches/7/stream", status: 404, body: []string{"match_not_found"}},
		{name: "stream bad id", path: "/cricket/matches/1144530/stream?lastEventId=x", status: 400, body: []string{"lastEventId"}},

		{name: "application 404", path: "/cricket/nothing", status: 404, headers: map[string]string{"Content-Type": jsonType},
			body: []string{`{"error":{"code":"not_found"`}},
		{name: "application root", path: "/cricket", status: 200, body: []string{`"openapi":"/cricket/openapi.yaml"`}},
		{name: "application root with a slash", path: "/cricket/", status: 200, body: []string{`"version":"test"`}},
		{name: "application 404 to a browser", path: "/cricket/nothing", header: browser, status: 404, headers: map[string]string{"Content-Type": jsonType}},
		{name: "application 405", method: http.MethodPost, path: "/cricket/matches", status: 405,
			headers: map[string]string{"Allow": "GET, HEAD"}, body: []string{`{"error":{"code":"method_not_allowed"`}},
		{name: "application panic", path: "/cricket/matches/panic", status: 500, headers: map[string]string{"Content-Type": jsonType},
			body: []string{`{"error":{"code":"internal"`, `"requestId":"`}, not: []string{"a bug", "goroutine"}},
		{name: "unknown error", path: "/cricket/matches/1144530", prepare: broken(secret), status: 500,
			body: []string{`"code":"internal"`}, not: []string{"hunter2"}},
		{name: "damaged", path: "/cricket/matches/1144530", prepare: broken(fault.New(fault.Damaged, "damaged", "/home/x/db")), status: 500, not: []string{"/home/x"}},
		{name: "locked", path: "/cricket/matches/1144530", prepare: broken(fault.New(fault.Locked, "locked", "pid 7")), status: 503,
			headers: map[string]string{"Retry-After": "2"}, not: []string{"pid 7"}},
		{name: "full", path: "/cricket/matches/1144530", prepare: broken(fault.New(fault.Full, "full", "no room")), status: 503, headers: map[string]string{"Retry-After": "60"}},
		{name: "error with a retry time", path: "/cricket/matches/1144530", prepare: broken(soonError{fault.New(fault.Unavailable, "budget_entries", "too much waits")}),
			status: 503, headers: map[string]string{"Retry-After": "30"}, body: []string{"budget_entries"}},
		{name: "late", path: "/cricket/matches/1144530", prepare: broken(context.DeadlineExceeded), status: 503, headers: map[string]string{"Retry-After": "2"}},

		{name: "home", path: "/", status: 200, headers: map[string]string{"Content-Type": htmlType, "Cache-Control": "no-store", "Content-Security-Policy": "*"},
			body: []string{"<!doctype html>", "Need 9 from 3", `data-stream="/_/stream?app=cricket&amp;have=`}},
		{name: "home, nothing on", path: "/", prepare: func(_ *setup, f *fake) { clear(f.fixtures) }, status: 200, body: []string{"Nothing is on"}},
		{name: "home, featured", path: "/", prepare: func(c *setup, _ *fake) { c.App.Featured = func() string { return finalID } }, status: 200, body: []string{"Need 9 from 3"}},
		{name: "home, featured unknown", path: "/", prepare: func(c *setup, _ *fake) { c.App.Featured = func() string { return "7" } }, status: 200, body: []string{"Need 9 from 3"}},
		{name: "home, no display yet", path: "/", prepare: func(_ *setup, f *fake) { clear(f.displays) }, status: 200, body: []string{"England"}},
		{name: "match page", path: "/cricket/-/matches/1144530", status: 200, body: []string{"Need 9 from 3"}},
		{name: "list page", path: "/cricket/-/matches", status: 200, body: []string{"On now", `href="/cricket/-/matches/1144530"`}},
		{name: "match page unknown", path: "/cricket/-/matches/7", header: browser, status: 404, headers: map[string]string{"Content-Type": htmlType}, body: []string{"<h1>Not Found</h1>"}},
		{name: "page stream unknown", path: "/_/stream?app=cricket&page=7", status: 404, headers: map[string]string{"Content-Type": problemType}},
		{name: "asset of another version", path: "/_/assets/000000000000/page.css", status: 404},
		{name: "gallery is for development", path: "/_/gallery", status: 404},
		{name: "gallery", path: "/_/gallery", prepare: func(c *setup, _ *fake) { c.Development = true }, status: 200, body: []string{"Small parts", "Play stopped"}},
		{name: "scene", path: "/_/gallery/cricket/rain", prepare: func(c *setup, _ *fake) { c.Development = true }, status: 200, body: []string{"Rain stopped play"}},
		{name: "scene unknown", path: "/_/gallery/cricket/snow", prepare: func(c *setup, _ *fake) { c.Development = true }, status: 404},

		{name: "node 404", path: "/nothing", status: 404, headers: map[string]string{"Content-Type": problemType, "Cache-Control": "no-store"},
			body: []string{`"type":"about:blank"`, `"title":"Not Found"`, `"status":404`, `"instance":"/nothing"`, `"requestId":"`}},
		{name: "node 404 to a browser", path: "/nothing", header: browser, status: 404, headers: map[string]string{"Content-Type": htmlType}},
		{name: "node 405", method: http.MethodDelete, path: "/livez", status: 405, headers: map[string]string{"Content-Type": problemType, "Allow": "GET, HEAD"}},
		{name: "page broken, for a browser", path: "/", header: browser, prepare: broken(secret), status: 500,
			body: []string{"The operator finds it under request"}, not: []string{"hunter2"}},
		{name: "live", path: "/livez", status: 200, body: []string{"ok"}},
		{name: "ready", path: "/readyz", status: 200, body: []string{"ready"}},
		{name: "ready in words", path: "/readyz?verbose", prepare: ready(nil), status: 200, body: []string{"[+] store ok"}},
		{name: "not ready", path: "/readyz", prepare: ready(errors.New("read-only")), status: 503,
			headers: map[string]string{"Content-Type": problemType}, body: []string{"not ready: store"}},
		{name: "not ready in words", path: "/readyz?verbose", prepare: ready(errors.New("read-only")), status: 503, body: []string{"[-] store: read-only"}},
		{name: "ready with a warning", path: "/readyz", prepare: warned("no room"), status: 200, body: []string{"ready"}, not: []string{"no room"}},
		{name: "ready with a warning in words", path: "/readyz?verbose", prepare: warned("no room"), status: 200,
			body: []string{"[!] store: no room\nready"}, not: []string{"store ok"}},
		{name: "status", path: "/statusz", header: key, status: 200, body: []string{`"role":"leader"`, `"fence":7`, `"speed":"30x"`}},
		{name: "metrics", path: "/metrics", header: key, status: 200, body: []string{"# HELP touchline_http_stream_snapshots_total"}},
	}
}

func ready(err error) func(*setup, *fake) {
	return func(c *setup, _ *fake) {
		c.Ready = func(context.Context) []operator.Check { return []operator.Check{{Name: "store", Err: err}} }
	}
}

func warned(text string) func(*setup, *fake) {
	return func(c *setup, _ *fake) {
		c.Ready = func(context.Context) []operator.Check { return []operator.Check{{Name: "store", Warning: text}} }
	}
}

func TestRoutes(t *testing.T) {
	plain, _, _ := config(t)
	shared := newServer(t, plain)
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			s := shared
			if sc.prepare != nil {
				cfg, f, _ := config(t)
				sc.prepare(cfg, f)
				s = newServer(t, cfg)
			}
			method := sc.method
			if method == "" {
				method = http.MethodGet
			}
			r := httptest.NewRequest(method, sc.path, nil)
			for k, v := range sc.header {
				r.Header.Set(k, v)
			}
			w := httptest.NewRecorder()
			checked(t, s.Handler()).ServeHTTP(w, r)
			check(t, &sc, w)
		})
	}
}

func check(t *testing.T, sc *scenario, w *httptest.ResponseRecorder) {
	t.Helper()
	body := w.Body.String()
	if w.Code != sc.status {
		t.Fatalf("status %d, want %d: %s", w.Code, sc.status, body)
	}
	for _, want := range sc.body {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in %.600s", want, body)
		}
	}
	for _, no := range sc.not {
		if strings.Contains(body, no) {
			t.Errorf("%q leaked: %s", no, body)
		}
	}
	for k, want := range sc.headers {
		if got := w.Header().Get(k); got != want && (want != "*" || got == "") {
			t.Errorf("%s is %q, want %q", k, got, want)
		}
	}
	for _, k := range []string{"X-Request-Id", "Content-Security-Policy", "X-Content-Type-Options"} {
		if w.Header().Get(k) == "" {
			t.Errorf("no %s", k)
		}
	}
	if strings.Contains(w.Header().Get("Content-Security-Policy"), "unsafe") {
		t.Error("the content security policy allows inline code")
	}
	if strings.Contains(w.Header().Get("Content-Type"), "json") && !json.Valid(w.Body.Bytes()) && sc.method != http.MethodHead {
		t.Errorf("not JSON: %s", body)
	}
}

func TestETag(t *testing.T) {
	cfg, f, _ := config(t)
	h := newServer(t, cfg).Handler()
	const path = "/cricket/matches/1144530/display"
	ask := func(tag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("If-None-Match", tag)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	tag := ask("").Header().Get("ETag")
	for given, want := range map[string]int{
		tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, strings.Trim(tag, `"`): 200,
	} {
		if w := ask(given); w.Code != want || w.Header().Get("ETag") != tag {
			t.Errorf("If-None-Match %s: %d with %s, want %d with %s", given, w.Code, w.Header().Get("ETag"), want, tag)
		} else if want == 304 && w.Body.Len() > 0 {
			t.Errorf("304 with a body of %d bytes", w.Body.Len())
		}
	}
	d := f.displays[finalID]
	d.Equation = "need 3 from 2"
	f.displays[finalID] = d
	if w := ask(tag); w.Code != 200 || w.Header().Get("ETag") == tag {
		t.Errorf("a changed display answers %d with the old tag %s", w.Code, w.Header().Get("ETag"))
	}
}

func FuzzMatchFilter(f *testing.F) {
	for _, q := range []string{
		"", "status=live&limit=100", "from=2019-07-14&to=2019-07-14T09:30:00%2B05:30", "league=%00", "limit=1e3", "a=1;b=2",
		"from=0000-01-01&to=9999-12-31", "cursor=" + strings.Repeat("x", 2000),
	} {
		f.Add(q)
	}
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, q string) {
		m, err := parseMatchFilter(q)
		if err != nil {
			if httpapi.FailureOf(err).Status != http.StatusBadRequest || len(httpapi.FailureOf(err).Details) == 0 {
				t.Fatalf("%q: %v is not a validation error", q, err)
			}
			return
		}
		switch m.Status {
		case "", "upcoming", "live", "completed":
		default:
			t.Fatalf("%q: status %q", q, m.Status)
		}
		if m.Limit < 0 || m.Limit > bind.MaxLimit || len(m.Cursor) > bind.MaxCursor || len(m.League) > maxLeague {
			t.Fatalf("%q: out of bounds: %+v", q, m)
		}
		if !m.From.IsZero() && !m.To.IsZero() && m.To.Before(m.From) {
			t.Fatalf("%q: from %s to %s", q, m.From, m.To)
		}
	})
}

// soonError is an error with a retry time of its own.
type soonError struct{ error }

func (soonError) RetryAfter() time.Duration { return 30 * time.Second }

func (e soonError) Unwrap() error { return e.error }
