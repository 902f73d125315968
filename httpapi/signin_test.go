package httpapi

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/httpapi/session"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store/storetest"
)

func signInServer(t *testing.T) *Server {
	t.Helper()
	cfg, _ := config(t)
	cfg.Auth = web.Verifier(t)
	return newServer(t, cfg)
}

const formType = "application/x-www-form-urlencoded"

// cookieOf returns the cookie that an answer sets; nil: none.
func cookieOf(t *testing.T, w *httptest.ResponseRecorder) *http.Cookie {
	t.Helper()
	set := w.Result().Cookies()
	switch {
	case len(set) == 0:
		return nil
	case len(set) > 1 || set[0].Name != tokenCookie:
		t.Fatalf("cookies %v", set)
	}
	return set[0]
}

func TestSignIn(t *testing.T) {
	s := signInServer(t)
	good := web.Token("u1", "cognito:groups", []string{"scorers"})
	form := func(kv ...string) string {
		v := url.Values{}
		for i := 0; i < len(kv); i += 2 {
			v.Set(kv[i], kv[i+1])
		}
		return v.Encode()
	}
	for name, tt := range map[string]struct {
		body, kind string
		headers    []string
		status     int
		to         string // where a form redirects
		text       string // contained in the answer
		cookie     bool
		secure     bool
	}{
		"form":                           {body: form("token", good, "to", "/counter/-/counts/c1?x=1"), kind: formType, status: 303, to: "/counter/-/counts/c1?x=1", cookie: true},
		"form, to home":                  {body: form("token", "\n "+good+" \n"), kind: formType, status: 303, to: "/", cookie: true},
		"our own page":                   {body: form("token", good), kind: formType, headers: []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://example.com"}, status: 303, to: "/", cookie: true},
		"over TLS":                       {body: form("token", good), kind: formType, headers: []string{"Sec-Fetch-Site", "same-origin", "Origin", "https://example.com"}, status: 303, to: "/", cookie: true, secure: true},
		"to a stranger":                  {body: form("token", good, "to", "//evil.example/"), kind: formType, status: 303, to: "/", cookie: true},
		"JSON":                           {body: `{"token":"` + good + `"}`, kind: "application/json", status: 200, text: `"userId":"u1","groups":["scorers"],"admin":false,"expiresAt":"`, cookie: true},
		"JSON, charset":                  {body: `{"token":"` + good + `"}`, kind: "application/json; charset=utf-8", status: 200, text: `"u1"`, cookie: true},
		"bad form":                       {body: form("token", "x"), kind: formType, status: 401, text: "That is not a token"},
		"bad JSON token":                 {body: `{"token":"x"}`, kind: "application/json", status: 401, text: "That is not a token"},
		"expired":                        {body: form("token", web.Token("u1", "exp", 1_700_000_000)), kind: formType, status: 401, text: "The token expired at 2023-11-14T22:13:20Z"},
		"nothing":                        {body: form("token", ""), kind: formType, status: 400, text: "Paste a token."},
		"no JSON":                        {body: `{"token":`, kind: "application/json", status: 400, text: "bad_body"},
		"no type":                        {body: good, kind: "", status: 400, text: "bad_body"},
		"plain text":                     {body: `{"token":"` + good + `"}`, kind: "text/plain", status: 400, text: "bad_body"},
		"token in the query only":        {body: "", kind: formType, headers: []string{"X-Path", "/signin?token=" + good}, status: 400, text: "Paste a token."},
		"too long for a cookie":          {body: form("token", web.Token("u1", "pad", strings.Repeat("x", 3000))), kind: formType, status: 413, text: "too long for a cookie"},
		"another site":                   {body: form("token", good), kind: formType, headers: []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, status: 403, text: "cross_origin"},
		"another site, an older browser": {body: form("token", good), kind: formType, headers: []string{"Origin", "https://evil.example"}, status: 403, text: "cross_origin"},
		"a sibling":                      {body: form("token", good), kind: formType, headers: []string{"Sec-Fetch-Site", "same-site", "Origin", "http://a.example.com"}, status: 403, text: "cross_origin"},
		"a sandbox":                      {body: form("token", good), kind: formType, headers: []string{"Origin", "null"}, status: 403, text: "cross_origin"},
	} {
		t.Run(name, func(t *testing.T) {
			path, headers := "/signin", append([]string{"Content-Type", tt.kind}, tt.headers...)
			if len(tt.headers) > 0 && tt.headers[0] == "X-Path" {
				path = tt.headers[1]
			}
			w := web.Ask(s.Handler(), "POST", path, tt.body, headers...)
			if w.Code != tt.status || w.Header().Get("Location") != tt.to || !strings.Contains(w.Body.String(), tt.text) {
				t.Fatalf("%d to %q: %s", w.Code, w.Header().Get("Location"), w.Body)
			}
			if strings.Contains(w.Body.String(), "eyJ") || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%v %s", w.Header(), w.Body)
			}
			c := cookieOf(t, w)
			if (c != nil) != tt.cookie {
				t.Fatalf("cookie %v", c)
			}
			if c == nil {
				return
			}
			if c.Value != good || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" ||
				c.Secure != tt.secure || c.MaxAge < 3500 || c.MaxAge > 3600 {
				t.Errorf("cookie %s", c)
			}
			// It grants access.
			if w := web.Ask(s.Handler(), "GET", "/counter/counts", "", "Cookie", c.Name+"="+c.Value, "Sec-Fetch-Site", "same-origin"); w.Code != http.StatusOK {
				t.Errorf("with the cookie: %d %s", w.Code, w.Body)
			}
		})
	}
}

