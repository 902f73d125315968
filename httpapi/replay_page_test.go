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
