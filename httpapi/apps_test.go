package httpapi

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store/storetest"
)

// two returns a server with two counters over one store, "counter" at /counter and "tally" at /tally.
func two(t *testing.T) (*Config, *counter, *counter) {
	t.Helper()
	cfg, f := config(t)
	other := newCounter(t, "tally", f.store)
	other.counts["c1"] = 40
	app := other.app(t, "/tally")
	app.Strict = false
	app.Problem = func(f *Failure) any { return map[string]any{"oops": "tally:" + f.Code} }
	app.CORS, app.Rate = []string{"https://tally.example"}, RateConfig{PerMinute: 60, Burst: 3}
	app.Scenes = nil
	cfg.Apps = append(cfg.Apps, app)
	cfg.Auth = web.ByName{Silent: web.Staff()}
	return cfg, f, other
}

// Two applications in one server have their own routes, errors, bodies, limits, origins, documents and pages.
func TestTwoApplications(t *testing.T) {
	cfg, _, _ := two(t)
	cfg.Development = true
	s := newServer(t, cfg)
	html := []string{"Accept", "text/html"}
	for _, tt := range []struct {
		method, path, body string
		headers            []string
		status             int
		want               string
	}{
		{"GET", "/counter/counts/c1", "", nil, 200, `{"n":3}`},
		{"GET", "/tally/counts/c1", "", nil, 200, `{"n":40}`},
		{"GET", "/counter/counts/c2", "", nil, 404, `"oops":"no_count"`},
		{"GET", "/counter/nothing", "", nil, 404, `"oops":"not_found"`},
		{"PUT", "/counter/counts/c1", "", nil, 405, `"oops":"method_not_allowed"`},
		{"POST", "/counter/counts/c1", `{"by":"` + strings.Repeat("x", 64<<10) + `"}`, nil, 413, `"oops":"too_large"`},
		{"GET", "/counter/counts/panic", "", nil, 500, `"oops":"internal"`},
		{"POST", "/counter/counts/c1", `{"by":2,"of":1}`, nil, 400, `{"field":"of","message":"is not known here"}`},
		{"POST", "/tally/counts/c1", `{"by":2,"of":1}`, nil, 201, `{"by":2}`},
		{"GET", "/tally/nothing", "", nil, 404, `{"oops":"tally:not_found"}`},
		{"GET", "/counterfeit", "", nil, 404, `"type":"about:blank"`},
		{"GET", "/counter/openapi.yaml", "", nil, 200, `- url: "/counter"`},
		{"GET", "/tally/openapi.json", "", nil, 200, `{"url":"/tally"}`},
		{"GET", "/_/docs", "", html, 200, `href="/_/docs/tally"`},
		{"GET", "/_/docs/tally", "", html, 200, `data-document="/tally/openapi.json"`},
		{"GET", "/_/docs/none", "", nil, 404, "no such document"},
		{"GET", "/", "", html, 200, `<a href="/tally/-/">The tally</a>`},
		{"GET", "/", "", html, 200, `href="/counter/-/counts/c1"><span class="tile__line">counter one`},
		{"GET", "/_/", "", html, 200, "tally one"},
		{"GET", "/counter/-/", "", html, 200, `<p data-part="count">0</p>`},
		{"GET", "/counter/-/counts/c1", "", html, 200, `<p data-part="count">3</p>`},
		{"GET", "/tally/-/counts/c1", "", html, 200, `<p data-part="count">40</p>`},
		{"GET", "/tally/-/counts/c1", "", html, 200, `<a href="/">Home</a> <a href="/tally/-/">Counts</a> <a href="/_/hub">Status</a>`},
		{"GET", "/tally/-/counts/c2", "", html, 404, "<h1>Not Found</h1>"},
		{"GET", "/tally/-/nothing", "", nil, 404, `"type":"about:blank"`},
		{"GET", "/tallys/c1?a=b", "", nil, 308, `href="/tally/-/tallys/c1?a=b"`},
		{"GET", "/hub?a=b", "", nil, 308, `href="/_/hub?a=b"`},
		{"GET", "/docs", "", nil, 308, `href="/_/docs"`},
		{"GET", "/_/hub", "", html, 200, "The counter counts too fast."},
		{"GET", "/_/hub", "", html, 200, "The tally: Counts of tally"},
		{"GET", "/_/hub", "", html, 200, `<th scope="row">The counter</th><td class="num" data-head="State">1 problem, see above</td>`},
		{"GET", "/_/api/hub", "", nil, 200, `{"name":"counter","title":"The counter","problems":1,"requests":8,"failed":1}`},
		{"GET", "/_/api/hub", "", nil, 200, `"apps":{"counter":{"counts":1},"tally":{"counts":1}}`},
		{"GET", "/_/api/hub", "", nil, 200, `"problems":["The counter counts too fast.","The tally counts too fast."]`},
		{"GET", "/_/api/sync", "", nil, 200, `"state":"none"`},
		{"GET", "/counter/sync", "", nil, 200, `"state":"none"`},
		{"GET", "/_/api/conflicts/1", "", nil, 404, `"type":"about:blank"`},
		{"GET", "/counter/conflicts/1", "", nil, 404, `"oops":"no_cloud"`},
		{"GET", "/statusz", "", nil, 200, `"counter.version":7`},
		{"GET", "/_/gallery", "", html, 200, "One count"},
		{"GET", "/_/gallery/counter/one", "", html, 200, "the count of one"},
		{"GET", "/_/gallery/tally/one", "", nil, 404, "no such scene"},
	} {
		w := web.Ask(s.Handler(), tt.method, tt.path, tt.body, tt.headers...)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s %s: %d, want %d with %s: %s", tt.method, tt.path, w.Code, tt.status, tt.want, w.Body)
		}
	}
	for path, allowed := range map[string]string{"/tally/counts": "https://tally.example", "/counter/counts": "", "/tally/-/": ""} {
		w := web.Ask(s.Handler(), "GET", path, "", "Origin", "https://tally.example")
		if got := w.Header().Get("Access-Control-Allow-Origin"); got != allowed {
			t.Errorf("%s allows %q", path, got)
		}
	}
	for range 5 {
		web.Ask(s.Handler(), "GET", "/tally/counts", "")
	}
	if w := web.Ask(s.Handler(), "GET", "/tally/counts", ""); w.Code != http.StatusTooManyRequests || web.Code(w) != "tally:rate_limited" {
		t.Errorf("the tally is not limited: %d %s", w.Code, w.Body)
	}
	if w := web.Ask(s.Handler(), "GET", "/counter/counts", ""); w.Code != http.StatusOK {
		t.Errorf("the counter is limited with it: %d %s", w.Code, w.Body)
	}
}