// Over a TLS connection no header is needed.
func TestSignInOverTLS(t *testing.T) {
	s := signInServer(t)
	r := httptest.NewRequest("POST", "/signin", strings.NewReader(`{"token":"`+web.Token("u1")+`"}`))
	r.TLS = &tls.ConnectionState{}
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	if c := setCookies(w)["__Host-"+tokenCookie]; c == nil || !c.Secure {
		t.Errorf("cookies %v", w.Result().Cookies())
	}
}

// If an application is mounted at the root, the pages begin elsewhere.
func TestSignInBesideTheRoot(t *testing.T) {
	cfg, f := config(t)
	cfg.Auth = web.Verifier(t)
	mountAt(t, cfg, f, "/")
	s := newServer(t, cfg)
	w := web.Ask(s.Handler(), "POST", "/signin", url.Values{"token": {web.Token("u1")}}.Encode(), "Content-Type", formType)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/-/" {
		t.Errorf("%d to %s", w.Code, w.Header().Get("Location"))
	}
	if body := web.Ask(s.Handler(), "GET", "/signin", "", "Accept", "text/html").Body.String(); !strings.Contains(body, `class="brand" href="/-/"`) {
		t.Error(body)
	}
}

func TestSignOut(t *testing.T) {
	s := signInServer(t)
	w := web.Ask(s.Handler(), "POST", "/signout", "", "Accept", "text/html", "Cookie", tokenCookie+"="+web.Token("u1"), "Sec-Fetch-Site", "same-origin")
	if c := cookieOf(t, w); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/signin" || c == nil || c.MaxAge >= 0 || c.Value != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := web.Ask(s.Handler(), "POST", "/signout", ""); w.Code != http.StatusNoContent || cookieOf(t, w) == nil {
		t.Errorf("a program: %d", w.Code)
	}
	if w := web.Ask(s.Handler(), "POST", "/signout", "", "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden || cookieOf(t, w) != nil {
		t.Errorf("another site: %d", w.Code)
	}
	if w := web.Ask(s.Handler(), "GET", "/signout", ""); w.Code != http.StatusMethodNotAllowed || cookieOf(t, w) != nil {
		t.Errorf("GET: %d", w.Code)
	}
}

