package edge

import (
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/process"
	"github.com/touchline/touchline/internal/testrig/web"
)

// pageAt returns the text of a page, requested with cookies.
func pageAt(t *testing.T, at string, cookies map[string]string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := web.Client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// hop sends one request with cookies and follows no redirect.
func hop(t *testing.T, method, to, body string, cookies map[string]string) (status int, location string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Sec-Fetch-Mode", "navigate")
	if body != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, c := range resp.Cookies() {
		cookies[c.Name] = c.Value
	}
	return resp.StatusCode, resp.Header.Get("Location")
}

// A node with the development issuer's login page signs people in. After a restart without that issuer, their sessions and the issuer's
// tokens stay valid.
func TestSignInSurvivesARestartOffline(t *testing.T) {
	c := DefaultConfig()
	c.DataDir = t.TempDir()
	c.Auth.DevIssuer, c.Auth.DevLogin = true, "127.0.0.1:"+process.FreePort(t)
	if problems := c.Problems(); len(problems) > 0 {
		t.Fatal(problems)
	}
	log := slog.New(slog.DiscardHandler)
	stop, err := c.Auth.ServeLogin(t.Context(), c.DataDir, log)
	if err != nil {
		t.Fatal(err)
	}
	parts := node.Parts{Auth: c.Auth.Maker(c.DataDir, log), Session: c.Auth.Session}
	cookies := map[string]string{}
	served(t, c.DataDir, parts, func(base string) {
		_, issuer := hop(t, "GET", base+"/_/signin/with/dev?to=/cricket/-/matches", "", cookies)
		_, chosen := hop(t, "POST", issuer, url.Values{"user": {"olga"}}.Encode(), map[string]string{})
		if status, to := hop(t, "GET", chosen, "", cookies); status != http.StatusSeeOther || to != "/cricket/-/matches" {
			t.Fatalf("%d to %s", status, to)
		}
		if status, _ := hop(t, "GET", "http://"+c.Auth.DevLogin+"/authorize?redirect_uri=https://evil.example/", "", nil); status != http.StatusBadRequest {
			t.Errorf("a client elsewhere: %d", status)
		}
	})
	stop()
	key, err := auth.ReadDevIssuer(c.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	bearer, err := key.SignClaims(map[string]any{
		"iss": "http://" + c.Auth.DevLogin, "aud": "touchline", "sub": "ben", "exp": clock.Real().Now().Add(time.Hour).Unix(),
	})
	if err != nil {
		t.Fatal(err)
	}
	parts.Auth = c.Auth.Maker(c.DataDir, log)
	served(t, c.DataDir, parts, func(base string) {
		if status, _ := hop(t, "GET", base+"/_/people", "", cookies); status != http.StatusOK {
			t.Errorf("the admin's session: %d", status)
		}
		if status, _ := statusOf(t, base+"/cricket/matches", "Authorization", "Bearer "+bearer); status != http.StatusOK {
			t.Errorf("a token: %d", status)
		}
		if status, _ := statusOf(t, base+"/cricket/matches", "Authorization", "Bearer "+bearer+"x"); status != http.StatusUnauthorized {
			t.Errorf("a token that is none: %d", status)
		}
	})
	// After it is removed from the configuration, the issuer's people are no longer accepted.
	c.Auth.DevLogin = ""
	parts.Auth = c.Auth.Maker(c.DataDir, log)
	served(t, c.DataDir, parts, func(base string) {
		if status, _ := hop(t, "GET", base+"/_/people", "", cookies); status != http.StatusSeeOther {
			t.Errorf("a session of an issuer that was taken out: %d", status)
		}
		if status, _ := statusOf(t, base+"/cricket/matches", "Authorization", "Bearer "+bearer); status != http.StatusUnauthorized {
			t.Errorf("a token of it: %d", status)
		}
	})
}

// Users come from a configured file, and an unreadable one is reported.
func TestDevUsers(t *testing.T) {
	for text, want := range map[string]string{
		"users: [{subject: sam, groups: [admin]}]": "",
		"users: []":            "there are no users",
		"users: [{name: Sam}]": "a subject of their own",
		"users: [{subject: sam}, {subject: sam}]":   "a subject of their own",
		"users: [{subject: sam, password: sesame}]": "unknown key",
		"people: [{subject: sam}]":                  "unknown key",
		strings.Repeat("#\n", 1<<20):                "longer than",
	} {
		c := DefaultConfig()
		c.DataDir = t.TempDir()
		c.Auth.DevLogin, c.Auth.DevUsers = "127.0.0.1:0", c.DataDir+"/users.yaml"
		if err := os.WriteFile(c.Auth.DevUsers, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		stop, err := c.Auth.ServeLogin(t.Context(), c.DataDir, slog.New(slog.DiscardHandler))
		if want == "" != (err == nil) || err != nil && !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil {
			stop()
		}
	}
}

// A demo's login page has a button for each of its users, which signs them in and shows their data.
func TestDemoUsersHaveButtons(t *testing.T) {
	base := demoed(t, "pickem").base
	for user, people := range map[string]int{"demo-bram": http.StatusForbidden, "demo-ada": http.StatusOK} {
		cookies := map[string]string{}
		_, issuer := hop(t, "GET", base+"/_/signin/with/demo", "", cookies)
		page := pageAt(t, issuer, nil)
		if strings.Count(page, "<button") != 12 || !strings.Contains(page, `value="`+user+`"`) {
			t.Errorf("no button for %s: %s", user, page)
		}
		action := regexp.MustCompile(`action="([^"]+)"`).FindStringSubmatch(page)
		at, _, _ := strings.Cut(issuer, "/authorize")
		if len(action) != 2 {
			t.Fatal(page)
		}
		_, chosen := hop(t, "POST", at+html.UnescapeString(action[1]), url.Values{"user": {user}}.Encode(), map[string]string{})
		hop(t, "GET", chosen, "", cookies)
		if status, _ := hop(t, "GET", base+"/_/sessions", "", cookies); status != http.StatusOK {
			t.Errorf("%s is not signed in: %d", user, status)
		}
		if status, _ := hop(t, "GET", base+"/_/people", "", cookies); status != people {
			t.Errorf("%s at the page of admins: %d, not %d", user, status, people)
		}
		if events := pageAt(t, base+"/pickem/-/", cookies); !strings.Contains(events, "Rematch of Revolution") {
			t.Errorf("%s sees no event: %s", user, events)
		}
	}
}
