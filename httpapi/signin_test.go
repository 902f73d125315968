package httpapi

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/web"
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
	case len(set) > 1 || set[0].Name != cookieName:
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
	if c := cookieOf(t, w); c == nil || !c.Secure {
		t.Errorf("cookie %v", c)
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
	w := web.Ask(s.Handler(), "POST", "/signout", "", "Accept", "text/html", "Cookie", cookieName+"="+web.Token("u1"), "Sec-Fetch-Site", "same-origin")
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
	w = web.Ask(s.Handler(), "GET", "/signin", "", "Accept", "text/html", "Cookie", cookieName+"="+web.AdminToken())
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
		"a page, an old cookie":     {"GET", "/counter/-/counts/c1", []string{"Accept", "text/html", "Cookie", cookieName + "=" + web.Token("u1")}, 200, true},
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
