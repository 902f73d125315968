package node

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi"
)

// Limits have bounds, and trusted proxies must not include everybody.
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
		h := HTTPConfig{Rate: httpapi.RateConfig{PerMinute: 600, Burst: 120}, MaxStreams: 8192}
		tt.change(&h)
		problems := h.Problems()
		if len(problems) > 1 || (len(problems) == 1) != (tt.bad != "") || len(problems) == 1 && problems[0].Key != tt.bad {
			t.Errorf("%+v: %v, want %q", h, problems, tt.bad)
		}
		if tt.bad == "" && len(h.Limits(0).Proxies) != len(h.TrustedProxies) {
			t.Errorf("%v became %v", h.TrustedProxies, h.Limits(0).Proxies)
		}
	}
}

// Proxies that together are the internet would let anybody claim any address.
func TestProxiesThatAreTheInternet(t *testing.T) {
	for name, tt := range map[string]struct {
		proxies []string
		refused bool
	}{
		"two halves":             {[]string{"0.0.0.0/1", "128.0.0.0/1"}, true},
		"one half":               {[]string{"128.0.0.0/1"}, true},
		"four of eight parts":    {[]string{"0.0.0.0/3", "32.0.0.0/3", "64.0.0.0/3", "96.0.0.0/3"}, true},
		"IPv6":                   {[]string{"::/2", "4000::/2"}, true},
		"private networks":       {[]string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.1", "fc00::/7"}, false},
		"one network many times": {[]string{"64.0.0.0/2", "64.0.0.0/2", "64.0.0.0/3", "96.1.2.3"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := HTTPConfig{MaxStreams: 1, TLS: TLSConfig{Mode: "off"}, TrustedProxies: tt.proxies}
			refused := slices.ContainsFunc(c.Problems(), func(p app.Problem) bool { return p.Key == "http.trusted_proxies" })
			if refused != tt.refused {
				t.Errorf("refused: %t, %v", refused, c.Problems())
			}
		})
	}
}
