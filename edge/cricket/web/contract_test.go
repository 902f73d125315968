package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/httpapi"
)

// contract is the OpenAPI document that the answers of the tests are checked against. It is closed: an answer may have no member
// that the document does not name.
type contract struct {
	doc    *openapi3.T
	router routers.Router
}

var theContract = sync.OnceValues(func() (*contract, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		return nil, err
	}
	for _, s := range doc.Components.Schemas {
		if v := s.Value; v.Type.Is("object") && v.AdditionalProperties.Has == nil && v.AdditionalProperties.Schema == nil {
			no := false
			v.AdditionalProperties.Has = &no
		}
	}
	router, err := legacy.NewRouter(doc)
	return &contract{doc, router}, err
})

// checked wraps a server. It checks each answer under the mount against the document, and each request that succeeds.
func checked(t testing.TB, h http.Handler) http.Handler {
	t.Helper()
	c, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := []byte{}
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if strings.HasPrefix(r.URL.Path, "/cricket") && !strings.HasPrefix(r.URL.Path, "/cricket/-") {
			c.check(t, r, body, rec)
		}
		maps.Copy(w.Header(), rec.Header())
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	})
}

func (c *contract) check(t testing.TB, r *http.Request, body []byte, rec *httptest.ResponseRecorder) {
	t.Helper()
	ask := r.Clone(t.Context())
	ask.Body = io.NopCloser(bytes.NewReader(body))
	if ask.Method == http.MethodHead {
		ask.Method = http.MethodGet
	}
	if ask.URL.Path == "/cricket" {
		ask.URL.Path = "/cricket/"
	}
	ask.Host, ask.URL.Scheme, ask.URL.Host = "", "", ""
	route, params, err := c.router.FindRoute(ask)
	if err != nil { // no such route: only the error's shape is promised
		if rec.Code < 400 || r.Method != http.MethodHead && c.doc.Components.Schemas["APIError"].Value.VisitJSON(decoded(t, rec.Body.Bytes())) != nil {
			t.Errorf("%s %s is not in the document and answers %d: %s", r.Method, r.URL, rec.Code, rec.Body)
		}
		return
	}
	in := &openapi3filter.RequestValidationInput{
		Request: ask, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
	}
	if rec.Code < 300 {
		if len(body) > 0 && ask.Header.Get("Content-Type") == "" {
			ask.Header.Set("Content-Type", "application/json")
		}
		if err := openapi3filter.ValidateRequest(t.Context(), in); err != nil {
			t.Errorf("%s %s succeeds, but the document does not allow it: %v", r.Method, r.URL, err)
		}
	}
	if r.Method == http.MethodHead {
		return
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: rec.Code, Header: rec.Header(), Options: in.Options,
	}
	out.SetBodyBytes(rec.Body.Bytes())
	if strings.HasPrefix(rec.Header().Get("Content-Type"), "application/yaml") {
		return // the document itself, which TestDocumentIsServed reads
	}
	if err := openapi3filter.ValidateResponse(t.Context(), out); err != nil {
		t.Errorf("%s %s answers %d, which does not match the document: %v\n%s", r.Method, r.URL, rec.Code, err, rec.Body)
	}
}

func decoded(t testing.TB, body []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Errorf("%v: %s", err, body)
	}
	return v
}

var ginParam = regexp.MustCompile(`:(\w+)`)

// TestDocumentNamesEveryRoute compares the table of routes with the document, including the access levels.
func TestDocumentNamesEveryRoute(t *testing.T) {
	c, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	cfg, _, _ := config(t)
	var routes, documented []string
	newServer(t, cfg)
	all := append(cfg.Apps[0].Routes, httpapi.Route{Method: "GET", Path: "/openapi.yaml", Access: httpapi.Public}, httpapi.Route{Method: "GET", Path: "/openapi.json", Access: httpapi.Public})
	for _, r := range all {
		routes = append(routes, r.Method+" "+ginParam.ReplaceAllString(r.Path, "{$1}")+" "+map[httpapi.Access]string{httpapi.Public: "public", httpapi.User: "user", httpapi.Admin: "admin", httpapi.NodeAdmin: "admin"}[r.Access])
	}
	for path, item := range c.doc.Paths.Map() {
		for method, op := range item.Operations() {
			documented = append(documented, method+" "+path+" "+documentedAccess(c.doc, op))
			if op.Summary == "" || op.Responses.Default() == nil {
				t.Errorf("%s %s has no summary or no default response", method, path)
			}
		}
	}
	slices.Sort(routes)
	slices.Sort(documented)
	if diff := gocmp.Diff(routes, documented); diff != "" {
		t.Errorf("- the table of routes, + the document:\n%s", diff)
	}
}

func documentedAccess(doc *openapi3.T, op *openapi3.Operation) string {
	security := doc.Security
	if op.Security != nil {
		security = *op.Security
	}
	return []string{"public", "user", "admin"}[min(len(security), 2)]
}

// TestDocumentIsServed in both formats, with the address of the application.
func TestDocumentIsServed(t *testing.T) {
	for mount, want := range map[string]string{"": "/cricket", "/": "/", "/apps/c": "/apps/c"} {
		cfg, _, _ := config(t)
		cfg.App.Mount = mount
		h := newServer(t, cfg).Handler()
		var seen []*openapi3.T
		for _, name := range []string{"openapi.yaml", "openapi.json"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, strings.TrimSuffix(cmp.Or(mount, "/cricket"), "/")+"/"+name, nil))
			if w.Code != http.StatusOK || w.Header().Get("ETag") == "" {
				t.Fatalf("%s: %d %s", name, w.Code, w.Header())
			}
			doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := doc.Servers[0].URL; got != want {
				t.Errorf("%s under %q names the server %s, want %s", name, mount, got, want)
			}
			seen = append(seen, doc)
		}
		if a, b := seen[0].Paths.Len(), seen[1].Paths.Len(); a != b || a == 0 {
			t.Errorf("%d paths in YAML, %d in JSON", a, b)
		}
	}
}
