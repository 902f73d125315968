package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store/storetest"
)

// verdicts of the table of authorization.
const (
	in      = "in"      // the route's own code answers
	signIn  = "sign in" // 401
	refused = "refused" // 403 forbidden
)

// caller is somebody who asks for every route, and what each level says to them.
type caller struct {
	name    string
	headers []string
	user    string
	admin   string
	looking string // at a page or a stream of a user's, where it is not the same; an admin's: by admin
}

func callers(t *testing.T) []caller {
	t.Helper()
	stranger, err := auth.NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	foreign, _, err := stranger.Sign(auth.Grant{Subject: "u1", Groups: []string{"admin"}, Life: auth.MaxDevLife}, clock.Real().Now())
	if err != nil {
		t.Fatal(err)
	}
	bearer := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	cookie := func(token string, more ...string) []string {
		return append([]string{"Cookie", cookieName + "=" + token}, more...)
	}
	staff := []any{"cognito:groups", []string{"admin"}}
	with := func(more ...any) []any { return append(slices.Clone(staff), more...) }
	good := token("u1")
	const own, cross = "same-origin", "cross-site"
	return []caller{
		{"nobody", nil, signIn, signIn, ""},
		{"a user", bearer(good), in, refused, ""},
		{"a user of another group", bearer(token("u1", "cognito:groups", []string{"Admin", "admins", "scorers"})), in, refused, ""},
		{"an admin", bearer(adminToken()), in, in, ""},
		{"the API key", []string{"X-API-Key", rigKey}, in, in, ""},
		{"user and API key", append(bearer(good), "X-API-Key", rigKey), in, in, ""},

		{"a wrong API key", []string{"X-API-Key", rigKey + "x"}, signIn, signIn, ""},
		{"an admin and a wrong API key", append(bearer(adminToken()), "X-API-Key", "x"), signIn, signIn, ""},
		{"the API key in the query's place", []string{"Authorization", "Bearer " + rigKey}, signIn, signIn, ""},
		{"a stranger's admin", bearer(foreign), signIn, signIn, ""},
		{"another app's admin", bearer(token("u1", with("aud", "other")...)), signIn, signIn, ""},
		{"an admin who was", bearer(token("u1", with("exp", 1_700_000_000)...)), signIn, signIn, ""},
		{"an access token", bearer(token("u1", with("token_use", "access")...)), signIn, signIn, ""},
		{"another pool's admin", bearer(token("u1", with("iss", poolURL+"2")...)), signIn, signIn, ""},
		{"a forged admin", bearer(forged()), signIn, signIn, ""},
		{"rubbish", bearer("rubbish"), signIn, signIn, ""},
		{"Basic", []string{"Authorization", "Basic dTpw"}, signIn, signIn, ""},

		// The cookie is for looking at pages and streams; for the rest our own pages must have sent it.
		{"a cookie", cookie(good), signIn, signIn, in},
		{"an admin's cookie", cookie(adminToken()), signIn, signIn, in},
		{"a cookie from our page", cookie(good, "Sec-Fetch-Site", own), in, refused, ""},
		{"an admin's cookie from our page", cookie(adminToken(), "Sec-Fetch-Site", own), in, in, ""},
		{"a cookie from our page, an older browser", cookie(good, "Origin", "http://example.com"), in, refused, ""},
		{"an admin's cookie from another site", cookie(adminToken(), "Sec-Fetch-Site", cross, "Origin", "https://evil.example"), signIn, signIn, signIn},
		{"an admin's cookie from a sibling", cookie(adminToken(), "Sec-Fetch-Site", "same-site", "Origin", "http://a.example.com"), signIn, signIn, signIn},
		{"an admin's cookie from a file", cookie(adminToken(), "Origin", "null"), signIn, signIn, signIn},
		{"an admin's cookie from our page, through a proxy", cookie(adminToken(), "Sec-Fetch-Site", own, "Origin", "https://touchline.example"), in, in, ""},
		{"an admin's cookie, a longer origin", cookie(adminToken(), "Origin", "http://example.com.evil.example"), signIn, signIn, signIn},
		{"an admin's cookie, a user in the origin", cookie(adminToken(), "Origin", "http://evil.example@example.com"), signIn, signIn, signIn},
		{"an admin's cookie, a path in the origin", cookie(adminToken(), "Origin", "http://example.com/"), signIn, signIn, signIn},
		{"an expired cookie", cookie(token("u1", "exp", 1_700_000_000), "Sec-Fetch-Site", own), signIn, signIn, ""},
		{"two cookies", cookie(good, "Sec-Fetch-Site", own, "Cookie", cookieName+"="+adminToken()), signIn, signIn, ""},
		{"a good cookie and a bad token", cookie(adminToken(), "Sec-Fetch-Site", own, "Authorization", "Bearer x"), signIn, signIn, ""},
		{"another cookie", []string{"Cookie", "token=" + adminToken(), "Sec-Fetch-Site", own}, signIn, signIn, ""},

		// What a proxy or a client may claim is no identity.
		{"headers of a proxy", []string{
			"X-Forwarded-For", "127.0.0.1", "X-Real-Ip", "127.0.0.1", "Forwarded", "for=127.0.0.1", "X-Forwarded-User", "boss",
			"X-Amzn-Oidc-Identity", "boss", "X-Forwarded-Access-Token", adminToken(), "Proxy-Authorization", "Bearer " + adminToken(),
		}, signIn, signIn, ""},
		{"another spelling", []string{"X_API_KEY", rigKey, "X-Api-Key ", rigKey}, signIn, signIn, ""},
	}
}