// A browser at an application's mount is redirected to its pages, unless the application has a route there.
func TestBrowserAtAMount(t *testing.T) {
	cfg, _, _ := two(t)
	tally := &cfg.Apps[1]
	tally.Routes = slices.DeleteFunc(tally.Routes, func(r Route) bool { return r.Path == "/" })
	s := newServer(t, cfg)
	for path, status := range map[string]int{"/tally": http.StatusSeeOther, "/tally/": http.StatusSeeOther, "/counter": http.StatusOK, "/talk": http.StatusNotFound} {
		w := web.Ask(s.Handler(), "GET", path, "", "Accept", "text/html")
		if to := w.Header().Get("Location"); w.Code != status || status == http.StatusSeeOther && to != "/tally/-/" {
			t.Errorf("%s: %d to %q", path, w.Code, to)
		}
	}
	if w := web.Ask(s.Handler(), "GET", "/tally", ""); w.Code != http.StatusNotFound {
		t.Errorf("a program: %d", w.Code)
	}
}

// A node with one application shows that one's first page.
func TestOneApplicationIsTheFirstPage(t *testing.T) {
	cfg, f := config(t)
	for mount, path := range map[string]string{"/counter": "/", "/": "/-/"} {
		mountAt(t, cfg, f, mount)
		s := newServer(t, cfg)
		if w := web.Ask(s.Handler(), "GET", path, "", "Accept", "text/html"); !strings.Contains(w.Body.String(), `<p data-part="count">0</p>`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if w := web.Ask(s.Handler(), "GET", "/_/", "", "Accept", "text/html"); !strings.Contains(w.Body.String(), "counter one") {
			t.Errorf("the list beside %s: %d %s", mount, w.Code, w.Body)
		}
	}
}

// One of several applications may be mounted at "/": its pages are at /-/, the list is at /_/, and its former pages were below /_.
func TestAnApplicationAtTheRoot(t *testing.T) {
	cfg, f, _ := two(t)
	mountAt(t, cfg, f, "/")
	s := newServer(t, cfg)
	for path, want := range map[string]string{
		"/": `{"name":"counter"}`, "/counts/c1": `{"n":3}`, "/nothing": `"oops":"not_found"`, "/tally/nothing": `"oops":"tally:not_found"`,
		"/tally/counts/c1": `{"n":40}`, "/-/counts/c1": `<p data-part="count">3</p>`, "/tally/-/counts/c1": `<p data-part="count">40</p>`,
		"/_/": `<a href="/-/">The counter</a>`, "/_/nothing": `"type":"about:blank"`, "/-/nothing": `"type":"about:blank"`,
		"/_/counters/c1": `href="/-/counters/c1"`, "/livez": "ok", "/openapi.yaml": `- url: "/"`,
	} {
		if w := web.Ask(s.Handler(), "GET", path, ""); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: no %s in %d %.300s", path, want, w.Code, w.Body)
		}
	}
}

