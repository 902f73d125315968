package edge

import (
	"slices"
	"testing"
)

// What the node itself answers cannot be the application's.
func TestMount(t *testing.T) {
	for mount, good := range map[string]bool{
		"/cricket": true, "/": true, "/api/v1": true, "/hubs": true, "/api/hub": true,
		"": false, "cricket": false, "/cricket/": false, "/a b": false, "/:id": false, "/_": false, "/_/x": false, "/hub": false, "/hub/x": false, "/docs": false,
		"/replay": false, "/matches": false, "/matches/x": false, "/metrics": false, "/livez": false, "/readyz": false, "/statusz": false,
		"/signin": false, "/signout": false,
		"/..": false, "/a/../hub": false, "/./a": false, "//a": false, "/a//b": false, `/a\\b`: false, "/é": false,
	} {
		c := defaultCricket()
		c.Mount = mount
		if got := !slices.ContainsFunc(c.problems(), func(p Problem) bool { return p.Key == "cricket.mount" }); got != good {
			t.Errorf("%q: %t", mount, got)
		}
	}
}

func TestAppConfig(t *testing.T) {
	for _, tt := range []struct {
		app AppConfig
		bad string
	}{
		{AppConfig{}, ""},
		{AppConfig{MinVersion: "2.14.0", StoreURL: "https://apps.apple.com/app/id123456789", Maintenance: true}, ""},
		{AppConfig{MinVersion: "2"}, ""},
		{AppConfig{MinVersion: "v2"}, "cricket.app.min_version"},
		{AppConfig{MinVersion: "2..1"}, "cricket.app.min_version"},
		{AppConfig{MinVersion: "1.2.3.4.5"}, "cricket.app.min_version"},
		{AppConfig{MinVersion: "latest"}, "cricket.app.min_version"},
		{AppConfig{StoreURL: "http://apps.example/x"}, "cricket.app.store_url"},
		{AppConfig{StoreURL: "itms-apps://x"}, "cricket.app.store_url"},
	} {
		c := defaultCricket()
		c.App = tt.app
		problems := c.problems()
		if len(problems) > 1 || (len(problems) == 1) != (tt.bad != "") || len(problems) == 1 && problems[0].Key != tt.bad {
			t.Errorf("%+v: %v, want %q", tt.app, problems, tt.bad)
		}
	}
}

// Limits have bounds, and proxies are named, not everybody.
func TestHTTPConfig(t *testing.T) {
	for _, tt := range []struct {
		change func(*HTTPConfig)
		bad    string
	}{
		{func(*HTTPConfig) {}, ""},
		{func(h *HTTPConfig) {
			h.TrustedProxies = []string{"127.0.0.1", "10.0.0.0/8", "::1", "fd00::/8", "fe80::1%eth0"}
		}, ""},
		{func(h *HTTPConfig) { h.TrustedProxies = []string{"0.0.0.0/0"} }, "http.trusted_proxies"},
		{func(h *HTTPConfig) { h.TrustedProxies = []string{"::/0"} }, "http.trusted_proxies"},
		{func(h *HTTPConfig) { h.TrustedProxies = []string{"proxy.example"} }, "http.trusted_proxies"},
		{func(h *HTTPConfig) { h.TrustedProxies = []string{"10.0.0.0/33"} }, "http.trusted_proxies"},
		{func(h *HTTPConfig) { h.TrustedProxies = []string{""} }, "http.trusted_proxies"},
		{func(h *HTTPConfig) { h.MaxStreams = 1_000_001 }, "http.max_streams"},
		{func(h *HTTPConfig) { h.MaxStreams = 0 }, "http.max_streams"},
		{func(h *HTTPConfig) { h.Rate.PerMinute = 1_000_001 }, "http.rate"},
		{func(h *HTTPConfig) { h.Rate.Burst = 1_000_001 }, "http.rate"},
	} {
		h := DefaultConfig().HTTP
		tt.change(&h)
		problems := h.problems()
		if len(problems) > 1 || (len(problems) == 1) != (tt.bad != "") || len(problems) == 1 && problems[0].Key != tt.bad {
			t.Errorf("%+v: %v, want %q", h, problems, tt.bad)
		}
		if tt.bad == "" && len(h.limits(0).Proxies) != len(h.TrustedProxies) {
			t.Errorf("%v became %v", h.TrustedProxies, h.limits(0).Proxies)
		}
	}
}

// A port is one, and two listeners have two.
func TestListenProblems(t *testing.T) {
	for _, tt := range []struct {
		listen, dynamodb string
		bad              string
	}{
		{"127.0.0.1:8080", "127.0.0.1:8000", ""},
		{"127.0.0.1:0", "127.0.0.1:0", ""},
		{"127.0.0.1:8080", "[::1]:8080", ""},
		{"127.0.0.1:99999", "", "listen"},
		{"127.0.0.1:-1", "", "listen"},
		{"127.0.0.1:8080", "127.0.0.1:99999", "dynamodb.listen"},
		{"127.0.0.1:8080", "127.0.0.1:8080", "dynamodb.listen"},
		{"127.0.0.1:8080", "localhost:8080", "dynamodb.listen"},
	} {
		c := DefaultConfig()
		c.Listen, c.DynamoDB.Listen = tt.listen, tt.dynamodb
		problems := c.Problems()
		if len(problems) > 1 || (len(problems) == 1) != (tt.bad != "") || len(problems) == 1 && problems[0].Key != tt.bad {
			t.Errorf("%+v: %v", tt, problems)
		}
	}
	if !sameAddress(":80", "10.0.0.1:80") || !sameAddress("0.0.0.0:80", "[::]:80") || sameAddress("10.0.0.1:80", "10.0.0.2:80") {
		t.Error("every host is told from one wrongly")
	}
}
