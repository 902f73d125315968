package node_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/edge/hacktracker/hacktrackerapp"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/edge/pickem/pickemapp"
	"github.com/touchline/touchline/edge/scorekeeper/scorekeeperapp"
	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/edge/threefc/threefcapp"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
)

// threefcSession signs somebody in to 3FC by a link or, if an admin is given, by that admin's code, and returns the cookie.
func threefcSession(t *testing.T, s *store.Store, address, admin string) string {
	t.Helper()
	rules, secret := &threefc.Service{Handle: threefc.Rows("3fc-prod-app")}, threefc.SessionSecret("", "")
	if err := s.Update(t.Context(), func(tx *store.Tx) (err error) {
		var c threefc.Change
		if admin == "" {
			magic, err := rules.StartMagic(tx, address)
			if err != nil {
				return err
			}
			c, err = rules.CompleteMagic(tx, magic.Token, secret)
			if err != nil {
				return err
			}
		} else {
			code, _, err := rules.CodeFor(tx, "l", admin, address)
			if err != nil {
				return err
			}
			if c, err = rules.CompleteCode(tx, address, code, secret); err != nil {
				return err
			}
		}
		return tx.TransactWrite(store.TransactWrite{Items: c.Writes})
	}); err != nil {
		t.Fatal(err)
	}
	return "threefc_session=" + secret
}

// Strangers use up the rate of an address: people who are signed in there go on, on pages and at the API of every application. A cookie that
// is no session changes nothing.
func TestSignedInPeopleDoNotShareARateWithStrangers(t *testing.T) {
	const burst = 40
	n, err := node.Open(t.Context(), t.TempDir(), node.Parts{
		Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), HTTP: node.HTTPConfig{Rate: httpapi.RateConfig{PerMinute: 1, Burst: burst}},
		Apps: []*app.App{cricketapp.New(), scorekeeperapp.New(), pickemapp.New(), hacktrackerapp.New(), threefcapp.New()},
		Auth: func(*store.Store) (*auth.Verifier, error) { return web.Verifier(t), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	boss, rules := "boss@example.org", &threefc.Service{Handle: threefc.Rows("3fc-prod-app")}
	mailed := threefcSession(t, n.Store(), boss, "")
	ended := threefcSession(t, n.Store(), "gone@example.org", "")
	if err := n.Store().Update(t.Context(), func(tx *store.Tx) error {
		c, err := rules.CreateLeague(tx, boss, threefc.League{LeagueID: "l", Name: "League"})
		if err != nil {
			return err
		}
		if err := rules.SignOut(tx, ended[len("threefc_session="):]); err != nil {
			return err
		}
		return tx.TransactWrite(store.TransactWrite{Items: c.Writes})
	}); err != nil {
		t.Fatal(err)
	}
	byCode := threefcSession(t, n.Store(), boss, boss)
	addr, end := runNode(t, n)
	defer end()
	status := func(path string, headers ...string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		c := web.Client(t)
		c.Timeout, c.CheckRedirect = time.Minute, func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	page := []string{"Accept", "text/html", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "none"}
	for i := 0; status("/3fc/v1/public/leagues") != http.StatusTooManyRequests; i++ {
		if i > burst {
			t.Fatal("strangers are not limited")
		}
	}
	token := web.Token("scorer")
	for i := 0; status("/cricket/-/", append([]string{"Cookie", fmt.Sprint("touchline_token=", token, i)}, page...)...) != http.StatusTooManyRequests; i++ {
		if i > burst {
			t.Fatal("each forged cookie has a rate of its own")
		}
	}
	for mount, tt := range map[string]struct{ api, page, forged, ended []string }{
		"/cricket":     {api: []string{"Authorization", "Bearer " + token}, page: []string{"Cookie", "touchline_token=" + token}},
		"/scorekeeper": {api: []string{"Authorization", "Bearer " + token}, page: []string{"Cookie", "touchline_token=" + token}, forged: []string{"Cookie", "wordle_session=0b8f6a3e-5f0e-4f0a-9f43-2f6b8e0d9c11"}},
		"/pickem":      {api: []string{"Authorization", "Bearer " + token}, page: []string{"Cookie", "touchline_token=" + token}},
		"/hacktracker": {api: []string{"Authorization", "Bearer " + token}, page: []string{"Cookie", "touchline_token=" + token}},
		"/3fc":         {api: []string{"Cookie", mailed}, page: []string{"Cookie", mailed}, forged: []string{"Cookie", "threefc_session=" + threefc.SessionSecret("", "")}, ended: []string{"Cookie", ended}},
	} {
		api, first := mount+"/openapi.json", mount+"/-/"
		if got := status(api, tt.api...); got != http.StatusOK {
			t.Errorf("%s: a signed-in caller of the API: %d", mount, got)
		}
		if got := status(first, append(tt.page, page...)...); got == http.StatusTooManyRequests {
			t.Errorf("%s: a signed-in reader of a page: %d", mount, got)
		}
		strangers := map[string][]string{"nobody": nil, "a forged cookie": {"Cookie", "touchline_token=" + token + "x"}, "a forged session": {"Cookie", "__Host-touchline_session=a.b"}}
		if tt.forged != nil {
			strangers["a forged session of the application"], strangers["a session that was ended"] = tt.forged, tt.ended
		}
		for name, headers := range strangers {
			for path, more := range map[string][]string{api: nil, first: page} {
				if got := status(path, append(slices.Clip(more), headers...)...); got != http.StatusTooManyRequests {
					t.Errorf("%s: %s at %s: %d", mount, name, path, got)
				}
			}
		}
	}
	if got := status("/3fc/v1/leagues", "Cookie", mailed); got != http.StatusOK {
		t.Errorf("a scorer's leagues: %d", got)
	}
	for i := range 2 * burst { // an admin's code cannot use up its user's rate
		if status("/3fc/v1/leagues", "Cookie", byCode) == http.StatusTooManyRequests {
			break
		} else if i > burst {
			t.Fatal(fmt.Sprint("a session is not limited after ", i))
		}
	}
	if got := status("/3fc/v1/leagues", "Cookie", mailed); got != http.StatusOK {
		t.Errorf("a scorer whose code was used up by somebody else: %d", got)
	}
}