// A failure in one application leaves the other's routes, streams, pages and its parts of the node's pages working.
func TestAnErrorInOneApplication(t *testing.T) {
	cfg, f, other := two(t)
	var said bytes.Buffer
	cfg.Logger = slog.New(slog.NewTextHandler(&said, nil))
	s := newServer(t, cfg)
	url, stop := web.Run(t, s)
	stream := web.Open(t, url+"/tally/counts/c1/stream", nil)
	stream.Until(web.Named(frameCount))
	all := web.Open(t, url+"/tally/stream", nil)
	all.Next()
	broken := web.Open(t, url+"/counter/stream", nil)
	broken.Next()
	f.mu.Lock()
	f.fail, f.panicOn = errors.New("the disk of the counter"), "c1"
	f.mu.Unlock()
	storetest.Put(t, f.store, "counter-bug", storetest.Item("id", "c1"))
	storetest.Put(t, f.store, "counter-odd", storetest.Item("id", "c1"))
	f.note("c1", 1) // same name as the other's
	other.note("c1", 2)
	if m := stream.Until(web.Named(frameNote))[0]; m.Data != noteText(2) {
		t.Errorf("the tally's stream says %+v", m)
	}
	if m := all.Until(web.Named(frameNote))[0]; m.Data != noteText(2) {
		t.Errorf("the stream of the whole tally says %+v", m)
	}
	for path, want := range map[string]string{
		"/counter/counts": `"oops":"internal"`, "/tally/counts": `{"items":["c1"]`, "/tally/-/counts/c1": `<p data-part="count">40</p>`,
		"/_/hub": "The counter: its state could not be read.", "/_/": "tally one", "/_/api/hub": `"tally":{"counts":1}`,
		"/readyz": "ready",
	} {
		w := web.Ask(s.Handler(), "GET", path, "", "RemoteAddr", "127.0.0.1:1")
		if body := w.Body.String(); !strings.Contains(body, want) || strings.Contains(body, "the disk of") {
			t.Errorf("%s: no %s in %d %.600s", path, want, w.Code, body)
		}
	}
	stream.Close()
	all.Close()
	broken.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{`app=counter`, "a bug of counter", "a bug of all of counter", "not understood"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%s was not logged: %s", want, said.String())
		}
	}
}

// Pages of two applications follow topics of the same name, each its own.
func TestPagesOfTwoApplications(t *testing.T) {
	cfg, f, other := two(t)
	cfg.PageTick = time.Hour
	url, _ := start(t, cfg)
	mine := web.Open(t, url+"/_/stream?app=counter&page=c1", map[string]string{"Last-Event-ID": "1"})
	theirs := web.Open(t, url+"/_/stream?app=tally&page=c1", map[string]string{"Last-Event-ID": "1"})
	mine.Until(web.Named("parts"))
	theirs.Until(web.Named("parts"))
	f.count("c1", 4)
	other.count("c1", 41)
	if m := mine.Until(web.Named("parts"))[0]; !strings.Contains(m.Data, `"counter 4 · touchline"`) {
		t.Errorf("%+v", m)
	}
	if m := theirs.Until(web.Named("parts"))[0]; !strings.Contains(m.Data, `"tally 41 · touchline"`) {
		t.Errorf("%+v", m)
	}
	for path, want := range map[string]int{"/_/stream?page=c1": 404, "/_/stream?app=none": 404, "/_/stream?app=tally&page=" + strings.Repeat("x", 300): 404} {
		if c := web.Open(t, url+path, nil); c.Resp.StatusCode != want {
			t.Errorf("%s: %s", path, c.Resp.Status)
		}
	}
}

// Applications with overlapping mounts are refused.
func TestPlacesAreDistinct(t *testing.T) {
	for _, at := range [][2]string{{"/counter", "counter"}, {"/counter/x", "other"}, {"/other", "counter"}} {
		cfg, f := config(t)
		app := newCounter(t, at[1], f.store).app(t, at[0])
		cfg.Apps = append(cfg.Apps, app)
		if _, err := New(*cfg); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", at, err)
		}
	}
}

// The page of the documents is among the node's pages, names the document's address, and its files are immutable.
func TestDocs(t *testing.T) {
	for mount, at := range map[string][2]string{"/counter": {"/_/docs", "/counter/openapi.json"}, "/": {"/_/docs", "/openapi.json"}} {
		cfg, f := config(t)
		mountAt(t, cfg, f, mount)
		h := newServer(t, cfg).Handler()
		get := func(path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
			return w
		}
		if w := get(at[0]); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `data-document="`+at[1]+`"`) {
			t.Errorf("%s under %s: %d %s", at[0], mount, w.Code, w.Body)
		}
		for name, kind := range docsFiles() {
			w := get("/_/docs/" + swaggerVersion + "/" + name)
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != kind || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d %s", name, w.Code, w.Header())
			}
		}
		if w := get("/_/docs/1/init.js"); w.Code != http.StatusNotFound {
			t.Errorf("another version: %d", w.Code)
		}
		if w := get("/_/docs/" + swaggerVersion + "/docs.html"); w.Code != http.StatusNotFound {
			t.Errorf("the template: %d", w.Code)
		}
	}
}
