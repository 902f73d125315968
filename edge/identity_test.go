package edge

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

func TestIdentityProblems(t *testing.T) {
	const pool = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEf"
	for name, tt := range map[string]struct {
		change func(c *Config)
		want   []string // keys
	}{
		"default":    {func(*Config) {}, nil},
		"dev issuer": {func(c *Config) { c.Auth.DevIssuer = true }, nil},
		"LAN":        {func(c *Config) { c.Listen = "0.0.0.0:8080" }, []string{"listen"}},
		"LAN, any":   {func(c *Config) { c.Listen = ":8080" }, []string{"listen"}},
		"LAN with a pool": {func(c *Config) {
			c.Listen, c.Auth.Cognito = "0.0.0.0:80", node.CognitoConfig{Issuer: pool, ClientIDs: []string{"app"}}
		}, nil},
		"LAN with a key":       {func(c *Config) { c.Listen, c.Auth.APIKey = "0.0.0.0:80", "0123456789abcdefghij" }, nil},
		"LAN with dev issuer":  {func(c *Config) { c.Listen, c.Auth.DevIssuer = "192.168.0.7:80", true }, []string{"listen", "auth.dev_issuer"}},
		"all, LAN, dev issuer": {func(c *Config) { c.Listen, c.Auth.DevIssuer, c.Auth.APIKey = ":80", true, "0123456789abcdefghij" }, []string{"auth.dev_issuer"}},
		"no address":           {func(c *Config) { c.Listen = "8080" }, []string{"listen"}},
		"pool without clients": {func(c *Config) { c.Auth.Cognito.Issuer = pool }, []string{"auth.cognito.client_ids"}},
		"clients without pool": {func(c *Config) { c.Auth.Cognito.ClientIDs = []string{"app"} }, []string{"auth.cognito.issuer"}},
		"empty client":         {func(c *Config) { c.Auth.Cognito = node.CognitoConfig{Issuer: pool, ClientIDs: []string{"app", ""}} }, []string{"auth.cognito.client_ids"}},
		"pool over http": {func(c *Config) {
			c.Auth.Cognito = node.CognitoConfig{Issuer: "http://pool.example", ClientIDs: []string{"app"}}
		}, []string{"auth.cognito.issuer"}},
		"pool with a password": {func(c *Config) {
			c.Auth.Cognito = node.CognitoConfig{Issuer: "https://a:b@pool.example", ClientIDs: []string{"app"}}
		}, []string{"auth.cognito.issuer"}},
		"issuers":          {issuers("a", node.IssuerConfig{URL: pool, ClientID: "x"}, "b", node.IssuerConfig{URL: "http://127.0.0.1:9/", Audience: []string{"api"}, Token: "access"}), nil},
		"LAN with issuers": {func(c *Config) { issuers("a", node.IssuerConfig{URL: pool, ClientID: "x"})(c); c.Listen = ":80" }, nil},
		"issuer's name":    {issuers("A b", node.IssuerConfig{URL: pool, ClientID: "x"}), []string{"auth.issuers.A b"}},
		"issuer of nobody": {issuers("a", node.IssuerConfig{}), []string{"auth.issuers.a.url", "auth.issuers.a.client_id", "auth.issuers.a.client_ids"}},
		"issuer over http": {issuers("a", node.IssuerConfig{URL: "http://a.example", ClientID: "x"}), []string{"auth.issuers.a.url"}},
		"issuer twice":     {issuers("a", node.IssuerConfig{URL: pool, ClientID: "x"}, "b", node.IssuerConfig{URL: pool, ClientID: "y"}), []string{"auth.issuers.b.url"}},
		"issuer and pool": {func(c *Config) {
			issuers("a", node.IssuerConfig{URL: pool, ClientID: "x"})(c)
			c.Auth.Cognito = node.CognitoConfig{Issuer: pool, ClientIDs: []string{"app"}}
		}, []string{"auth.issuers.a.url"}},
		"a client as audience": {issuers("a", node.IssuerConfig{URL: pool, ClientID: "x", Audience: []string{"x"}}), []string{"auth.issuers.a.audience"}},
		"an empty audience":    {issuers("a", node.IssuerConfig{URL: pool, ClientID: "x", Audience: []string{""}}), []string{"auth.issuers.a.client_ids"}},
		"secret of nobody":     {issuers("a", node.IssuerConfig{URL: pool, ClientIDs: []string{"x"}, ClientSecret: "s"}), []string{"auth.issuers.a.client_secret"}},
		"a kind of token":      {issuers("a", node.IssuerConfig{URL: pool, ClientID: "x", Token: "Id"}), []string{"auth.issuers.a.token"}},
		"scopes without one":   {issuers("a", node.IssuerConfig{URL: pool, ClientID: "x", Scopes: []string{"email"}}), []string{"auth.issuers.a.scopes"}},
		"sessions for ever":    {func(c *Config) { c.Auth.Session.Life = 401 * 24 * time.Hour }, []string{"auth.session"}},
		"idle sessions":        {func(c *Config) { c.Auth.Session.Idle = time.Second }, []string{"auth.session"}},
		"a login page":         {func(c *Config) { c.Auth.DevIssuer, c.Auth.DevLogin = true, "127.0.0.1:8090" }, nil},
		"login for all":        {func(c *Config) { c.Auth.DevIssuer, c.Auth.DevLogin = true, ":8090" }, []string{"auth.dev_login"}},
		"login anywhere":       {func(c *Config) { c.Auth.DevIssuer, c.Auth.DevLogin = true, "127.0.0.1:0" }, []string{"auth.dev_login"}},
		"login of nobody":      {func(c *Config) { c.Auth.DevLogin = "127.0.0.1:8090" }, []string{"auth.dev_login"}},
		"users of no login":    {func(c *Config) { c.Auth.DevUsers = "u.yaml" }, []string{"auth.dev_users"}},

		"admins of what":   {issuers("a", node.IssuerConfig{URL: pool, ClientID: "x", AdminClaim: "roles", AdminValue: "staff"}), []string{"auth.issuers.a.admin_of"}},
		"admins of scores": {issuers("a", node.IssuerConfig{URL: pool, ClientID: "x", AdminClaim: "roles", AdminOf: []string{"scorekeeper"}}), nil},

		"dev issuer behind a proxy": {func(c *Config) { c.Auth.DevIssuer, c.HTTP.TrustedProxies = true, []string{"127.0.0.1"} }, []string{"auth.dev_issuer"}},
		"dev issuer in public":      {func(c *Config) { c.Auth.DevIssuer, c.HTTP.PublicURL = true, "https://scores.example" }, []string{"auth.dev_issuer"}},
		"dev issuer here":           {func(c *Config) { c.Auth.DevIssuer, c.HTTP.PublicURL = true, "http://localhost:8080" }, nil},

		"short key":        {func(c *Config) { c.Auth.APIKey = "0123456789abcdefghi" }, []string{"auth.api_key"}},
		"key with a space": {func(c *Config) { c.Auth.APIKey = "0123456789 abcdefghij" }, []string{"auth.api_key"}},
		"no admin group":   {func(c *Config) { c.Auth.AdminGroup = "" }, []string{"auth.admin_group"}},
		"origins":          {func(c *Config) { c.HTTP.CORS = []string{"https://app.example", "*", "app.example", "https://x/"} }, []string{"http.cors", "http.cors"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := DefaultConfig()
			tt.change(&c)
			var got []string
			for _, p := range node.IdentityProblems(c.Listen, &c.Auth, &c.HTTP) {
				got = append(got, p.Key)
				if c.Auth.APIKey != "" && strings.Contains(p.Text, c.Auth.APIKey) {
					t.Errorf("%q shows the key", p.Text)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The applications that issuers name exist, and an issuer signs in to those that it names.
func TestIssuersOfApplications(t *testing.T) {
	c := DefaultConfig()
	issuers("a", node.IssuerConfig{AdminOf: []string{"scorekeeper", "node", "chess"}, Applications: []string{"scorekeeper"}},
		"b", node.IssuerConfig{Applications: []string{"pickem", "go"}}, "c", node.IssuerConfig{})(&c)
	c.Auth.Cognito.Issuer = "https://pool.example"
	var got []string
	for _, p := range c.Auth.NamedProblems(c.applicationNames()) {
		got = append(got, p.Key)
	}
	if diff := cmp.Diff([]string{"auth.issuers.a.admin_of", "auth.issuers.b.applications"}, got); diff != "" {
		t.Error(diff)
	}
	for application, want := range map[string][]string{"scorekeeper": {"a", "c", "cognito"}, "pickem": {"b", "c", "cognito"}, "threefc": {"c", "cognito"}} {
		if diff := cmp.Diff(want, c.Auth.IssuersOf(application)); diff != "" {
			t.Errorf("%s: %s", application, diff)
		}
	}
	issuers("a", node.IssuerConfig{})(&c)
	if got := c.Auth.IssuersOf("scorekeeper"); got != nil {
		t.Errorf("no issuer names applications: %v", got)
	}
}

// issuers configures issuers, given as names and sections.
func issuers(all ...any) func(c *Config) {
	return func(c *Config) {
		c.Auth.Issuers = map[string]node.IssuerConfig{}
		for i := 0; i < len(all); i += 2 {
			c.Auth.Issuers[all[i].(string)] = all[i+1].(node.IssuerConfig)
		}
	}
}

// served runs a node in dir while do asks it.
func served(t *testing.T, dir string, p node.Parts, do func(base string)) {
	t.Helper()
	p.Clock, p.Log = clock.Real(), slog.New(slog.DiscardHandler)
	p.Apps = applications()
	n, err := node.Open(t.Context(), dir, p)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, ln) }()
	do("http://" + ln.Addr().String())
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// statusOf sends a request with headers, given as names and values.
func statusOf(t *testing.T, url string, headers ...string) (status int, cookies []*http.Cookie) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, resp.Cookies()
}

// A node recognizes its users by their pool, and after a restart without the internet by the stored keys.
func TestCognitoOffline(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	number := base64.RawURLEncoding.EncodeToString
	pool := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"keys":[{"kty":"RSA","alg":"RS256","use":"sig","kid":"k1","n":%q,"e":%q}]}`,
			number(key.N.Bytes()), number(big.NewInt(int64(key.E)).Bytes()))
	}))
	defer pool.Close()
	c := DefaultConfig()
	c.Auth.Cognito = node.CognitoConfig{Issuer: pool.URL, ClientIDs: []string{"app"}}
	if problems := c.Problems(); len(problems) > 0 {
		t.Fatal(problems)
	}
	unsigned := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{
		"iss": pool.URL, "aud": "app", "sub": "u1", "token_use": "id", "exp": clock.Real().Now().Add(time.Hour).Unix(),
	})
	unsigned.Header["kid"] = "k1"
	token, err := unsigned.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, online := range []bool{true, false} {
		if !online {
			pool.Close()
		}
		served(t, dir, node.Parts{Auth: c.Auth.Maker(c.DataDir, slog.New(slog.DiscardHandler))}, func(base string) {
			if status, _ := statusOf(t, base+"/cricket/matches", "Authorization", "Bearer "+token); status != http.StatusOK {
				t.Errorf("online %t: %d", online, status)
			}
			if status, _ := statusOf(t, base+"/cricket/matches"); status != http.StatusUnauthorized {
				t.Errorf("nobody, online %t: %d", online, status)
			}
		})
	}
}

// The node accepts tokens signed with its development key, but only while configured to.
func TestDevIssuer(t *testing.T) {
	c := DefaultConfig()
	c.DataDir, c.Auth.DevIssuer, c.Auth.AdminGroup = t.TempDir(), true, "staff"
	if _, err := Token(c, TokenConfig{User: "u1", Life: time.Hour}); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "serve --dev-issuer") {
		t.Fatalf("before there is a key: %v", err)
	}
	var user, staff TokenInfo
	served(t, c.DataDir, node.Parts{Auth: c.Auth.Maker(c.DataDir, slog.New(slog.DiscardHandler))}, func(base string) {
		var err error
		if user, err = Token(c, TokenConfig{User: "u1", Groups: []string{"a", "b"}, Life: time.Hour}); err != nil {
			t.Fatal(err)
		}
		if staff, err = Token(c, TokenConfig{User: "u2", Admin: true, Groups: []string{"staff"}, Life: time.Hour}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"staff"}, staff.Groups); diff != "" || user.UserID != "u1" || len(user.Groups) != 2 {
			t.Errorf("%+v, %+v", user, staff)
		}
		for token, want := range map[string]int{user.Token: http.StatusForbidden, staff.Token: http.StatusOK} {
			if status, _ := statusOf(t, base+"/cricket/hub", "Authorization", "Bearer "+token); status != want {
				t.Errorf("%d, want %d", status, want)
			}
		}
	})
	if info, err := os.Stat(filepath.Join(c.DataDir, "dev-issuer.pem")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	c.Auth.DevIssuer = false
	served(t, c.DataDir, node.Parts{Auth: c.Auth.Maker(c.DataDir, slog.New(slog.DiscardHandler))}, func(base string) {
		if status, _ := statusOf(t, base+"/cricket/hub", "Authorization", "Bearer "+staff.Token); status != http.StatusUnauthorized {
			t.Errorf("not told to, it accepts: %d", status)
		}
	})
}

// Neither the demo's page nor a local program needs to sign in.
func TestDemoSignIn(t *testing.T) {
	d, err := node.OpenDemoLogin(t.Context(), devlogin.InventUsers(auth.DefaultAdminGroup, "Asha"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	served(t, t.TempDir(), node.Parts{Auth: d.Identity, Demo: d.SignIn}, func(base string) {
		status, cookies := statusOf(t, base+"/cricket/-/matches", "Accept", "text/html")
		if status != http.StatusOK || len(cookies) != 1 {
			t.Fatalf("the page: %d, %v", status, cookies)
		}
		if status, _ := statusOf(t, base+"/cricket/matches"); status != http.StatusOK {
			t.Errorf("a program: %d", status)
		}
		if status, _ := statusOf(t, base+"/cricket/hub", "Cookie", cookies[0].Name+"="+cookies[0].Value, "Sec-Fetch-Site", "same-origin"); status != http.StatusOK {
			t.Errorf("the page's own request: %d", status)
		}
		if status, _ := statusOf(t, base+"/cricket/matches", "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"); status != http.StatusUnauthorized {
			t.Errorf("another site: %d", status)
		}
	})
}