// forged is a token whose claims were changed after it was signed.
func forged() string {
	was, is := token("u1"), adminToken()
	i, j := strings.LastIndex(was, "."), strings.LastIndex(is, ".")
	return is[:j] + was[i:]
}

// Every route there is, asked for by everybody there may be. A new route is in it by itself.
func TestEveryRoute(t *testing.T) {
	for _, mount := range []string{"/cricket", "/"} {
		cfg, _, _ := config(t)
		cfg.Auth, cfg.Mount, cfg.Development = verifier(t), mount, mount != "/"
		s := newServer(t, cfg)
		all := callers(t)
		for _, r := range s.table() {
			for _, path := range s.addresses(&r) {
				path = filled(path)
				for i := range all {
					if r.access == public && i%8 != 0 {
						continue // there is nothing to decide, and the gallery takes its time
					}
					who := &all[i]
					want := expected(s, &r, path, who)
					w := ask(s, r.method, path, "{}", append([]string{"Content-Type", "application/json"}, who.headers...)...)
					if got := verdictOf(w); got != want {
						t.Errorf("%s %s by %s: %s (%d %s), want %s", r.method, path, who.name, got, w.Code, w.Body, want)
					}
					if want == signIn && !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer realm=") {
						t.Errorf("%s %s by %s: no challenge", r.method, path, who.name)
					}
					if body := w.Body.String(); strings.Contains(body, rigKey) || strings.Contains(body, "eyJ") {
						t.Errorf("%s %s by %s: the answer shows a secret: %s", r.method, path, who.name, body)
					}
				}
			}
		}
	}
}

// filled puts values into the parameters of a path.
func filled(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") || strings.HasPrefix(p, "*") {
			parts[i] = finalID
		}
	}
	return strings.Join(parts, "/")
}

func expected(s *Server, r *route, path string, who *caller) string {
	looks := who.looking != "" && r.method == http.MethodGet && (r.stream || !s.underMount(path))
	switch r.access {
	case public, optional:
		return in
	case user:
		if looks {
			return who.looking
		}
		return who.user
	case admin:
		if looks && who.looking == in && !strings.Contains(who.name, "admin") {
			return refused
		}
		if looks {
			return who.looking
		}
		return who.admin
	default:
		return "no level"
	}
}

func verdictOf(w *httptest.ResponseRecorder) string {
	switch {
	case w.Code == http.StatusUnauthorized && codeOf(w) == "unauthorized":
		// Signing in with an empty token is an error of that route's own.
		return signIn
	case w.Code == http.StatusForbidden && codeOf(w) == "forbidden":
		return refused
	default:
		return in
	}
}

