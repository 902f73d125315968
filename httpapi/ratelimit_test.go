package httpapi

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// Tokens are refilled at the rate, up to the burst.
func TestBuckets(t *testing.T) {
	b, err := newBuckets(RateConfig{PerMinute: 60, Burst: 3})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	for i, tt := range []struct {
		after time.Duration
		ok    bool
		left  int
		full  time.Duration
		next  time.Duration
	}{
		{0, true, 2, time.Second, 0},
		{0, true, 1, 2 * time.Second, 0},
		{0, true, 0, 3 * time.Second, time.Second},
		{0, false, 0, 3 * time.Second, time.Second},
		{500 * time.Millisecond, false, 0, 2500 * time.Millisecond, 500 * time.Millisecond},
		{500 * time.Millisecond, true, 0, 3 * time.Second, time.Second},
		{time.Hour, true, 2, time.Second, 0},
	} {
		now = now.Add(tt.after)
		ok, left, full, next := b.takeToken("user u1", now)
		near := func(a, b time.Duration) bool { return math.Abs(float64(a-b)) < float64(time.Millisecond) }
		if ok != tt.ok || left != tt.left || !near(full, tt.full) || !near(next, tt.next) {
			t.Errorf("%d: %t, %d left, full in %s, next in %s; want %+v", i, ok, left, full, next, tt)
		}
	}
	if ok, left, _, _ := b.takeToken("user u2", now); !ok || left != 2 {
		t.Error("one user's requests count for another")
	}
	if none, err := newBuckets(RateConfig{}); none != nil || err != nil {
		t.Errorf("no limit is %v, %v", none, err)
	}
}

// The number of tracked clients is bounded.
func TestBucketsAreBounded(t *testing.T) {
	b, err := newBuckets(RateConfig{PerMinute: 60, Burst: 3})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	askers := 3 * maxBuckets
	if testing.Short() {
		askers = maxBuckets + maxBuckets/16
	}
	for i := range askers {
		b.takeToken(fmt.Sprint("net ", i), now)
	}
	b.of.CleanUp()
	if n := b.of.EstimatedSize(); n > maxBuckets {
		t.Errorf("%d buckets", n)
	}
}

func TestBucketOf(t *testing.T) {
	for _, tt := range []struct {
		remote string
		id     auth.Identity
		want   string
	}{
		{"203.0.113.9:1", auth.Identity{}, "addr 203.0.113.9"},
		{"[::ffff:203.0.113.9]:1", auth.Identity{}, "addr 203.0.113.9"},
		{"[2001:db8:1:2:3:4:5:6]:1", auth.Identity{}, "net 2001:db8:1:2::/64"},
		{"[2001:db8:1:2::ffff]:1", auth.Identity{}, "net 2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:1", auth.Identity{}, "net fe80::/64"},
		{"@", auth.Identity{}, "elsewhere"},
		{"203.0.113.9:1", auth.Identity{Subject: "u1"}, "user u1"},
		{"203.0.113.9:1", auth.Identity{Subject: "u1", Key: true}, "user u1"},
		{"203.0.113.9:1", auth.Identity{Key: true}, "key"},
	} {
		r := &http.Request{RemoteAddr: tt.remote}
		if got := bucketOf(proxies(nil).client(r), tt.id); got != tt.want {
			t.Errorf("%s, %+v: %q, want %q", tt.remote, tt.id, got, tt.want)
		}
	}
}

func limitedServer(t *testing.T, perMinute, burst int) *Server {
	t.Helper()
	cfg, _ := config(t)
	cfg.Auth, cfg.Rate = web.Verifier(t), RateConfig{PerMinute: perMinute, Burst: burst}
	return newServer(t, cfg)
}

