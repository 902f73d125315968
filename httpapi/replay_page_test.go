package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestReplayPage works the forms as a browser without scripts does.
func TestReplayPage(t *testing.T) {
	r := newAppRig(t, func(c *Config) { c.Replay = &fakeDeck{} })
	send := func(as, method, path string, form url.Values, site string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Authorization", "Bearer "+as)
		req.Header.Set("Sec-Fetch-Site", site)
		req.Header.Set("Accept", "text/html")
		w := httptest.NewRecorder()
		r.server.Handler().ServeHTTP(w, req)
		return w
	}
	for _, step := range []struct {
		as, method, path string
		form             url.Values
		site             string
		status           int
		shows            string // on the page afterwards
	}{
		{"admin", "GET", "/replay", nil, "none", 200, "Nothing is being played"},
		{"u1", "GET", "/replay", nil, "none", 403, "Nothing is being played"},
		{"u1", "POST", "/replay", url.Values{"tapeId": {"1144530"}}, "same-origin", 403, "Nothing is being played"},
		{"admin", "POST", "/replay", url.Values{"tapeId": {"1144530"}}, "cross-site", 403, "Nothing is being played"},
		{"admin", "POST", "/replay", url.Values{"tapeId": {"7"}}, "same-origin", 404, "Nothing is being played"},
		{"admin", "POST", "/replay", url.Values{"tapeId": {"1144530"}, "speed": {"-1"}}, "same-origin", 400, "Nothing is being played"},
		{"admin", "POST", "/replay", url.Values{"tapeId": {"1144530"}, "speed": {"30"}, "faults": {"7"}}, "same-origin", 303, "ball 0 of 612"},
		{"admin", "POST", "/replay/1144530", url.Values{"action": {"seek"}, "position": {"300"}}, "same-origin", 303, "ball 300 of 612"},
		{"admin", "POST", "/replay/1144530", url.Values{"action": {"pause"}}, "same-origin", 303, `value="play"`},
		{"admin", "POST", "/replay/1144530", url.Values{"action": {"speed"}, "speed": {"NaN"}}, "same-origin", 400, `value="30"`},
		{"admin", "POST", "/replay/9", url.Values{"action": {"play"}}, "same-origin", 404, "ball 300 of 612"},
		{"admin", "POST", "/replay/1144530", url.Values{"action": {"remove"}}, "cross-site", 403, "ball 300 of 612"},
		{"admin", "POST", "/replay/1144530", url.Values{"action": {"remove"}}, "same-origin", 303, "Nothing is being played"},
	} {
		w := send(step.as, step.method, step.path, step.form, step.site)
		if w.Code != step.status {
			t.Errorf("%s %s %s %v: %d, want %d: %.300s", step.as, step.method, step.path, step.form, w.Code, step.status, w.Body)
		}
		if w.Code == http.StatusSeeOther && w.Header().Get("Location") != "/replay" {
			t.Errorf("it goes on at %s", w.Header().Get("Location"))
		}
		if page := send("admin", "GET", "/replay", nil, "none").Body.String(); !strings.Contains(page, step.shows) {
			t.Errorf("after %s %v no %q", step.path, step.form, step.shows)
		}
	}
	if w := send("nobody-in-particular", "POST", "/replay", nil, "same-origin"); w.Code != http.StatusForbidden {
		t.Errorf("a user plays tapes: %d", w.Code)
	}
}

func TestHubPage(t *testing.T) {
	r := newAppRig(t, func(c *Config) {
		c.Hub = func() HubHealth {
			return HubHealth{
				Feed:   FeedHealth{Configured: true, Polls: 9, Endpoints: []EndpointHealth{{Endpoint: "livescores", State: "open", Used: 7, Limit: 2000, LastError: "timeout"}}},
				Leases: map[string]HubLease{"7": {Fence: 12}},
			}
		}
	})
	for as, want := range map[string]int{"admin": http.StatusOK, "u1": http.StatusForbidden} {
		req := httptest.NewRequest(http.MethodGet, "/hub", nil)
		req.Header.Set("Authorization", "Bearer "+as)
		w := httptest.NewRecorder()
		r.server.Handler().ServeHTTP(w, req)
		if w.Code != want {
			t.Errorf("%s: %d", as, w.Code)
		}
		for _, text := range []string{"England v India 7", "7 of 2000", "timeout", `<td class="num">12</td>`} {
			if want == http.StatusOK && !strings.Contains(w.Body.String(), text) {
				t.Errorf("no %q in %s", text, w.Body)
			}
		}
	}
	r.do([]deed{{as: "key", ask: "GET /hub", status: 200, want: []string{`"fence":12`, `"endpoint":"livescores"`, `"state":"open"`}}})
}
