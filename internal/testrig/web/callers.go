package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
)

// Verdicts in an authorization table.
const (
	In      = "in"      // the route's own code answers
	SignIn  = "sign in" // 401
	Refused = "Refused" // 403 forbidden
)

// caller is a caller of every route, with the expected verdict on routes for users and for admins. Public routes admit all.
type caller struct {
	name    string
	headers []string
	user    string
	admin   string
}

// Callers are the types of callers that every route must tell apart.
type Callers []caller

// NewCallers returns one caller of each type.
func NewCallers(t *testing.T) Callers {
	t.Helper()
	stranger, err := auth.NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	foreign, _, err := stranger.Sign(auth.Grant{Subject: "u1", Groups: []string{"admin"}, Life: auth.MaxDevLife}, clock.Real().Wall())
	if err != nil {
		t.Fatal(err)
	}
	bearer := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	cookie := func(token, from string) []string {
		return []string{"Cookie", "touchline_token=" + token, "Sec-Fetch-Site", from}
	}
	return Callers{
		{"nobody", nil, SignIn, SignIn},
		{"a user", bearer(Token("u1")), In, Refused},
		{"an admin", bearer(AdminToken()), In, In},
		{"the API key", []string{"X-API-Key", Key}, In, In},
		{"a stranger's admin", bearer(foreign), SignIn, SignIn},
		{"a forged admin", bearer(forged()), SignIn, SignIn},
		{"a cookie from our page", cookie(Token("u1"), "same-origin"), In, Refused},
		{"an admin's cookie from another site", cookie(AdminToken(), "cross-site"), SignIn, SignIn},
	}
}

// forged returns a token whose claims were changed after it was signed.
func forged() string {
	was, is := Token("u1"), AdminToken()
	i, j := strings.LastIndex(was, "."), strings.LastIndex(is, ".")
	return is[:j] + was[i:]
}

// Ask requests a route of a level (public, user or admin) as every caller.
func (all Callers) Ask(t *testing.T, h http.Handler, method, path, level string) {
	t.Helper()
	for _, who := range all {
		want := map[string]string{"public": In, "user": who.user, "admin": who.admin}[level]
		w := Ask(h, method, path, "{}", append([]string{"Content-Type", "application/json"}, who.headers...)...)
		if got := Verdict(w); got != want {
			t.Errorf("%s %s by %s: %s (%d %s), want %s", method, path, who.name, got, w.Code, w.Body, want)
		}
		if want == SignIn && !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer realm=") {
			t.Errorf("%s %s by %s: no challenge", method, path, who.name)
		}
		if body := w.Body.String(); strings.Contains(body, Key) || strings.Contains(body, "eyJ") {
			t.Errorf("%s %s by %s: the answer shows a secret: %s", method, path, who.name, body)
		}
	}
}

// Filled replaces the parameters of a path by a value.
func Filled(path, value string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") || strings.HasPrefix(p, "*") {
			parts[i] = value
		}
	}
	return strings.Join(parts, "/")
}

// Verdict returns the verdict in an answer.
func Verdict(w *httptest.ResponseRecorder) string {
	switch {
	case w.Code == http.StatusUnauthorized && Code(w) == "unauthorized":
		// The error of signing in with an empty token is the route's own.
		return SignIn
	case w.Code == http.StatusForbidden && Code(w) == "forbidden":
		return Refused
	default:
		return In
	}
}
