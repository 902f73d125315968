package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/httpapi/operator"
)

// TestReplayPage sends the forms as a browser without scripts does.
func TestReplayPage(t *testing.T) {
	r := newAppRig(t, func(c *setup) { c.App.Replay = &fakeReplays{} })
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
		{"admin", "GET", "/cricket/-/replay", nil, "none", 200, "Nothing is being played"},
		{"u1", "GET", "/cricket/-/replay", nil, "none", 403, "Nothing is being played"},
		{"u1", "POST", "/cricket/-/replay", url.Values{"tapeId": {"1144530"}}, "same-origin", 403, "Nothing is being played"},
		{"admin", "POST", "/cricket/-/replay", url.Values{"tapeId": {"1144530"}}, "cross-site", 403, "Nothing is being played"},
		{"admin", "POST", "/cricket/-/replay", url.Values{"tapeId": {"7"}}, "same-origin", 404, "Nothing is being played"},
		{"admin", "POST", "/cricket/-/replay", url.Values{"tapeId": {"1144530"}, "speed": {"-1"}}, "same-origin", 400, "Nothing is being played"},
		{"admin", "POST", "/cricket/-/replay", url.Values{"tapeId": {"1144530"}, "speed": {"30"}, "faults": {"7"}}, "same-origin", 303, "ball 0 of 612"},
		{"admin", "GET", "/cricket/-/replay?q=nothing+of+that+name", nil, "none", 200, "ball 0 of 612"},
		{"admin", "POST", "/cricket/-/replay/1144530", url.Values{"action": {"seek"}, "position": {"300"}}, "same-origin", 303, "ball 300 of 612"},
		{"admin", "POST", "/cricket/-/replay/1144530", url.Values{"action": {"pause"}}, "same-origin", 303, `value="play"`},
		{"admin", "POST", "/cricket/-/replay/1144530", url.Values{"action": {"speed"}, "speed": {"NaN"}}, "same-origin", 400, `value="30"`},
		{"admin", "POST", "/cricket/-/replay/9", url.Values{"action": {"play"}}, "same-origin", 404, "ball 300 of 612"},
		{"admin", "POST", "/cricket/-/replay/1144530", url.Values{"action": {"remove"}}, "cross-site", 403, "ball 300 of 612"},
		{"admin", "POST", "/cricket/-/replay/1144530", url.Values{"action": {"remove"}}, "same-origin", 303, "Nothing is being played"},
	} {
		w := send(step.as, step.method, step.path, step.form, step.site)
		if w.Code != step.status {
			t.Errorf("%s %s %s %v: %d, want %d: %.300s", step.as, step.method, step.path, step.form, w.Code, step.status, w.Body)
		}
		if w.Code == http.StatusSeeOther && w.Header().Get("Location") != "/cricket/-/replay" {
			t.Errorf("redirected to %s", w.Header().Get("Location"))
		}
		if page := send("admin", "GET", "/cricket/-/replay", nil, "none").Body.String(); !strings.Contains(page, step.shows) {
			t.Errorf("after %s %v no %q", step.path, step.form, step.shows)
		}
	}
	if w := send("nobody-in-particular", "POST", "/cricket/-/replay", nil, "same-origin"); w.Code != http.StatusForbidden {
		t.Errorf("a user who is not an admin may play recordings: %d", w.Code)
	}
}

