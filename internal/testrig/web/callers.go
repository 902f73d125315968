package web

import (
	"net/http"
	"net/http/httptest"
	"slices"
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

const cookieName = "touchline_token"

// Caller is a caller of every route, with the expected verdict for each level.
type Caller struct {
	Name    string
	Headers []string
	User    string
	Admin   string
	Looking string // for a page or stream, if different; In holds for an admin's page only if the name contains "admin"
}

// Callers returns all types of callers.
func Callers(t *testing.T) []Caller {
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
	good := Token("u1")
	const own, cross = "same-origin", "cross-site"
	return []Caller{
		{"nobody", nil, SignIn, SignIn, ""},
		{"a user", bearer(good), In, Refused, ""},
		{"a user of another group", bearer(Token("u1", "cognito:groups", []string{"Admin", "admins", "scorers"})), In, Refused, ""},
		{"an admin", bearer(AdminToken()), In, In, ""},
		{"the API key", []string{"X-API-Key", Key}, In, In, ""},
		{"user and API key", append(bearer(good), "X-API-Key", Key), In, In, ""},

		{"a wrong API key", []string{"X-API-Key", Key + "x"}, SignIn, SignIn, ""},
		{"an admin and a wrong API key", append(bearer(AdminToken()), "X-API-Key", "x"), SignIn, SignIn, ""},
		{"the API key in the query's place", []string{"Authorization", "Bearer " + Key}, SignIn, SignIn, ""},
		{"a stranger's admin", bearer(foreign), SignIn, SignIn, ""},
		{"another app's admin", bearer(Token("u1", with("aud", "other")...)), SignIn, SignIn, ""},
		{"an admin who was", bearer(Token("u1", with("exp", 1_700_000_000)...)), SignIn, SignIn, ""},
		{"an access token", bearer(Token("u1", with("token_use", "access")...)), SignIn, SignIn, ""},
		{"another pool's admin", bearer(Token("u1", with("iss", PoolURL+"2")...)), SignIn, SignIn, ""},
		{"a forged admin", bearer(forged()), SignIn, SignIn, ""},
		{"rubbish", bearer("rubbish"), SignIn, SignIn, ""},
		{"Basic", []string{"Authorization", "Basic dTpw"}, SignIn, SignIn, ""},

		// The cookie is accepted for pages and streams; for anything else, our own pages must have sent it.
		{"a cookie", cookie(good), SignIn, SignIn, In},
		{"an admin's cookie", cookie(AdminToken()), SignIn, SignIn, In},
		{"a cookie from our page", cookie(good, "Sec-Fetch-Site", own), In, Refused, ""},
		{"an admin's cookie from our page", cookie(AdminToken(), "Sec-Fetch-Site", own), In, In, ""},
		{"a cookie from our page, an older browser", cookie(good, "Origin", "http://example.com"), In, Refused, ""},
		{"an admin's cookie from another site", cookie(AdminToken(), "Sec-Fetch-Site", cross, "Origin", "https://evil.example"), SignIn, SignIn, SignIn},
		{"an admin's cookie from a sibling", cookie(AdminToken(), "Sec-Fetch-Site", "same-site", "Origin", "http://a.example.com"), SignIn, SignIn, SignIn},
		{"an admin's cookie from a file", cookie(AdminToken(), "Origin", "null"), SignIn, SignIn, SignIn},
		{"an admin's cookie from our page, through a proxy", cookie(AdminToken(), "Sec-Fetch-Site", own, "Origin", "https://touchline.example"), In, In, ""},
		{"an admin's cookie, a longer origin", cookie(AdminToken(), "Origin", "http://example.com.evil.example"), SignIn, SignIn, SignIn},
		{"an admin's cookie, a user in the origin", cookie(AdminToken(), "Origin", "http://evil.example@example.com"), SignIn, SignIn, SignIn},
		{"an admin's cookie, a path in the origin", cookie(AdminToken(), "Origin", "http://example.com/"), SignIn, SignIn, SignIn},
		{"an expired cookie", cookie(Token("u1", "exp", 1_700_000_000), "Sec-Fetch-Site", own), SignIn, SignIn, ""},
		{"two cookies", cookie(good, "Sec-Fetch-Site", own, "Cookie", cookieName+"="+AdminToken()), SignIn, SignIn, ""},
		{"a good cookie and a bad token", cookie(AdminToken(), "Sec-Fetch-Site", own, "Authorization", "Bearer x"), SignIn, SignIn, ""},
		{"another cookie", []string{"Cookie", "token=" + AdminToken(), "Sec-Fetch-Site", own}, SignIn, SignIn, ""},

		// Claims of a proxy or a client are not an identity.
		{"headers of a proxy", []string{
			"X-Forwarded-For", "127.0.0.1", "X-Real-Ip", "127.0.0.1", "Forwarded", "for=127.0.0.1", "X-Forwarded-User", "boss",
			"X-Amzn-Oidc-Identity", "boss", "X-Forwarded-Access-Token", AdminToken(), "Proxy-Authorization", "Bearer " + AdminToken(),
		}, SignIn, SignIn, ""},
		{"another spelling", []string{"X_API_KEY", Key, "X-Api-Key ", Key}, SignIn, SignIn, ""},
	}
}

// forged returns a token whose claims were changed after it was signed.
func forged() string {
	was, is := Token("u1"), AdminToken()
	i, j := strings.LastIndex(was, "."), strings.LastIndex(is, ".")
	return is[:j] + was[i:]
}

// Want returns the expected verdict for a route of a level (public, user or admin). looks says that it is a page or a stream.
func (who *Caller) Want(level string, looks bool) string {
	looks = looks && who.Looking != ""
	switch {
	case level == "public":
		return In
	case level == "user" && looks, level == "admin" && looks && (who.Looking != In || strings.Contains(who.Name, "admin")):
		return who.Looking
	case level == "user":
		return who.User
	case looks:
		return Refused
	}
	return who.Admin
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