func TestRateLimit(t *testing.T) {
	s := limitedServer(t, 1, 5)
	one := []string{"Authorization", "Bearer " + web.Token("u1")}
	var w *httptest.ResponseRecorder
	for i := range 5 {
		w = web.Ask(s.Handler(), "GET", "/counter/counts", "", one...)
		if h := w.Header(); w.Code != http.StatusOK || h.Get("RateLimit-Limit") != "5" || h.Get("RateLimit-Remaining") != strconv.Itoa(4-i) {
			t.Fatalf("request %d: %d %v", i, w.Code, h)
		}
	}
	w = web.Ask(s.Handler(), "GET", "/counter/counts", "", one...)
	if h := w.Header(); w.Code != http.StatusTooManyRequests || web.Code(w) != "rate_limited" || h.Get("RateLimit-Remaining") != "0" ||
		h.Get("Retry-After") != "60" || h.Get("RateLimit-Reset") != "300" {
		t.Fatalf("%d %v %s", w.Code, h, w.Body)
	}
	for name, tt := range map[string]struct {
		path    string
		headers []string
		status  int
	}{
		"the same, from elsewhere": {"/counter/counts", append([]string{"RemoteAddr", "198.51.100.1:1"}, one...), 429},
		"the same, a stream":       {streamPath, one, 429},
		"the same, a page":         {"/counter/-/counts/c1", append([]string{"Accept", "text/html"}, one...), 429},
		"the same, by cookie":      {"/counter/-/counts/c1", []string{"Cookie", tokenCookie + "=" + web.Token("u1")}, 429},
		"another user there":       {"/counter/counts", []string{"Authorization", "Bearer " + web.Token("u2")}, 200},
		"the API key":              {"/counter/counts", []string{"X-API-Key", web.Key}, 200},
		"nobody":                   {"/signin", nil, 200},
		"health":                   {"/livez", one, 200},
		"ready":                    {"/readyz", one, 200},
		"status":                   {"/statusz", []string{"X-API-Key", web.Key}, 200},
		"metrics":                  {"/metrics", []string{"X-API-Key", web.Key}, 200},
		"a forwarded address":      {"/counter/counts", append([]string{"X-Forwarded-For", "198.51.100.2"}, one...), 429},
	} {
		if w := web.Ask(s.Handler(), "GET", tt.path, "", tt.headers...); w.Code != tt.status {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// Guessing is limited by address, whatever names are tried; a stream counts once; quiet routes do not count.
func TestRateLimitOfGuesses(t *testing.T) {
	s := limitedServer(t, 1, 20)
	for i := range 20 {
		headers := []string{"X-API-Key", fmt.Sprint("guess", i), "X-Forwarded-For", fmt.Sprint("198.51.100.", i)}
		if i%2 == 0 {
			headers = []string{"Authorization", "Bearer " + web.Token(fmt.Sprint("u", i), "aud", "other")}
		}
		if w := web.Ask(s.Handler(), "GET", "/counter/counts", "", headers...); w.Code != http.StatusUnauthorized {
			t.Fatalf("guess %d: %d", i, w.Code)
		}
	}
	for _, path := range []string{"/counter/counts", "/metrics"} {
		if w := web.Ask(s.Handler(), "GET", path, "", "X-API-Key", "guess20"); w.Code != http.StatusTooManyRequests {
			t.Errorf("guess 20, %s: %d", path, w.Code)
		}
	}
	if w := web.Ask(s.Handler(), "POST", "/signin", `{"token":"x"}`, "Content-Type", "application/json"); w.Code != http.StatusTooManyRequests {
		t.Errorf("signing in: %d", w.Code)
	}
	if w := web.Ask(s.Handler(), "GET", "/counter/counts", "", "Authorization", "Bearer "+web.Token("honest")); w.Code != http.StatusOK {
		t.Errorf("an honest neighbour: %d", w.Code)
	}
	w := web.Ask(s.Handler(), "GET", "/counter/counts/c1"+"/stream", "", "Authorization", "Bearer "+web.Token("reader"))
	if got := w.Header().Get("RateLimit-Remaining"); got != "19" {
		t.Errorf("a stream: %s left", got)
	}
	if w := web.Ask(s.Handler(), "GET", "/livez", ""); w.Header().Get("RateLimit-Limit") != "" {
		t.Error("health is limited")
	}
}

// The budget of questions to the cloud is that of a client address, and of a /64 network with IPv6, as long as nobody is signed in. Of those who
// are, each has a budget, wherever they are.
func TestBudgetOfAsksIsOfAnAddress(t *testing.T) {
	for _, access := range []Access{Public, Optional} {
		synctest.Test(t, func(t *testing.T) {
			rows := store.TableSpec{Name: "rows", Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}}, Policy: store.PolicyIntent}
			cfg, _ := configIn(t, storetest.Open(t, rows)) // a table that the cloud has
			cfg.Auth = web.Verifier(t)
			cfg.ReadCloud = func(context.Context, string, attr.Item) error { return nil }
			cfg.Apps[0].Routes = append(cfg.Apps[0].Routes, Route{Method: "GET", Path: "/rows/:id", Access: access, Do: func(c *gin.Context) error {
				return View(c, func(tx *store.Tx) error {
					if it, err := tx.Get(rows.Name, attr.Item{"id": attr.S(c.Param("id"))}); err != nil || it != nil {
						return err
					}
					return fault.New(fault.NotFound, "no_row", "There is no such row.")
				})
			}})
			s := newServer(t, cfg)
			n := 0
			ask := func(from string, headers ...string) int {
				n++
				return web.Ask(s.Handler(), "GET", fmt.Sprint("/counter/rows/invented-", n), "", append(headers, "RemoteAddr", from)...).Code
			}
			spend := func(from string, headers ...string) (answers int) {
				for answers < 1000 && ask(from, headers...) == http.StatusNotFound {
					answers++
				}
				return answers
			}
			for _, spent := range []struct {
				first, again, other string
			}{
				{"203.0.113.9:1", "203.0.113.9:2", "203.0.113.10:1"},
				{"[2001:db8:1:2::1]:1", "[2001:db8:1:2:3:4:5:6]:2", "[2001:db8:1:3::1]:1"},
			} {
				if got := spend(spent.first); got != 400 {
					t.Errorf("access %d: %d answers for %s", access, got, spent.first)
				}
				if code := ask(spent.again); code != http.StatusServiceUnavailable {
					t.Errorf("access %d: %d for %s after %s", access, code, spent.again, spent.first)
				}
				if code := ask(spent.other); code != http.StatusNotFound {
					t.Errorf("access %d: %d for %s after %s", access, code, spent.other, spent.first)
				}
			}
			if access == Public {
				return
			}
			user := []string{"Authorization", "Bearer " + web.Token("u1")}
			if code := ask("203.0.113.9:1", user...); code != http.StatusNotFound {
				t.Errorf("%d for a user at an address that has spent its budget", code)
			}
		})
	}
}
