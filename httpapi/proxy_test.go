package httpapi

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/web"
)

func trusted(t *testing.T, nets ...string) proxies {
	t.Helper()
	var out proxies
	for _, text := range nets {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// Forwarding headers count only from trusted proxies, up to the rightmost address that is not one.
func TestClientBehindProxies(t *testing.T) {
	nets := trusted(t, "127.0.0.1/32", "10.0.0.0/8", "fd00::/8")
	for _, tt := range []struct {
		remote    string
		forwarded []string
		trust     proxies
		want      string
	}{
		{"192.0.2.7:999", []string{"6.6.6.6"}, nil, "192.0.2.7"},
		{"[fe80::1%eth0]:999", []string{"6.6.6.6"}, nil, "fe80::1"},
		{"[::ffff:192.0.2.7]:9", []string{"6.6.6.6"}, nets, "192.0.2.7"},
		{"@", []string{"6.6.6.6"}, nets, "invalid IP"},
		{"127.0.0.1:9", nil, nets, "127.0.0.1"},
		{"127.0.0.1:9", []string{"6.6.6.6"}, nil, "127.0.0.1"},
		{"127.0.0.1:9", []string{"6.6.6.6"}, nets, "6.6.6.6"},
		{"[::ffff:127.0.0.1]:9", []string{"6.6.6.6"}, nets, "6.6.6.6"},
		{"127.0.0.1:9", []string{"1.1.1.1, 6.6.6.6"}, nets, "6.6.6.6"},
		{"127.0.0.1:9", []string{"1.1.1.1", "6.6.6.6, 10.1.2.3"}, nets, "6.6.6.6"},
		{"127.0.0.1:9", []string{"10.0.0.1, 10.0.0.2"}, nets, "10.0.0.1"},
		{"[fd00::1]:9", []string{"2001:db8::1%eth0"}, nets, "2001:db8::1"},
		{"127.0.0.1:9", []string{"6.6.6.6:4711"}, nets, "6.6.6.6"},
		{"127.0.0.1:9", []string{"[2001:db8::1]:4711"}, nets, "2001:db8::1"},
		{"127.0.0.1:9", []string{"::ffff:6.6.6.6"}, nets, "6.6.6.6"},
		{"127.0.0.1:9", []string{"1.1.1.1, unknown"}, nets, "127.0.0.1"},
		{"127.0.0.1:9", []string{""}, nets, "127.0.0.1"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = tt.remote
		r.Header["X-Forwarded-For"] = tt.forwarded
		if got := tt.trust.client(r).String(); got != tt.want {
			t.Errorf("%s for %q: %s, want %s", tt.remote, tt.forwarded, got, tt.want)
		}
	}
}

// proxied returns a server behind a proxy on its own machine; asked sends requests of its clients.
func proxied(t *testing.T, trust proxies, log *slog.Logger) (asked func(client, method, path, body string, headers ...string) *httptest.ResponseRecorder) {
	t.Helper()
	cfg, _ := config(t)
	cfg.Auth, cfg.Rate, cfg.Proxies, cfg.Logger = web.Verifier(t), RateConfig{PerMinute: 1, Burst: 20}, trust, log
	s := newServer(t, cfg)
	return func(client, method, path, body string, headers ...string) *httptest.ResponseRecorder {
		headers = append([]string{"RemoteAddr", "127.0.0.1:40000", "X-Forwarded-For", client, "X-Forwarded-Proto", "https"}, headers...)
		return web.Ask(s.Handler(), method, path, body, headers...)
	}
}

// Guessing behind a proxy is limited by client address and token, and locks nobody else out.
func TestGuessesBehindAProxy(t *testing.T) {
	for name, trust := range map[string]proxies{"trusted": trusted(t, "127.0.0.0/8"), "not trusted": nil} {
		ask := proxied(t, trust, nil)
		asJSON := []string{"Content-Type", "application/json"}
		for i := range 150 {
			w := ask("198.51.100.66", "GET", "/counter/counts", "", "Authorization", fmt.Sprint("Bearer guess", i))
			want := http.StatusUnauthorized
			if i >= 20 {
				want = http.StatusTooManyRequests
			}
			if w.Code != want {
				t.Fatalf("%s: guess %d: %d, want %d", name, i, w.Code, want)
			}
		}
		for path, want := range map[string]int{"/signin": 200, "/counter": 200} {
			if w := ask("198.51.100.7", "GET", path, ""); w.Code != want {
				t.Errorf("%s: %s of somebody else: %d", name, path, w.Code)
			}
		}
		w := ask("198.51.100.7", "POST", "/signin", `{"token":"`+web.Token("u1")+`"}`, asJSON...)
		if w.Code != http.StatusOK {
			t.Errorf("%s: signing in: %d %s", name, w.Code, w.Body)
		}
		if trust == nil {
			continue
		}
		if secure := strings.Contains(w.Header().Get("Set-Cookie"), "Secure"); !secure {
			t.Errorf("%s: the cookie is not Secure: %q", name, w.Header().Get("Set-Cookie"))
		}
		if w := ask("198.51.100.7", "POST", "/signin", `{"token":"x"}`, asJSON...); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: somebody else's first wrong token: %d", name, w.Code)
		}
	}
}

// A wrong token sent from many addresses is limited too; a valid one never is.
func TestOneWrongTokenFromEverywhere(t *testing.T) {
	ask := proxied(t, trusted(t, "127.0.0.1/32"), nil)
	var last int
	for i := range 21 {
		last = ask(fmt.Sprint("198.51.100.", i), "GET", "/counter/counts", "", "Authorization", "Bearer old").Code
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the 21st time: %d", last)
	}
	if w := ask("198.51.100.1", "GET", "/counter/counts", "", "Authorization", "Bearer "+web.Token("u1")); w.Code != http.StatusOK {
		t.Errorf("a right token: %d", w.Code)
	}
	for i := range 40 { // the proxy itself, or a program on its machine: limited by token only
		if w := ask("", "GET", "/counter/counts", "", "Authorization", fmt.Sprint("Bearer ", i)); w.Code != http.StatusUnauthorized {
			t.Fatalf("token %d: %d", i, w.Code)
		}
	}
}

// X-Forwarded-Proto counts only from a trusted proxy; an untrusted proxy is logged, once.
func TestForwardedProto(t *testing.T) {
	asJSON := []string{"Content-Type", "application/json"}
	body := `{"token":"` + web.Token("u1") + `"}`
	for _, tt := range []struct {
		trust  proxies
		secure bool
		told   int
	}{{trusted(t, "127.0.0.1/32"), true, 0}, {trusted(t, "10.0.0.0/8"), false, 1}, {nil, false, 1}} {
		var told safeLog
		ask := proxied(t, tt.trust, slog.New(slog.NewTextHandler(&told, nil)))
		for range 3 {
			w := ask("198.51.100.7", "POST", "/signin", body, asJSON...)
			if got := strings.Contains(w.Header().Get("Set-Cookie"), "Secure"); w.Code != http.StatusOK || got != tt.secure {
				t.Errorf("%v: %d, secure %v", tt.trust, w.Code, got)
			}
		}
		if n := strings.Count(told.String(), "http.trusted_proxies"); n != tt.told {
			t.Errorf("%v: told %d times", tt.trust, n)
		}
	}
}

// New limits apply at once, and counts under an unchanged rate are kept.
func TestSetLimits(t *testing.T) {
	cfg, _ := config(t)
	cfg.Auth, cfg.Rate = web.Verifier(t), RateConfig{PerMinute: 1, Burst: 2}
	s := newServer(t, cfg)
	status := func() int {
		return web.Ask(s.Handler(), "GET", "/counter/counts", "", "Authorization", "Bearer "+web.Token("u1")).Code
	}
	for i, tt := range []struct {
		rate RateConfig
		want int
	}{
		{RateConfig{PerMinute: 1, Burst: 2}, 200}, {RateConfig{PerMinute: 1, Burst: 2}, 200}, {RateConfig{PerMinute: 1, Burst: 2}, 429},
		{RateConfig{PerMinute: 1, Burst: 1}, 200}, {RateConfig{PerMinute: 1, Burst: 1}, 429}, {RateConfig{}, 200},
	} {
		if err := s.SetLimits(Limits{Rate: tt.rate, MaxStreams: 7}); err != nil {
			t.Fatal(err)
		}
		if got := status(); got != tt.want {
			t.Errorf("%d: %d, want %d", i, got, tt.want)
		}
	}
	if got := s.limits.Load(); got.streams != 7 || got.MaxConnections != 7+ShortConnections {
		t.Errorf("%+v", got)
	}
}

// A request addressed to another machine's name is refused in the usual form of that path: the application's, a problem document, or a
// page.
func TestOtherMachinesAreRefused(t *testing.T) {
	cfg, _ := config(t)
	address, stop := start(t, cfg)
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	for _, test := range []struct{ path, accept, contentType, body string }{
		{"/counter/counts", "", "application/json; charset=utf-8",
			`"message":"this node serves its own machine only","oops":"not_here"`},
		{streamPath, "text/event-stream", "application/json; charset=utf-8", `"oops":"not_here"`},
		{"/metrics", "", "application/problem+json", `"status":421,"detail":"this node serves its own machine only"`},
		{"/_/", "text/html", "text/html; charset=utf-8", "<p>This node serves its own machine only</p>"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+strings.TrimPrefix(address, "http://")+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "evil.example"
		r.Header.Set("Accept", test.accept)
		resp, err := web.Client(t).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusMisdirectedRequest || resp.Header.Get("Content-Type") != test.contentType ||
			!strings.Contains(string(body), test.body) || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s %v %s %v", test.path, resp.Status, resp.Header, body, err)
		}
	}
}
