package edge

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/internal/clock"
)

// An issuer's admin claim makes admins of the applications that its settings name and of nothing else, whether somebody signs in with a
// browser or sends a token.
func TestAdminClaimOpensTheNamedApplications(t *testing.T) {
	key, err := auth.NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	pool := httptest.NewUnstartedServer(nil)
	at := "http://" + pool.Listener.Addr().String()
	pool.Config.Handler = devlogin.New(at, key, []devlogin.User{{Subject: "gina", Groups: []string{"game_admin"}}, {Subject: "peter"}})
	pool.Start()
	defer pool.Close()
	bearer, err := key.SignClaims(map[string]any{
		"iss": at, "aud": devlogin.ClientID, "sub": "gina", "exp": clock.Real().Now().Add(time.Hour).Unix(), "cognito:groups": []string{"game_admin"},
	})
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{ // what they belong to
		"/scorekeeper/-/admin":                 "scorekeeper",
		"/scorekeeper/-/admin/days/2026-07-04": "scorekeeper",
		"/pickem/-/admin":                      "pickem",
		"/pickem/admin/users":                  "pickem",
		"/hacktracker/users":                   "hacktracker",
		"/_/people":                            auth.AdminOfNode,
		"/_/api/people":                        auth.AdminOfNode,
		"/_/hub":                               auth.AdminOfNode,
		"/_/api/hub":                           auth.AdminOfNode,
		"/_/api/sync":                          auth.AdminOfNode,
		"/_/api/conflicts":                     auth.AdminOfNode,
		"/cricket/conflicts":                   auth.AdminOfNode,
		"/cricket/sync":                        auth.AdminOfNode,
		"/metrics":                             auth.AdminOfNode,
		"/statusz":                             auth.AdminOfNode,
	}
	for _, of := range [][]string{{"scorekeeper"}, {"scorekeeper", "pickem"}, {auth.AdminOfNode}} {
		t.Run(strings.Join(of, " and "), func(t *testing.T) {
			c := DefaultConfig()
			issuers("pool", node.IssuerConfig{URL: at, ClientID: devlogin.ClientID, AdminClaim: "cognito:groups", AdminValue: "game_admin", AdminOf: of})(&c)
			if problems := c.Problems(); len(problems) > 0 {
				t.Fatal(problems)
			}
			parts := node.Parts{Auth: c.Auth.Maker(c.DataDir, slog.New(slog.DiscardHandler)), Session: c.Auth.Session}
			served(t, t.TempDir(), parts, func(base string) {
				signIn := func(user string) (cookies map[string]string) {
					cookies = map[string]string{}
					_, issuer := hop(t, "GET", base+"/_/signin/with/pool", "", cookies)
					_, chosen := hop(t, "POST", issuer, url.Values{"user": {user}}.Encode(), map[string]string{})
					hop(t, "GET", chosen, "", cookies)
					return cookies
				}
				signIn("peter")
				gina := signIn("gina")
				var shown []string
				for name, value := range gina {
					shown = append(shown, name+"="+value)
				}
				cookie := strings.Join(shown, "; ")
				isAdminOf := func(what string) bool { return slices.Contains(of, what) || of[0] == auth.AdminOfNode }
				for path, what := range paths {
					want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[isAdminOf(what)]
					if got, _ := statusOf(t, base+path, "Cookie", cookie, "Sec-Fetch-Site", "same-origin", "Accept", "text/html"); got != want {
						t.Errorf("%s with a session: %d, want %d", path, got, want)
					}
					if got, _ := statusOf(t, base+path, "Authorization", "Bearer "+bearer, "Accept", "text/html"); got != want {
						t.Errorf("%s with a token: %d, want %d", path, got, want)
					}
				}
				for _, path := range []string{"/_/sessions?all=1", "/_/api/sessions?all=1"} {
					page := pageAt(t, base+path, gina)
					if strings.Contains(page, "peter") != isAdminOf(auth.AdminOfNode) || !strings.Contains(page, "gina") {
						t.Errorf("%s: %s", path, page)
					}
				}
			})
		})
	}
}
