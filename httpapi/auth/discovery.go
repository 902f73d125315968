package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// discovery is an issuer's discovery document (OpenID Connect Discovery 1.0).
type discovery struct {
	oidc.ProviderConfig
	Methods  []string `json:"token_endpoint_auth_methods_supported"`          // default: client_secret_basic
	End      string   `json:"end_session_endpoint"`                           // OpenID Connect RP-Initiated Logout 1.0; empty: none
	SendsIss bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207
}

// discover fetches the discovery document. The library refuses a document of another issuer, and we refuse endpoints without https.
func (f *fetched) discover(ctx context.Context) (said *discovery, raw []byte, err error) {
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, f.cfg.Client), f.issuer)
	if err != nil {
		return nil, nil, fmt.Errorf("discovery: %w", err)
	}
	var body json.RawMessage
	if err := p.Claims(&body); err != nil {
		return nil, nil, fmt.Errorf("discovery: %w", err)
	}
	if said = f.readDiscovery(body); said == nil {
		return nil, nil, errors.New("discovery: the issuer names no endpoints, or some without TLS")
	}
	return said, body, nil
}

// readDiscovery parses a discovery document; nil: it is unusable.
func (f *fetched) readDiscovery(raw []byte) *discovery {
	var d discovery
	if len(raw) == 0 || json.Unmarshal(raw, &d) != nil || d.IssuerURL != f.issuer {
		return nil
	}
	for _, endpoint := range []string{d.AuthURL, d.TokenURL, d.JWKSURL} {
		if !secure(endpoint) {
			return nil
		}
	}
	return &d
}

// secure reports whether a URL uses TLS or is on this machine.
func secure(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	local := u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && local
}

// client returns the configuration that x/oauth2 needs to request a token.
func (d *discovery) client(c *Client, back string) *oauth2.Config {
	end := oauth2.Endpoint{AuthURL: d.AuthURL, TokenURL: d.TokenURL, AuthStyle: oauth2.AuthStyleInHeader}
	if c.Secret == "" || len(d.Methods) > 0 && !slices.Contains(d.Methods, "client_secret_basic") {
		end.AuthStyle = oauth2.AuthStyleInParams
	}
	scopes := c.Scopes
	if len(scopes) == 0 {
		scopes = []string{oidc.ScopeOpenID, "profile", "email"}
	}
	return &oauth2.Config{ClientID: c.ID, ClientSecret: c.Secret, Endpoint: end, RedirectURL: back, Scopes: scopes}
}