func TestSignInPage(t *testing.T) {
	s := signInServer(t)
	w := web.Ask(s.Handler(), "GET", "/signin?to=/matches%3Fx%3D%22%3E%3Cb%3E", "", "Accept", "text/html")
	body := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(body, `name="to" value="/matches?x=&#34;&gt;&lt;b&gt;"`) ||
		!strings.Contains(body, `<form class="signin__form" method="post" action="/signin"`) || strings.Contains(body, "You are signed in") {
		t.Errorf("%d %s", w.Code, body)
	}
	if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self'") {
		t.Error(csp)
	}
	w = web.Ask(s.Handler(), "GET", "/signin", "", "Accept", "text/html", "Cookie", tokenCookie+"="+web.AdminToken())
	if body := w.Body.String(); !strings.Contains(body, "signed in as <strong>boss</strong>, an admin") || !strings.Contains(body, `action="/signout"`) {
		t.Error(body)
	}
	// A link from another site arrives without the cookie: it is redirected from here, once, and then has it.
	w = web.Ask(s.Handler(), "GET", "/signin?to=/matches", "", "Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
	if got := w.Header().Get("Refresh"); got != "0; url=/matches" || strings.Contains(w.Body.String(), "<form") {
		t.Errorf("%q %s", got, w.Body)
	}
	w = web.Ask(s.Handler(), "GET", "/signin?to=//evil.example/", "", "Accept", "text/html", "Sec-Fetch-Site", "cross-site")
	if got := w.Header().Get("Refresh"); got != "" || strings.Contains(w.Body.String(), "evil") {
		t.Errorf("%q %s", got, w.Body)
	}
}

// No redirect leaves this node.
func TestLocalPath(t *testing.T) {
	for _, to := range []string{"/", "/counter/-/counts/c1", "/matches/1144530?a=b&c=%2F%2Fx#d", "/-/counts/c1", "/counter/counts"} {
		if got := localPath(to); got != to {
			t.Errorf("%q became %q", to, got)
		}
	}
	for _, to := range []string{
		"", "matches", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example", "/\n/evil.example",
		"\t//evil.example", " //evil.example", "https://evil.example/", "https:evil.example", "http:/evil.example", "javascript:alert(1)",
		"data:text/html,x", "//user@evil.example", "/%zz", "/a//evil.example", "/.//evil.example", "/%2f/evil.example", "/%5cevil.example\\",
		"/x;url=//evil.example", "/x,//evil.example", "//", "//?x=1", "/signin", "/signin?to=/signin", "/signout", "/\x00", "/\u2028", "/" + strings.Repeat("a", 2048),
		"?to=//evil.example", "#//evil.example", "/\r\nSet-Cookie: a=b",
	} {
		if got := localPath(to); got != "/" {
			t.Errorf("%q became %q", to, got)
		}
	}
}

