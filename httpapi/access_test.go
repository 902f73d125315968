package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/testrig/web"
)

// Every route, called by every kind of caller. New routes are covered automatically.
func TestEveryRoute(t *testing.T) {
	for _, mount := range []string{"/counter", "/"} {
		cfg, f := config(t)
		cfg.Auth, cfg.Development = web.Verifier(t), true
		mountAt(t, cfg, f, mount)
		s := newServer(t, cfg)
		all := web.NewCallers(t)
		levels := map[Access]string{Public: "public", Optional: "public", Guest: "user", User: "user", Admin: "admin", NodeAdmin: "admin"}
		for _, r := range s.table() {
			for _, path := range r.paths {
				all.Ask(t, s.Handler(), r.Method, web.Filled(path, "c1"), levels[r.Access])
			}
		}
	}
}

// A token cookie counts for reading pages and streams; for anything else, our own pages must have sent it. What else a request says about
// its caller is not an identity.
func TestCookiesAndOtherClaims(t *testing.T) {
	cfg, _ := config(t)
	cfg.Auth = web.Verifier(t)
	s := newServer(t, cfg)
	bearer := func(token string, more ...string) []string {
		return append([]string{"Authorization", "Bearer " + token}, more...)
	}
	cookie := func(token string, more ...string) []string {
		return append([]string{"Cookie", tokenCookie + "=" + token}, more...)
	}
	own := []string{"Sec-Fetch-Site", "same-origin"}
	user, admin := web.Token("u1"), web.AdminToken()
	const in, out, refused = web.In, web.SignIn, web.Refused
	for name, tt := range map[string]struct {
		headers               []string
		user, admin, pageLike string // what routes for users and admins, and a user's page and stream, answer
	}{
		"a user of another group":                      {bearer(web.Token("u1", "cognito:groups", []string{"Admin", "admins", "scorers"})), in, refused, in},
		"a user and the API key":                       {bearer(user, "X-API-Key", web.Key), in, in, in},
		"the API key as a token":                       {bearer(web.Key), out, out, out},
		"a cookie":                                     {cookie(user), out, out, in},
		"an admin's cookie":                            {cookie(admin), out, out, in},
		"from our page":                                {cookie(admin, own...), in, in, in},
		"from our page, an older browser":              {cookie(user, "Origin", "http://example.com"), in, refused, in},
		"from our page, through a proxy":               {cookie(admin, append(own, "Origin", "https://touchline.example")...), in, in, in},
		"from another site":                            {cookie(admin, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"), out, out, out},
		"from another site, an older browser":          {cookie(admin, "Origin", "https://evil.example"), out, out, out},
		"from a sibling":                               {cookie(admin, "Sec-Fetch-Site", "same-site", "Origin", "http://a.example.com"), out, out, out},
		"from a file":                                  {cookie(admin, "Origin", "null"), out, out, out},
		"from a longer origin":                         {cookie(admin, "Origin", "http://example.com.evil.example"), out, out, out},
		"from an origin with a user":                   {cookie(admin, "Origin", "http://evil.example@example.com"), out, out, out},
		"from an origin with a path":                   {cookie(admin, "Origin", "http://example.com/"), out, out, out},
		"an expired cookie":                            {cookie(web.Token("u1", "exp", 1_700_000_000), own...), out, out, out},
		"two cookies":                                  {cookie(user, append(own, "Cookie", tokenCookie+"="+admin)...), out, out, out},
		"a cookie, and a bad token":                    {cookie(admin, append(own, "Authorization", "Bearer x")...), out, out, out},
		"a cookie with another name":                   {append([]string{"Cookie", "token=" + admin}, own...), out, out, out},
		"the API key under another spelling of header": {[]string{"X_API_KEY", web.Key, "X-Api-Key ", web.Key}, out, out, out},
		"headers of a proxy": {[]string{
			"X-Forwarded-For", "127.0.0.1", "X-Real-Ip", "127.0.0.1", "Forwarded", "for=127.0.0.1", "X-Forwarded-User", "boss",
			"X-Amzn-Oidc-Identity", "boss", "X-Forwarded-Access-Token", admin, "Proxy-Authorization", "Bearer " + admin,
		}, out, out, out},
	} {
		for path, want := range map[string]string{
			"/counter/counts": tt.user, "/counter/admin/things": tt.admin, "/counter/-/counts/c1": tt.pageLike, streamPath: tt.pageLike,
		} {
			if w := web.Ask(s.Handler(), "GET", path, "", tt.headers...); web.Verdict(w) != want {
				t.Errorf("%s, %s: %d %s, want %s", name, path, w.Code, w.Body, want)
			}
		}
	}
}

// Routes that change something, or show private data, are not public; and nothing outside the table is served.
func TestLevels(t *testing.T) {
	cfg, _ := config(t)
	cfg.Development = true
	s := newServer(t, cfg)
	known := map[string]bool{}
	for _, r := range s.table() {
		if r.Access < Public || r.Access > NodeAdmin {
			t.Errorf("%s %s has no level", r.Method, r.Path)
		}
		for _, path := range r.paths {
			switch {
			case r.app != nil && s.appAt(path) == nil && r.Access < User, path == "/_/stream" && r.Access != User, path == "/_/" && r.Access != User:
				t.Errorf("%s shows to anybody what is a user's", path)
			case (path == "/statusz" || path == "/metrics" || path == "/_/hub" || strings.HasPrefix(path, "/_/api/")) && r.Access != NodeAdmin:
				t.Errorf("%s shows the node to anybody", path)
			case (path == "/livez" || path == "/readyz") && r.Access != Public:
				t.Errorf("%s is not for everybody", path)
			}
			known[r.Method+" "+path] = true
			if r.Method == http.MethodGet && !r.Stream {
				known[http.MethodHead+" "+path] = true
			}
		}
	}
	engine, ok := s.routes().(*gin.Engine)
	if !ok {
		t.Fatal("the routes are no gin engine")
	}
	for _, r := range engine.Routes() {
		if !known[r.Method+" "+r.Path] {
			t.Errorf("%s %s is in no table", r.Method, r.Path)
		}
	}
	if w := web.Ask(s.Handler(), "GET", "/livez", ""); w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	if err := permit(0, auth.Identity{Admin: true, Subject: "boss"}, nil); err == nil {
		t.Error("a route whose level was forgotten lets an admin in")
	}
}

// A node without sign-in admits callers only to public routes.
func TestNobodyCanSignIn(t *testing.T) {
	cfg, _ := config(t)
	cfg.Auth = nil
	s := newServer(t, cfg)
	for _, r := range s.table() {
		for _, path := range r.paths {
			w := web.Ask(s.Handler(), r.Method, web.Filled(path, "c1"), "{}", "Authorization", "Bearer "+web.AdminToken(), "X-API-Key", "", "Content-Type", "text/plain")
			if want := r.Access >= Guest; (web.Verdict(w) == web.SignIn) != want {
				t.Errorf("%s %s: %d %s", r.Method, path, w.Code, w.Body)
			}
		}
	}
}

// In development, a header identifies the caller of applications that configure one. Credentials take precedence, it makes nobody an
// admin, and other applications ignore it.
func TestUserHeader(t *testing.T) {
	for _, tt := range []struct {
		tokens             bool
		header, path, with string
		want               int
	}{
		{true, "X-User-Id", "/counter/counts", "", http.StatusOK},
		{true, "X-User-Id", "/counter/admin/things", "", http.StatusForbidden},
		{true, "X-User-Id", "/counter/counts", "Bearer bad", http.StatusUnauthorized},
		{true, "X-User-Id", "/counter/admin/things", "Bearer admin", http.StatusNotFound},
		{true, "X-User-Id", "/statusz", "", http.StatusUnauthorized},
		{true, "X-Other", "/counter/counts", "", http.StatusUnauthorized},
		{true, "", "/counter/counts", "", http.StatusUnauthorized},
		{false, "X-User-Id", "/counter/counts", "", http.StatusUnauthorized},
	} {
		cfg, _ := config(t)
		cfg.Auth, cfg.Tokens, cfg.Apps[0].SignIn.Header = web.ByName{}, tt.tokens, tt.header
		headers := []string{"X-User-Id", "u7"}
		if tt.with != "" {
			headers = append(headers, "Authorization", tt.with)
		}
		if w := web.Ask(newServer(t, cfg).Handler(), "GET", tt.path, "", headers...); w.Code != tt.want {
			t.Errorf("%+v: %d %s", tt, w.Code, w.Body)
		}
	}
}

// A browser is redirected to sign in and back to where it was going; a program gets an error.
func TestSentToSignIn(t *testing.T) {
	cfg, _ := config(t)
	cfg.Auth = web.Verifier(t)
	s := newServer(t, cfg)
	e := gin.New()
	e.Use(s.enter, guard)
	e.GET("/staff", s.allow(Admin), func(c *gin.Context) { c.String(http.StatusOK, "hello") })
	get := func(headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/staff?x=1&y=%2F%2Fevil", nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		return w
	}
	w := get("Accept", "text/html,*/*")
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || w.Code != http.StatusSeeOther || to.Path != "/signin" || to.Query().Get("to") != "/staff?x=1&y=%2F%2Fevil" {
		t.Errorf("%d to %s", w.Code, to)
	}
	if w := get("Accept", "application/json"); w.Code != http.StatusUnauthorized {
		t.Errorf("a program: %d", w.Code)
	}
	if w := get("Accept", "text/html", "Cookie", tokenCookie+"="+web.Token("u1")); w.Code != http.StatusForbidden {
		t.Errorf("a user's browser: %d", w.Code)
	}
	if w := get("Accept", "text/html", "Cookie", tokenCookie+"="+web.AdminToken(), "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"); w.Code != http.StatusOK {
		t.Errorf("an admin's browser: %d", w.Code)
	}
}

// The challenge describes the error in a machine-readable way that is a valid header.
func TestChallenge(t *testing.T) {
	cfg, _ := config(t)
	cfg.Auth = web.Verifier(t)
	s := newServer(t, cfg)
	for _, tt := range []struct{ header, want string }{
		{"", `Bearer realm="touchline"`},
		{"Bearer " + web.Token("u1", "aud", "other"), `Bearer realm="touchline", error="invalid_token", error_description="The token is for another app: ` +
			`its aud is none of the configured client ids."`},
		{"Bearer x\"y\\z", `Bearer realm="touchline", error="invalid_token", error_description="That is not a token: a JWT has three base64url parts separated by dots."`},
	} {
		var headers []string
		if tt.header != "" {
			headers = []string{"Authorization", tt.header}
		}
		w := web.Ask(s.Handler(), "GET", "/counter/counts", "", headers...)
		if got := w.Header().Get("WWW-Authenticate"); got != tt.want || w.Code != http.StatusUnauthorized {
			t.Errorf("%d %s, want %s", w.Code, got, tt.want)
		}
	}
}

// An admin of one application is a user of the node and of the other applications; an admin of the node is admin everywhere.
func TestAdminOfOneApplication(t *testing.T) {
	const asked = http.StatusNotFound // an admin is told that there is no such thing
	routes := map[string]struct{ ofCounter, ofNode int }{
		"/counter/admin/things": {asked, asked},
		"/tally/admin/things":   {http.StatusForbidden, asked},
		"/counter/sync":         {http.StatusForbidden, http.StatusOK},
		"/counter/conflicts":    {http.StatusForbidden, http.StatusOK},
		"/_/api/hub":            {http.StatusForbidden, http.StatusOK},
		"/_/api/sync":           {http.StatusForbidden, http.StatusOK},
		"/_/hub":                {http.StatusForbidden, http.StatusOK},
		"/statusz":              {http.StatusForbidden, http.StatusOK},
		"/metrics":              {http.StatusForbidden, http.StatusOK},
	}
	ask := func(adminOf ...string) func(path string) int {
		cfg, _ := config(t)
		cfg.Apps = append(cfg.Apps, newCounter(t, "tally", cfg.Store).app(t, "/tally"))
		cfg.Auth = web.ByName{Silent: auth.Identity{Subject: "gina", Admin: true, AdminOf: adminOf}}
		s := newServer(t, cfg)
		return func(path string) int { return web.Ask(s.Handler(), "GET", path, "").Code }
	}
	ofCounter, ofNode, ofBoth := ask("counter"), ask(), ask("counter", auth.AdminOfNode)
	for path, want := range routes {
		if got := ofCounter(path); got != want.ofCounter {
			t.Errorf("%s, an admin of the counter: %d, want %d", path, got, want.ofCounter)
		}
		if got := ofNode(path); got != want.ofNode {
			t.Errorf("%s, an admin of the node: %d, want %d", path, got, want.ofNode)
		}
		if got := ofBoth(path); got != want.ofNode {
			t.Errorf("%s, an admin of the node by name: %d, want %d", path, got, want.ofNode)
		}
	}
}

// On a development node an application's header names the user of local requests alone: behind a proxy anybody could be anybody.
func TestUserHeaderOfForwardedRequests(t *testing.T) {
	cfg, _ := config(t)
	cfg.Auth, cfg.Tokens = web.ByName{}, true
	cfg.Apps[0].SignIn.Header = "X-User-Id"
	s := newServer(t, cfg)
	ask := func(headers ...string) int {
		return web.Ask(s.Handler(), "GET", "/counter/counts", "", append(headers, "X-User-Id", "ana")...).Code
	}
	if got := ask(); got != http.StatusOK {
		t.Errorf("a local request: %d", got)
	}
	for _, header := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-Ip"} {
		if got := ask(header, "203.0.113.9"); got != http.StatusUnauthorized {
			t.Errorf("with %s: %d", header, got)
		}
	}
}

// An application with its own sign-in accepts no other, redirects to its own page, and has open streams if it says so.
func TestOwnSignInAndOpenPages(t *testing.T) {
	cfg, f := config(t)
	cfg.Auth = web.ByName{}
	app := f.app(t, "/own")
	app.SignIn = SignIn{Page: "/enter", Own: func(r *Request) (string, error) {
		cookie, err := r.Cookie("who")
		if err != nil {
			return "", nil //nolint:nilerr // nobody is signed in
		}
		return cookie.Value, nil
	}}
	app.Pages = append(app.Pages, Route{Method: "GET", Path: "/all/:id", Access: Optional, Do: func(c *gin.Context) error { return PageAs(c, c.Param("id"), "count") }})
	app.Open = true
	cfg.Apps = []App{app}
	s := newServer(t, cfg)
	html := []string{"Accept", "text/html"}
	w := web.Ask(s.Handler(), "GET", "/own/-/counts/c1", "", append(html, "Authorization", "Bearer sam")...)
	if at := w.Header().Get("Location"); w.Code != http.StatusSeeOther || at != "/own/-/enter?to=%2Fown%2F-%2Fcounts%2Fc1" {
		t.Errorf("one of the node's people: %d %s", w.Code, at)
	}
	w = web.Ask(s.Handler(), "GET", "/own/-/counts/c1", "", append(html, "Cookie", "who=ann")...)
	if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, `<a href="/own/-/enter">Sign out</a>`) {
		t.Errorf("one of its own: %d %s", w.Code, body)
	}
	w = web.Ask(s.Handler(), "GET", "/own/-/all/c1", "", html...)
	at := followed.FindStringSubmatch(w.Body.String())
	if w.Code != http.StatusOK || at == nil || !strings.HasPrefix(at[1], "/own/-/stream?") {
		t.Fatalf("anybody: %d %s", w.Code, w.Body)
	}
	base, _ := web.Run(t, s)
	stream := web.Open(t, base+strings.ReplaceAll(at[1], "&amp;", "&"), map[string]string{"Last-Event-ID": "1"})
	stream.Until(web.Named("parts"))
	if s, err := web.Try(t, base+"/_/stream?app=counter&page=c1", nil); err != nil || s.Resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the node's stream: %v %v", s.Resp, err)
	}
}