// What changes something, or shows what is not everybody's, is not public; and nothing is served that is not in the
// table.
func TestLevels(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.Development = true
	s := newServer(t, cfg)
	known := map[string]bool{}
	for _, r := range s.table() {
		if r.access < public || r.access > admin {
			t.Errorf("%s %s has no level", r.method, r.path)
		}
		under := r.at == atApp
		switch staff := strings.HasPrefix(r.path, "/admin/") || r.path == "/hub"; {
		case under && staff && r.access != admin:
			t.Errorf("%s %s is not for admins", r.method, r.path)
		case under && strings.HasPrefix(r.path, "/user/") && r.access != user:
			t.Errorf("%s %s is not for users", r.method, r.path)
		case under && r.method != http.MethodGet && r.access != user && r.access != admin:
			t.Errorf("%s %s changes something and is for anybody", r.method, r.path)
		case under && (r.method == http.MethodPatch || r.method == http.MethodPut || r.method == http.MethodDelete) &&
			r.access != admin && !strings.HasPrefix(r.path, "/user/") && !strings.HasPrefix(r.path, "/devices/"):
			t.Errorf("%s %s changes what is not the user's own", r.method, r.path)
		}
		switch path := s.address(r.at, r.path); {
		case r.at == atPage && r.path == "/docs": // the document is everybody's
		case r.at == atPage && r.access != user && r.access != admin, path == "/_/stream" && r.access != user:
			t.Errorf("%s shows matches to anybody", path)
		case (path == "/statusz" || path == "/metrics") && r.access != admin:
			t.Errorf("%s shows the node to anybody", path)
		case (path == "/livez" || path == "/readyz") && r.access != public:
			t.Errorf("%s is not for everybody", path)
		}
		for _, path := range s.addresses(&r) {
			known[r.method+" "+path] = true
			if r.method == http.MethodGet && !r.stream {
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
	if w := ask(s, "GET", "/livez", ""); w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	if err := permit(0, auth.Identity{Admin: true, Subject: "boss"}, nil); err == nil {
		t.Error("a route whose level was forgotten lets an admin in")
	}
}

// A node without sign-in lets nobody in but to what is everybody's.
func TestNobodyCanSignIn(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.Auth = nil
	s := newServer(t, cfg)
	for _, r := range s.table() {
		for _, path := range s.addresses(&r) {
			w := ask(s, r.method, filled(path), "{}", "Authorization", "Bearer "+adminToken(), "X-API-Key", "", "Content-Type", "text/plain")
			if want := r.access == user || r.access == admin; (verdictOf(w) == signIn) != want {
				t.Errorf("%s %s: %d %s", r.method, path, w.Code, w.Body)
			}
		}
	}
}

// A browser is sent to sign in, and back to where it was going; a program is told.
func TestSentToSignIn(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.Auth = verifier(t)
	s := newServer(t, cfg)
	e := gin.New()
	e.Use(identify, guard)
	e.GET("/staff", s.allow(admin), func(c *gin.Context) { c.String(http.StatusOK, "hello") })
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
	if w := get("Accept", "text/html", "Cookie", cookieName+"="+token("u1")); w.Code != http.StatusForbidden {
		t.Errorf("a user's browser: %d", w.Code)
	}
	if w := get("Accept", "text/html", "Cookie", cookieName+"="+adminToken(), "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"); w.Code != http.StatusOK {
		t.Errorf("an admin's browser: %d", w.Code)
	}
}

// The challenge says what is wrong so that it can be read by a machine and breaks no header.
func TestChallenge(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.Auth = verifier(t)
	s := newServer(t, cfg)
	for _, tt := range []struct{ header, want string }{
		{"", `Bearer realm="touchline"`},
		{"Bearer " + token("u1", "aud", "other"), `Bearer realm="touchline", error="invalid_token", error_description="The token is for another app: ` +
			`its aud is none of the configured client ids."`},
		{"Bearer x\"y\\z", `Bearer realm="touchline", error="invalid_token", error_description="That is not a token: a JWT has three base64url parts separated by dots."`},
	} {
		var headers []string
		if tt.header != "" {
			headers = []string{"Authorization", tt.header}
		}
		w := ask(s, "GET", "/cricket/matches", "", headers...)
		if got := w.Header().Get("WWW-Authenticate"); got != tt.want || w.Code != http.StatusUnauthorized {
			t.Errorf("%d %s, want %s", w.Code, got, tt.want)
		}
	}
}

// What one user keeps is neither seen nor changed by another, whatever they say of themselves.
func TestUsersApart(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.Auth = verifier(t)
	cfg.Store = storetest.Open(t, cricket.Tables()...)
	s := newServer(t, cfg)
	as := func(user string) []string {
		return []string{"Authorization", "Bearer " + token(user), "Content-Type", "application/json"}
	}
	device := `{"deviceToken":"` + strings.Repeat("ab", 32) + `","deviceId":"phone-1","platform":"ios","userId":"u2"}`
	if w := ask(s, "POST", "/cricket/user/device?userId=u2", device, as("u1")...); w.Code >= 300 && w.Code != http.StatusBadRequest {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	device = strings.Replace(device, `,"userId":"u2"`, "", 1)
	if w := ask(s, "POST", "/cricket/user/device", device, as("u1")...); w.Code >= 300 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	own := ask(s, "GET", "/cricket/user/device", "", as("u1")...)
	if !strings.Contains(own.Body.String(), "phone-1") {
		t.Errorf("u1 has %d %s", own.Code, own.Body)
	}
	if w := ask(s, "GET", "/cricket/user/device?userId=u1", "", append(as("u2"), "X-User-Id", "u1")...); strings.Contains(w.Body.String(), "phone-1") {
		t.Errorf("u2 sees %s", w.Body)
	}
	ask(s, "DELETE", "/cricket/devices/"+strings.Repeat("ab", 32), "", as("u2")...)
	ask(s, "DELETE", "/cricket/user/device?deviceToken="+strings.Repeat("ab", 32), "", as("u2")...)
	if w := ask(s, "GET", "/cricket/user/device", "", as("u1")...); !strings.Contains(w.Body.String(), "phone-1") {
		t.Errorf("u2 has removed u1's device: %d %s", w.Code, w.Body)
	}
	if w := ask(s, "GET", "/cricket/user/device", "", "X-API-Key", rigKey); w.Code != http.StatusForbidden {
		t.Errorf("the API key has a device: %d %s", w.Code, w.Body)
	}
}
