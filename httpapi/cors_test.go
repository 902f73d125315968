package httpapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
)

const webApp = "https://app.example"

func corsServer(t *testing.T, mount string, origins ...string) *Server {
	t.Helper()
	cfg, _, _ := config(t)
	cfg.Auth, cfg.CORS, cfg.Mount, cfg.Rate = verifier(t), origins, mount, RateConfig{PerMinute: 60, Burst: 10}
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
		"nobody is allowed":          {"/cricket", nil, "GET", "/cricket/matches", webApp, nil, 401, ""},
		"nobody, preflight":          {"/cricket", nil, "OPTIONS", "/cricket/matches", webApp, preflight, 405, ""},
		"allowed":                    {"/cricket", []string{webApp}, "GET", "/cricket/matches", webApp, []string{"Authorization", "Bearer " + token("u1")}, 200, webApp},
		"allowed, an error":          {"/cricket", []string{webApp}, "GET", "/cricket/matches", webApp, nil, 401, webApp},
		"allowed, unknown":           {"/cricket", []string{webApp}, "GET", "/cricket/nothing", webApp, nil, 404, webApp},
		"allowed, preflight":         {"/cricket", []string{webApp}, "OPTIONS", "/cricket/user/follow/1", webApp, preflight, 204, webApp},
		"allowed, another mount":     {"/", []string{webApp}, "OPTIONS", "/user/follow/1", webApp, preflight, 204, webApp},
		"another origin":             {"/cricket", []string{webApp}, "GET", "/cricket/matches", "https://evil.example", nil, 401, ""},
		"another, preflight":         {"/cricket", []string{webApp}, "OPTIONS", "/cricket/matches", "https://evil.example", preflight, 405, ""},
		"a longer name":              {"/cricket", []string{webApp}, "OPTIONS", "/cricket/matches", webApp + ".evil.example", preflight, 405, ""},
		"another scheme":             {"/cricket", []string{webApp}, "OPTIONS", "/cricket/matches", "http://app.example", preflight, 405, ""},
		"another port":               {"/cricket", []string{webApp}, "OPTIONS", "/cricket/matches", webApp + ":8443", preflight, 405, ""},
		"no origin at all":           {"/cricket", []string{webApp}, "OPTIONS", "/cricket/matches", "null", preflight, 405, ""},
		"in capitals":                {"/cricket", []string{webApp}, "OPTIONS", "/cricket/matches", "HTTPS://APP.EXAMPLE", preflight, 405, ""},
		"the star":                   {"/cricket", []string{"*"}, "GET", "/cricket/matches", "https://any.example", nil, 401, "*"},
		"the star, preflight":        {"/cricket", []string{"*"}, "OPTIONS", "/cricket/matches", "https://any.example", preflight, 204, "*"},
		"pages are our own":          {"/cricket", []string{webApp, "*"}, "GET", "/matches", webApp, []string{"X-API-Key", rigKey}, 200, ""},
		"signing in is our own":      {"/cricket", []string{webApp}, "POST", "/signin", webApp, nil, 403, ""},
		"no preflight to signing in": {"/", []string{webApp}, "OPTIONS", "/signin", webApp, preflight, 405, ""},
		"metrics are nobody's":       {"/", []string{webApp}, "GET", "/metrics", webApp, []string{"X-API-Key", rigKey}, 200, ""},
		"pages beside the root":      {"/", []string{webApp}, "GET", "/_/matches", webApp, []string{"X-API-Key", rigKey}, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := corsServer(t, tt.mount, tt.origins...)
			w := ask(s, tt.method, tt.path, "", append([]string{"Origin", tt.origin}, tt.headers...)...)
			h := w.Header()
			if w.Code != tt.status || h.Get("Access-Control-Allow-Origin") != tt.allowed {
				t.Fatalf("%d, %q: %s", w.Code, h.Get("Access-Control-Allow-Origin"), w.Body)
			}
			if h.Get("Access-Control-Allow-Credentials") != "" {
				t.Error("cookies may come along")
			}
			vary := strings.Join(h.Values("Vary"), ", ")
			if under := s.underMount(tt.path); under && len(tt.origins) > 0 && !slices.Contains(tt.origins, "*") && !strings.Contains(vary, "Origin") {
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

// What the module sets does not take away what stood there before, and is not shared between answers.
func TestCORSKeepsVary(t *testing.T) {
	s := corsServer(t, "/cricket", webApp)
	for range 3 {
		w := ask(s, "GET", "/cricket/matches", "", "Origin", webApp, "Accept-Encoding", "gzip", "X-API-Key", rigKey)
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
	cfg, _, _ := config(t)
	cfg.CORS = []string{"/.*/"}
	if _, err := New(cfg); !fault.Is(err, fault.Invalid) {
		t.Errorf("%v", err)
	}
}
