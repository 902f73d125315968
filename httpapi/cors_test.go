package httpapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
)

const webApp = "https://app.example"

func corsServer(t *testing.T, mount string, origins ...string) *Server {
	t.Helper()
	cfg, f := config(t)
	cfg.Auth, cfg.Apps[0].CORS, cfg.Rate = web.Verifier(t), origins, RateConfig{PerMinute: 60, Burst: 10}
	mountAt(t, cfg, f, mount)
	return newServer(t, cfg)
}

func TestCORS(t *testing.T) {
	preflight := []string{"Access-Control-Request-Method", "PATCH", "Access-Control-Request-Headers", "authorization"}
	for name, tt := range map[string]struct {
		mount   string
		origins []string
		method  string
		path    string
		origin  string
		headers []string
		status  int
		allowed string // Access-Control-Allow-Origin
	}{
		"nobody is allowed":          {"/counter", nil, "GET", "/counter/counts", webApp, nil, 401, ""},
		"nobody, preflight":          {"/counter", nil, "OPTIONS", "/counter/counts", webApp, preflight, 405, ""},
		"allowed":                    {"/counter", []string{webApp}, "GET", "/counter/counts", webApp, []string{"Authorization", "Bearer " + web.Token("u1")}, 200, webApp},
		"allowed, an error":          {"/counter", []string{webApp}, "GET", "/counter/counts", webApp, nil, 401, webApp},
		"allowed, unknown":           {"/counter", []string{webApp}, "GET", "/counter/nothing", webApp, nil, 404, webApp},
		"allowed, preflight":         {"/counter", []string{webApp}, "OPTIONS", "/counter/counts/c1", webApp, preflight, 204, webApp},
		"allowed, another mount":     {"/", []string{webApp}, "OPTIONS", "/counts/c1", webApp, preflight, 204, webApp},
		"another origin":             {"/counter", []string{webApp}, "GET", "/counter/counts", "https://evil.example", nil, 401, ""},
		"another, preflight":         {"/counter", []string{webApp}, "OPTIONS", "/counter/counts", "https://evil.example", preflight, 405, ""},
		"a longer name":              {"/counter", []string{webApp}, "OPTIONS", "/counter/counts", webApp + ".evil.example", preflight, 405, ""},
		"another scheme":             {"/counter", []string{webApp}, "OPTIONS", "/counter/counts", "http://app.example", preflight, 405, ""},
		"another port":               {"/counter", []string{webApp}, "OPTIONS", "/counter/counts", webApp + ":8443", preflight, 405, ""},
		"no origin at all":           {"/counter", []string{webApp}, "OPTIONS", "/counter/counts", "null", preflight, 405, ""},
		"in capitals":                {"/counter", []string{webApp}, "OPTIONS", "/counter/counts", "HTTPS://APP.EXAMPLE", preflight, 405, ""},
		"the star":                   {"/counter", []string{"*"}, "GET", "/counter/counts", "https://any.example", nil, 401, "*"},
		"the star, preflight":        {"/counter", []string{"*"}, "OPTIONS", "/counter/counts", "https://any.example", preflight, 204, "*"},
		"pages are our own":          {"/counter", []string{webApp, "*"}, "GET", "/counter/-/", webApp, []string{"X-API-Key", web.Key}, 200, ""},
		"signing in is our own":      {"/counter", []string{webApp}, "POST", "/signin", webApp, nil, 403, ""},
		"no preflight to signing in": {"/", []string{webApp}, "OPTIONS", "/signin", webApp, preflight, 405, ""},
		"metrics are nobody's":       {"/", []string{webApp}, "GET", "/metrics", webApp, []string{"X-API-Key", web.Key}, 200, ""},
		"pages beside the root":      {"/", []string{webApp}, "GET", "/-/", webApp, []string{"X-API-Key", web.Key}, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := corsServer(t, tt.mount, tt.origins...)
			w := web.Ask(s.Handler(), tt.method, tt.path, "", append([]string{"Origin", tt.origin}, tt.headers...)...)
			h := w.Header()
			if w.Code != tt.status || h.Get("Access-Control-Allow-Origin") != tt.allowed {
				t.Fatalf("%d, %q: %s", w.Code, h.Get("Access-Control-Allow-Origin"), w.Body)
			}
			if h.Get("Access-Control-Allow-Credentials") != "" {
				t.Error("cookies may come along")
			}
			vary := strings.Join(h.Values("Vary"), ", ")
			if under := s.appAt(tt.path) != nil; under && len(tt.origins) > 0 && !slices.Contains(tt.origins, "*") && !strings.Contains(vary, "Origin") {
				t.Errorf("Vary: %s", vary)
			}
			if tt.method == "OPTIONS" && tt.allowed != "" {
				if !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization") ||
					!strings.Contains(h.Get("Access-Control-Allow-Methods"), "PATCH") || h.Get("RateLimit-Limit") != "" {
					t.Errorf("%v", h)
				}
			}
			if tt.method == "GET" && tt.allowed != "" && !strings.Contains(h.Get("Access-Control-Expose-Headers"), "Ratelimit-Remaining") {
				t.Errorf("%v", h)
			}
		})
	}
}

// The cors module neither removes existing Vary values nor shares its slice between answers.
func TestCORSKeepsVary(t *testing.T) {
	s := corsServer(t, "/counter", webApp)
	for range 3 {
		w := web.Ask(s.Handler(), "GET", "/counter/counts", "", "Origin", webApp, "Accept-Encoding", "gzip", "X-API-Key", web.Key)
		vary := strings.Split(strings.Join(w.Header().Values("Vary"), ", "), ", ")
		slices.Sort(vary)
		if !slices.Contains(vary, "Origin") || !slices.Contains(vary, "Accept-Encoding") || len(slices.Compact(slices.Clone(vary))) != len(vary) {
			t.Errorf("%d, Vary %q", w.Code, vary)
		}
	}
}

func TestValidOrigin(t *testing.T) {
	for origin, want := range map[string]bool{
		"https://app.example": true, "http://localhost:3000": true, "http://[::1]:3000": true, "*": true,
		"": false, "app.example": false, "https://app.example/": false, "https://app.example/x": false, "https://*.example": false,
		"https://App.example": false, "ftp://app.example": false, "null": false, "https://": false, "/.*/": false, "https://a.example https://b.example": false,
		"https://user@app.example": false, "https://app.example?x": false, "https://app.example#x": false, " https://app.example": false,
	} {
		if ValidOrigin(origin) != want {
			t.Errorf("%q: %t", origin, !want)
		}
	}
	cfg, _ := config(t)
	cfg.Apps[0].CORS = []string{"/.*/"}
	if _, err := New(*cfg); !fault.Is(err, fault.Invalid) {
		t.Errorf("%v", err)
	}
}