func TestOperatorPage(t *testing.T) {
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	r := newAppRig(t, func(c *setup) {
		c.App.Feed = func() *Feed {
			return &Feed{Oddities: map[string]int64{"unknown_status": 2}, Status: poll.Status{
				Leading: true, Polls: 9, Marquee: 3,
				Health:  map[sportmonks.Endpoint]sportmonks.Health{"livescores": {State: "open", Until: at, LastFail: "timeout <b>"}},
				Budgets: map[sportmonks.Endpoint]sportmonks.Budget{"livescores": {Used: 7, Limit: 2000}},
				Jobs:    []poll.JobStatus{{Name: "team sync", Runs: 4, Failed: 1, LastRun: at, LastError: "no answer", NextRun: at.Add(time.Minute)}},
				Matches: []poll.Held{{MatchID: "7", Fence: 12, Listed: true, Closely: true, From: "livescores", Next: at.Add(3 * time.Second)}},
			}}
		}
		c.App.Push = func() *Pushes {
			alarms := []push.Alarm{{Reason: "BadTopic", Count: 5, Last: at, Advice: "Name the app's bundle id."}}
			return &Pushes{Status: push.Status{Circuit: "closed", Alarms: alarms}, Reasons: map[string]int64{"BadTopic": 5}}
		}
	})
	for as, want := range map[string]int{"admin": http.StatusOK, "u1": http.StatusForbidden} {
		req := httptest.NewRequest(http.MethodGet, "/_/hub", nil)
		req.Header.Set("Authorization", "Bearer "+as)
		w := httptest.NewRecorder()
		r.server.Handler().ServeHTTP(w, req)
		if w.Code != want {
			t.Errorf("%s: %d", as, w.Code)
		}
		for _, text := range []string{
			"England v India 7", "7 of 2000", "timeout &lt;b&gt;", ">12</td>", "every ball, livescores, next 1 Jun 12:00", "unknown status", "failing, not called until 1 Jun 12:00", "league 3", "1 Jun 12:01",
			"The feed fails at livescores; it is not called until 1 Jun 12:00", "Apple answered BadTopic 5 times, last at 1 Jun 12:00: Name the app",
			"The job team sync failed at 1 Jun 12:00, and is tried again at 1 Jun 12:01: no answer.", "BadTopic, since the start",
		} {
			if want == http.StatusOK && !strings.Contains(w.Body.String(), text) {
				t.Errorf("no %q in %s", text, w.Body)
			}
		}
	}
	r.do([]deed{{as: "key", ask: "GET /hub", status: 200, want: []string{`"fence":12`, `"endpoint":"livescores"`, `"state":"open"`, `"listed":true`, `"problems":["The feed`}}})
}

// shown holds the data of the operator page.
type shown struct {
	cricketState
	streams operator.Streams
}

// judged returns the problems that the page lists.
func (h *shown) judged(checks ...operator.Check) []string {
	st := operator.State{At: h.At, Streams: h.streams}
	st.DeriveProblems(checks, problemsOf(&h.cricketState))
	return st.Problems
}