// demoServer returns a server that signs in local requests.
func demoServer(t *testing.T) *Server {
	t.Helper()
	issuer, err := auth.NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	v, err := auth.New(auth.Config{Issuers: []auth.Issuer{issuer.Issuer()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	cfg, _ := config(t)
	cfg.Auth = v
	cfg.Demo = func() (string, error) {
		token, _, err := issuer.Sign(auth.Grant{Subject: "demo", Groups: []string{"admin"}, Life: time.Hour}, clock.Real().Now())
		return token, err
	}
	return newServer(t, cfg)
}

// The demo signs in requests from this machine, except those caused by other sites' pages or forwarded by a proxy.
func TestDemo(t *testing.T) {
	s := demoServer(t)
	const here = "127.0.0.1:40000"
	for name, tt := range map[string]struct {
		method, path string
		headers      []string
		status       int
		cookie       bool
	}{
		"a page":                    {"GET", "/counter/-/counts/c1", []string{"Accept", "text/html"}, 200, true},
		"a page from a link":        {"GET", "/counter/-/counts/c1", []string{"Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200, true},
		"a page, an old cookie":     {"GET", "/counter/-/counts/c1", []string{"Accept", "text/html", "Cookie", tokenCookie + "=" + web.Token("u1")}, 200, true},
		"a program":                 {"GET", "/counter/counts", nil, 200, false},
		"a program, IPv6":           {"GET", "/counter/counts", []string{"RemoteAddr", "[::1]:40000"}, 200, false},
		"a program, an admin's":     {"GET", "/counter/admin/things", nil, 404, false},
		"a program that changes":    {"DELETE", "/counter/admin/things/x", nil, 404, false},
		"our page reads":            {"GET", "/counter/counts", []string{"Sec-Fetch-Site", "same-origin"}, 200, false},
		"our page changes":          {"DELETE", "/counter/admin/things/x", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://example.com"}, 404, false},
		"a bad token":               {"GET", "/counter/counts", []string{"Authorization", "Bearer x"}, 401, false},
		"another site reads":        {"GET", "/counter/counts", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"}, 401, false},
		"another site's script":     {"GET", "/counter/counts", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 401, false},
		"another site's frame":      {"GET", "/counter/counts", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 401, false},
		"another site changes":      {"DELETE", "/counter/admin/things/x", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 401, false},
		"another site's form":       {"POST", "/counter/admin/things", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Origin", "https://evil.example"}, 401, false},
		"another port's form":       {"POST", "/counter/admin/things", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://example.com:3000"}, 401, false},
		"an older browser's form":   {"POST", "/counter/admin/things", []string{"Origin", "https://evil.example"}, 401, false},
		"another machine":           {"GET", "/counter/counts", []string{"RemoteAddr", "192.168.0.7:40000"}, 401, false},
		"another machine says here": {"GET", "/counter/counts", []string{"RemoteAddr", "192.168.0.7:40000", "X-Forwarded-For", "127.0.0.1"}, 401, false},
		"a proxy on this machine":   {"GET", "/counter/counts", []string{"X-Forwarded-For", "203.0.113.9"}, 401, false},
		"another proxy on it":       {"GET", "/counter/counts", []string{"Forwarded", "for=203.0.113.9"}, 401, false},
		"another machine, a page":   {"GET", "/counter/-/counts/c1", []string{"RemoteAddr", "192.168.0.7:40000", "Accept", "text/html"}, 303, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := web.Ask(s.Handler(), tt.method, tt.path, "", append([]string{"RemoteAddr", here}, tt.headers...)...)
			c := cookieOf(t, w)
			if w.Code != tt.status || (c != nil) != tt.cookie {
				t.Fatalf("%d, cookie %v: %s", w.Code, c, w.Body)
			}
			if c != nil && (c.MaxAge < 3500 || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode) {
				t.Errorf("cookie %s", c)
			}
		})
	}
	w := web.Ask(s.Handler(), "GET", "/signin", "", "RemoteAddr", here, "Accept", "text/html")
	if !strings.Contains(w.Body.String(), "<strong>demo</strong>") {
		t.Error(w.Body)
	}
}

func TestSignedInShape(t *testing.T) {
	s := signInServer(t)
	w := web.Ask(s.Handler(), "POST", "/signin", `{"token":"`+web.Token("u1")+`"}`, "Content-Type", "application/json")
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got) != 4 || got["userId"] != "u1" {
		t.Errorf("%v, %v", got, err)
	}
	if at, err := time.Parse(time.RFC3339, got["expiresAt"].(string)); err != nil || at.Before(clock.Real().Now()) {
		t.Errorf("%v, %v", at, err)
	}
	if groups, ok := got["groups"].([]any); !ok || len(groups) != 0 {
		t.Errorf("groups %v", got["groups"])
	}
}

const (
	publicURL     = "https://scores.example"
	hostSession   = "__Host-" + sessionCookie
	secureFlow    = "__Secure-" + flowCookie
	lanAddress    = "http://192.168.1.5:8080"
	counterPage   = "/counter/-/counts/c1"
	signedInThere = http.StatusOK
)

// newPublicRig is a node behind a proxy that nobody has listed in http.trusted_proxies.
func newPublicRig(t *testing.T) *signInRig {
	return newSignInRig(t, func(c *Config) { c.PublicURL = publicURL })
}

// openPage opens a page as a browser does; cookies are "name=value".
func (r *signInRig) openPage(origin, path string, cookies ...string) *httptest.ResponseRecorder {
	headers := []string{"Accept", "text/html", "Sec-Fetch-Mode", "navigate"}
	for _, cookie := range cookies {
		headers = append(headers, "Cookie", cookie)
	}
	return web.Ask(r.Handler(), "GET", origin+path, "", headers...)
}

// beginSession begins a session whose cookie has one of the two names; empty: as sessions were before there were two.
func (r *signInRig) beginSession(name session.CookieName) (value string) {
	r.t.Helper()
	ada := auth.Identity{Subject: "ada", Issuer: r.issuer, Name: "Ada"}
	value, err := r.cfg.People.Sessions.Begin(r.t.Context(), ada, session.SignIn{Agent: "a browser", Cookie: name})
	if err != nil {
		r.t.Fatal(err)
	}
	return value
}

// setCookies returns the cookies that an answer sets or deletes, by name.
func setCookies(w *httptest.ResponseRecorder) map[string]*http.Cookie {
	all := map[string]*http.Cookie{}
	for _, c := range w.Result().Cookies() {
		all[c.Name] = c
	}
	return all
}

// At the public name cookies are Secure and have a prefix, whatever is known of the proxy; in the local network they are plain.
func TestCookiesAtThePublicName(t *testing.T) {
	r := newPublicRig(t)
	begin := r.openPage(publicURL, pathWith+"dev")
	flow := setCookies(begin)[secureFlow]
	if flow == nil || !flow.Secure || flow.Path != pathFlow || setCookies(begin)[flowCookie] != nil {
		t.Fatalf("the flow's cookie at the public name: %v", begin.Result().Cookies())
	}
	if lan := setCookies(r.openPage(lanAddress, pathWith+"dev"))[flowCookie]; lan == nil || lan.Secure {
		t.Errorf("the flow's cookie in the local network: %v", lan)
	}
	w := r.openPage(publicURL, counterPage, hostSession+"="+r.beginSession(session.PrefixedName))
	if w.Code != signedInThere {
		t.Errorf("a page with the prefixed cookie: %d", w.Code)
	}
}

// A new sign-in names the session's cookie by the way in which the browser came. The public name accepts no plain one.
func TestNewSessionHasTheNameOfItsOrigin(t *testing.T) {
	r := newPublicRig(t)
	r.beginSession(session.PlainName) // somebody who was here before can get a code
	for _, tt := range []struct{ origin, name, otherName string }{
		{publicURL, hostSession, sessionCookie},
		{lanAddress, sessionCookie, hostSession},
	} {
		made := web.Ask(r.Handler(), "POST", tt.origin+"/_/api/sign-in-codes", `{"userId":"ada"}`, "X-API-Key", web.Key, "Content-Type", "application/json")
		var told struct{ Code string }
		if err := json.Unmarshal(made.Body.Bytes(), &told); err != nil || made.Code != http.StatusCreated {
			t.Fatalf("%d %s", made.Code, made.Body)
		}
		w := web.Ask(r.Handler(), "POST", tt.origin+pathCode, url.Values{"code": {told.Code}}.Encode(), "Content-Type", formType, "Sec-Fetch-Site", "same-origin")
		c := setCookies(w)[tt.name]
		if w.Code != http.StatusSeeOther || c == nil || setCookies(w)[tt.otherName] != nil {
			t.Fatalf("a sign-in at %s: %d %v", tt.origin, w.Code, w.Result().Cookies())
		}
		if c.Secure != (tt.origin == publicURL) || !c.HttpOnly || c.Path != "/" || c.Domain != "" {
			t.Errorf("the cookie of %s: %s", tt.origin, c)
		}
		if w := r.openPage(tt.origin, counterPage, tt.name+"="+c.Value); w.Code != signedInThere {
			t.Errorf("a page of %s: %d", tt.origin, w.Code)
		}
		if w := r.openPage(publicURL, counterPage, sessionCookie+"="+c.Value); w.Code == signedInThere {
			t.Errorf("the session of %s under the plain name at the public name: %d", tt.origin, w.Code)
		}
	}
}

// A plain cookie may have been set by anybody on a plain connection, so the public name accepts none, except for sessions from before
// there were prefixed names. These are given the new name at first use.
func TestPlainSessionCookieAtThePublicName(t *testing.T) {
	r := newPublicRig(t)
	lan := sessionCookie + "=" + r.beginSession(session.PlainName)
	if w := r.openPage(publicURL, counterPage, lan); w.Code != http.StatusSeeOther {
		t.Errorf("a session of the local network at the public name: %d", w.Code)
	}
	if w := r.openPage(lanAddress, counterPage, lan); w.Code != signedInThere {
		t.Errorf("the same session in the local network: %d", w.Code)
	}

	old := sessionCookie + "=" + r.beginSession("")
	w := r.openPage(publicURL, counterPage, old)
	renewed, dropped := setCookies(w)[hostSession], setCookies(w)[sessionCookie]
	if w.Code != signedInThere || renewed == nil || !renewed.Secure || renewed.Path != "/" || dropped == nil || dropped.MaxAge >= 0 {
		t.Fatalf("an old session at the public name: %d %v", w.Code, w.Result().Cookies())
	}
	if w := r.openPage(publicURL, counterPage, hostSession+"="+renewed.Value); w.Code != signedInThere {
		t.Errorf("the old session under its new name: %d", w.Code)
	}
	if w := r.openPage(publicURL, counterPage, old); w.Code != signedInThere {
		t.Errorf("a request that was on its way with the old name: %d", w.Code)
	}
	if w := r.openPage(publicURL, counterPage, sessionCookie+"="+renewed.Value); w.Code == signedInThere {
		t.Errorf("the new secret under the plain name: %d %v", w.Code, w.Result().Cookies())
	}
}

// Signing out ends sessions under both names, and has the browser forget what it has cached, but not what waits to be sent.
func TestSignOutForgets(t *testing.T) {
	r := newPublicRig(t)
	plain, prefixed := r.beginSession(""), r.beginSession(session.PrefixedName)
	w := web.Ask(r.Handler(), "POST", publicURL+pathSignOut, "", "Accept", "text/html", "Sec-Fetch-Site", "same-origin",
		"Cookie", sessionCookie+"="+plain+"; "+hostSession+"="+prefixed)
	if w.Code != http.StatusSeeOther || w.Header().Get("Clear-Site-Data") != `"cache"` {
		t.Errorf("%d, Clear-Site-Data %s", w.Code, w.Header().Get("Clear-Site-Data"))
	}
	for _, name := range []string{sessionCookie, hostSession} {
		if c := setCookies(w)[name]; c == nil || c.MaxAge >= 0 {
			t.Errorf("%s is not deleted: %v", name, c)
		}
	}
	for _, cookie := range []string{hostSession + "=" + prefixed, sessionCookie + "=" + plain} {
		if w := r.openPage(publicURL, counterPage, cookie); w.Code == signedInThere {
			t.Errorf("%s is accepted after the sign-out", strings.Split(cookie, "=")[0])
		}
	}
	if page := r.openPage(publicURL, pathSignIn).Body.String(); !strings.Contains(page, "signedout.js") {
		t.Error("the sign-in page does not delete the copies of pages")
	}
	if page := r.openPage(publicURL, pathSignIn, hostSession+"="+r.beginSession(session.PrefixedName)).Body.String(); strings.Contains(page, "signedout.js") {
		t.Error("the sign-in page deletes the copies of somebody who is signed in")
	}
}

// A person ends all of their sessions at once, and nobody else's.
func TestSignOutEverywhere(t *testing.T) {
	r := newSignInRig(t, nil)
	phone, tablet, others := browser{}, browser{}, browser{}
	r.signIn(phone, "ada", "/")
	r.signIn(tablet, "ada", "/")
	r.signIn(others, "ben", "/")
	if page := phone.ask(r.Handler(), "GET", pathSessions, "").Body.String(); !strings.Contains(page, "Sign out everywhere") {
		t.Error(page)
	}
	if w := phone.ask(r.Handler(), "POST", pathSessions, "", "Content-Type", formType, "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusUnauthorized {
		t.Errorf("from another site: %d", w.Code)
	}
	if w := phone.ask(r.Handler(), "POST", pathSessions, "", "Content-Type", formType, "Sec-Fetch-Site", "same-origin"); w.Code != http.StatusSeeOther {
		t.Errorf("sign out everywhere: %d %s", w.Code, w.Body)
	}
	for name, b := range map[string]browser{"phone": phone, "tablet": tablet} {
		if w := b.ask(r.Handler(), "GET", "/counter/-/", ""); w.Code != http.StatusSeeOther {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if w := others.ask(r.Handler(), "GET", "/counter/-/", ""); w.Code != http.StatusOK {
		t.Errorf("somebody else: %d", w.Code)
	}
}

// The names that documents of applications give stay, Secure at the public name.
func TestGuestCookieAtThePublicName(t *testing.T) {
	r := newPublicRig(t)
	w := web.Ask(r.Handler(), "POST", publicURL+"/counter/guests", "", "Sec-Fetch-Site", "same-origin")
	at := slices.IndexFunc(w.Result().Cookies(), func(c *http.Cookie) bool { return c.Name == "counter_guest" })
	if at < 0 || !w.Result().Cookies()[at].Secure {
		t.Errorf("%d %v", w.Code, w.Result().Cookies())
	}
}

// A page that works offline gives the browser the id of its device, as other cookies are given, and has only its hash. An id that the
// browser has stays.
func TestDeviceCookie(t *testing.T) {
	s := storetest.Open(t)
	cfg, _ := newTaps(t, s, "v1")
	cfg.PublicURL = publicURL
	server := newServer(t, cfg)
	open := func(host string, headers ...string) (*http.Cookie, string) {
		t.Helper()
		w := web.Ask(server.Handler(), "GET", host+"/counter/-/", "", append(headers, "Accept", "text/html")...)
		if w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for name, c := range setCookies(w) {
			if strings.HasSuffix(name, deviceCookie) {
				return c, w.Body.String()
			}
		}
		return nil, w.Body.String()
	}
	for host, want := range map[string]string{publicURL: "__Host-" + deviceCookie, lanAddress: deviceCookie} {
		c, page := open(host)
		if c == nil || c.Name != want || c.Secure != strings.HasPrefix(want, "__") || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
			t.Fatalf("%s: %v", host, c)
		}
		hash, ok := handover.DeviceHash(c.Value)
		if !ok || !strings.Contains(page, `data-device="`+hash+`"`) || strings.Contains(page, c.Value) {
			t.Errorf("%s: the page has not just the hash %s", host, hash)
		}
		shown := []string{"Cookie", c.Name + "=" + c.Value, "Sec-Fetch-Site", "same-origin"}
		if again, page := open(host, shown...); again == nil || again.Value != c.Value || !strings.Contains(page, hash) {
			t.Errorf("%s: the id became %v", host, again)
		}
		if other, _ := open(host, "Cookie", c.Name+"="+c.Value, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"); other != nil {
			t.Errorf("%s: another site's page replaces the id by %v", host, other)
		}
	}
}
