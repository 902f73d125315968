package node

import (
	"math"
	"net/netip"
	"slices"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/strictyaml"
)

// Upper limits: a larger number is probably a typo.
const (
	mostRate    = 1_000_000
	mostStreams = 1_000_000
)

// HTTPConfig configures the node's HTTP server.
type HTTPConfig struct {
	CORS       []string           `yaml:"cors"` // origins of web apps that may call, such as https://app.example
	Rate       httpapi.RateConfig `yaml:"rate"`
	MaxStreams int                `yaml:"max_streams"` // event streams open at once

	// PublicURL is where people reach the node, such as https://scores.example. It is the base of links in messages and of redirects.
	PublicURL string    `yaml:"public_url"`
	TLS       TLSConfig `yaml:"tls"`

	// TrustedProxies are addresses and networks (CIDR) of proxies trusted for X-Forwarded-For and X-Forwarded-Proto.
	TrustedProxies []string `yaml:"trusted_proxies"`
}

// AuthConfig configures how users sign in.
type AuthConfig struct {
	Cognito    CognitoConfig           `yaml:"cognito"`
	Issuers    map[string]IssuerConfig `yaml:"issuers"` // by name, which the operator chooses
	AdminGroup string                  `yaml:"admin_group"`
	APIKey     string                  `yaml:"api_key" secret:"true"` // X-API-Key of a full admin; empty: none
	Session    SessionConfig           `yaml:"session"`
	DevIssuer  bool                    `yaml:"dev_issuer"` // accept tokens signed with this node's own key; loopback only
	DevLogin   string                  `yaml:"dev_login"`  // loopback address of that issuer's login page; empty: none
	DevUsers   string                  `yaml:"dev_users"`  // file of the users of that page; empty: demo users
}

// CognitoConfig is the user pool whose ID tokens users sign in with.
type CognitoConfig struct {
	Issuer    string   `yaml:"issuer"` // https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEf
	ClientIDs []string `yaml:"client_ids"`
}

// Limits returns the section's limits, with at most the given connections (0: as many as Connections wants). The section must be valid.
func (h HTTPConfig) Limits(connections int) httpapi.Limits {
	l := httpapi.Limits{Rate: h.Rate, MaxStreams: h.MaxStreams, MaxConnections: connections}
	for _, text := range h.TrustedProxies {
		if net, err := parseProxy(text); err == nil {
			l.Proxies = append(l.Proxies, net)
		}
	}
	return l
}

// parseProxy parses an address, or a network in CIDR notation. A network of all addresses is refused: it would trust everybody.
func parseProxy(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.WithZone("").Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	net, err := netip.ParsePrefix(text)
	switch {
	case err != nil || net.Addr().Is4In6():
		return net, fault.New(fault.Invalid, "bad_proxy", "%q is not an address or network such as 127.0.0.1 or 10.0.0.0/8", text)
	case net.Bits() == 0:
		return net, fault.New(fault.Invalid, "bad_proxy", "%s covers every address: name only the proxies", text)
	}
	return net.Masked(), nil
}

// coversHalf reports whether networks together cover half of all IPv4 or of all IPv6 addresses, or more.
func coversHalf(nets []netip.Prefix) bool {
	covered := map[bool]float64{} // by Is4
	for i, net := range nets {
		inside := slices.ContainsFunc(nets[:i], func(o netip.Prefix) bool { return o == net }) ||
			slices.ContainsFunc(nets, func(o netip.Prefix) bool { return o.Bits() < net.Bits() && o.Contains(net.Addr()) })
		if !inside {
			covered[net.Addr().Is4()] += math.Ldexp(1, -net.Bits())
		}
	}
	return covered[true] >= 0.5 || covered[false] >= 0.5
}

// Connections returns how many connections the section wants.
func (h HTTPConfig) Connections() int { return h.MaxStreams + httpapi.ShortConnections }

// Problems returns the errors in the section.
func (h HTTPConfig) Problems() (out []app.Problem) {
	bad := strictyaml.AddTo(&out, "http.")
	if h.Rate.PerMinute < 0 || h.Rate.Burst < 0 || h.Rate.PerMinute > 0 && h.Rate.Burst == 0 {
		bad("rate", "per_minute and burst must both be above 0, or per_minute 0 for no limit")
	}
	if h.Rate.PerMinute > mostRate || h.Rate.Burst > mostRate {
		bad("rate", "per_minute and burst must be at most %d; per_minute 0 is no limit", mostRate)
	}
	if h.MaxStreams < 1 || h.MaxStreams > mostStreams {
		bad("max_streams", "must be from 1 to %d, not %d", mostStreams, h.MaxStreams)
	}
	for _, text := range h.TrustedProxies {
		if _, err := parseProxy(text); err != nil {
			bad("trusted_proxies", "%s", err)
		}
	}
	if coversHalf(h.Limits(0).Proxies) {
		bad("trusted_proxies", "together cover most addresses of the internet, so anybody could claim any address: name only the proxies")
	}
	if h.PublicURL != "" && (h.PublicURL == "*" || !httpapi.ValidOrigin(h.PublicURL)) {
		bad("public_url", "must be an origin such as https://scores.example, in lower case and without a path, not %q", h.PublicURL)
	}
	h.TLS.problems(strictyaml.AddTo(&out, "http.tls."))
	return out
}