// Problems are listed in words, the worst first; what is well is not listed.
func TestOperatorProblems(t *testing.T) {
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	well := func() *shown {
		return &shown{cricketState{
			At: at, Feed: feedHealth{Configured: true, Feed: Feed{Status: poll.Status{LastAt: at}}, Endpoints: []endpointHealth{{
				"livescores", sportmonks.Health{State: "closed", LastFail: "once"}, sportmonks.Budget{Used: 1700, Limit: 2000, Reserve: 100},
			}}},
			Push:    pushHealth{Configured: true, Pushes: Pushes{Status: push.Status{Circuit: "closed"}}},
			Leagues: leagueCounts{Known: 3, Active: 1},
			Matches: []matchState{{MatchID: "7", Name: "A v B", Status: "live", TickAgeSeconds: 60, Followers: 2, Sessions: map[string]int{"active": 1}}},
		}, operator.Streams{Open: 10, Limit: 100}}
	}
	if got := well().judged(operator.Check{Name: "store"}); len(got) != 0 {
		t.Fatalf("a healthy node: %q", got)
	}
	endpoint := func(h *shown) *endpointHealth { return &h.Feed.Endpoints[0] }
	for want, change := range map[string]func(h *shown){
		"No feed is configured":                    func(h *shown) { h.Feed = feedHealth{} },
		"No league is active":                      func(h *shown) { h.Leagues.Active = 0 },
		"has not been read since 12:00:00: 503.":   func(h *shown) { h.Feed.LastError = "503" },
		"has not been read yet: 503.":              func(h *shown) { h.Feed.LastError, h.Feed.LastAt = "503", time.Time{} },
		"Action needed: the feed has refused":      func(h *shown) { endpoint(h).Alarm = "401" },
		"The feed refuses livescores":              func(h *shown) { endpoint(h).State = "refused" },
		"it is not called until 12:00:00 (once)":   func(h *shown) { endpoint(h).State, endpoint(h).Until = "open", at },
		"not to call livescores until 12:0":        func(h *shown) { endpoint(h).State, endpoint(h).Until = "resting", at },
		"are used up (1700 of 2000, 100 kept":      func(h *shown) { endpoint(h).State = "broke" },
		"nearly used up: 1720 of 2000":             func(h *shown) { endpoint(h).Used = 1720 },
		"Nothing is pushed: cricket.push.key":      func(h *shown) { h.Push = pushHealth{} },
		"Nothing is pushed until 12:00:30":         func(h *shown) { h.Push.Paused = at.Add(30 * time.Second) },
		"Apple cannot be reached":                  func(h *shown) { h.Push.Circuit = "open" },
		"is being tried again":                     func(h *shown) { h.Push.Circuit = "half-open" },
		"answered BadTopic once, last at 12:00:00": func(h *shown) { h.Push.Alarms = []push.Alarm{{Reason: "BadTopic", Count: 1, Last: at}} },
		"A v B is live and node n2, which reads it, has been silent for 80 seconds": func(h *shown) {
			h.Matches[0].TickAgeSeconds, h.Matches[0].Owner = 80, "n2"
		},
		"A v B is live and has not been read for 6 min": func(h *shown) { h.Matches[0].TickAgeSeconds = 360 },
		"live with 2 followers and no Live":             func(h *shown) { h.Matches[0].Sessions = map[string]int{"ended": 2} },
		"live and 2 cards of 3 do not show: Apple accepted the start": func(h *shown) {
			h.Matches[0].Sessions, h.Matches[0].Missing = map[string]int{"active": 1, "pending": 2}, 2
		},
		"its matches are read by fixtures/{id}, next at 12:00:05": func(h *shown) {
			h.Matches[0].Watched = &poll.Held{Listed: true, From: "fixtures/{id}", Next: at.Add(5 * time.Second), StandIn: true}
		},
		"All alerts of A v B are stale: the last 4 were older than 90 seconds": func(h *shown) {
			h.Matches[0].Watched = &poll.Held{Listed: true, Stale: 4}
		},
		`The feed gives A v B the status "Wet Outfield"`: func(h *shown) {
			h.Matches[0].Watched = &poll.Held{Listed: true, Unlisted: "Wet Outfield"}
		},
		"90 of 100 streams are open": func(h *shown) { h.streams.Open = 90 },
	} {
		h := well()
		change(h)
		if got := h.judged(); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("want %q alone, got %q", want, got)
		}
	}
	stumps := well()
	stumps.Matches[0].Phase, stumps.Matches[0].Sessions = string(cricket.PhaseStumps), map[string]int{"pending": 2}
	if got := stumps.judged(); len(got) != 0 {
		t.Errorf("phones that rest overnight: %v", got)
	}
	h := well()
	h.Push.Circuit, endpoint(h).Alarm = "open", "401"
	held := well()
	held.Matches[0].TickAgeSeconds, held.Matches[0].Owner, held.Matches[0].Lease = 80, "n1", &matchLease{Fence: 3}
	if got := held.judged(); len(got) != 0 {
		t.Errorf("a match in a break that this node reads: %v", got)
	}
	if got := well().judged(operator.Check{Name: "store", Warning: "no room"}); len(got) != 1 || got[0] != "This node's store: no room." {
		t.Errorf("a full disk: %q", got)
	}
	got := h.judged(operator.Check{Name: "store", Err: errors.New("full")})
	if len(got) != 3 || !strings.Contains(got[0], "not ready (store): full") || !strings.Contains(got[1], "Action needed") {
		t.Errorf("several problems, in this order: %q", got)
	}
}

// Pages link only to pages that their reader may see.
func TestFootOfPages(t *testing.T) {
	r := newAppRig(t, func(c *setup) { c.App.Replay = &fakeReplays{} })
	for as, want := range map[string]string{
		"admin": `<a href="/cricket/-/matches">Matches</a> <a href="/cricket/-/replay">Replays</a> <a href="/_/hub">Status</a> <a href="/signin">Sign out</a></nav>`,
		"u1":    `<a href="/cricket/-/matches">Matches</a> <a href="/signin">Sign out</a></nav>`,
	} {
		paths := []string{"/cricket/-/matches", "/"}
		if as == "admin" {
			paths = append(paths, "/_/hub", "/cricket/-/replay")
		}
		for _, path := range paths {
			req := httptest.NewRequest(http.MethodGet, path, nil)
			req.Header.Set("Authorization", "Bearer "+as)
			req.Header.Set("Accept", "text/html")
			w := httptest.NewRecorder()
			r.server.Handler().ServeHTTP(w, req)
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s as %s (%d) has no %s", path, as, w.Code, want)
			}
		}
	}
}
