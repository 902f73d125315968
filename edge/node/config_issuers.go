package node

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/strictyaml"
)

// IssuerConfig is an OpenID Connect issuer whose users the node accepts.
type IssuerConfig struct {
	Title        string   `yaml:"title"`                       // label of its button; empty: its name
	URL          string   `yaml:"url"`                         // iss of its tokens, exactly
	ClientID     string   `yaml:"client_id"`                   // this node's client there; empty: no browser sign-in
	ClientSecret string   `yaml:"client_secret" secret:"true"` // empty: a public client with PKCE only
	ClientIDs    []string `yaml:"client_ids"`                  // other apps whose tokens are accepted from programs
	Scopes       []string `yaml:"scopes"`                      // empty: openid, profile, email
	Token        string   `yaml:"token"`                       // kind of token that programs send: id, access or any; empty: id
	Audience     []string `yaml:"audience"`                    // aud of access tokens; one without aud must be issued to a client id
	SubjectClaim string   `yaml:"subject_claim"`               // empty: sub
	AdminClaim   string   `yaml:"admin_claim"`                 // empty: cognito:groups; may be a path: app_metadata.game_admin
	AdminValue   string   `yaml:"admin_value"`                 // empty: auth.admin_group
	AdminOf      []string `yaml:"admin_of"`                    // applications whose admins the claim makes, or node; empty: node
	Applications []string `yaml:"applications"`                // applications that its users sign in to; empty: all
}

// SessionConfig is how long a browser stays signed in.
type SessionConfig struct {
	Idle time.Duration `yaml:"idle"` // since its last use
	Life time.Duration `yaml:"life"` // since sign-in, at most
}

// DefaultSession returns a week without use, and a month in total.
func DefaultSession() SessionConfig {
	return SessionConfig{Idle: 7 * 24 * time.Hour, Life: 30 * 24 * time.Hour}
}

// kinds maps the configured words to kinds of tokens.
func kinds() map[string]auth.Kind {
	return map[string]auth.Kind{"": auth.KindID, "id": auth.KindID, "access": auth.KindAccess, "any": auth.KindAny}
}

// issuer returns the section as the verifier's type.
func (i *IssuerConfig) issuer(name string) auth.Issuer {
	return auth.Issuer{
		Name: name, Title: i.Title, URL: i.URL, ClientIDs: i.ClientIDs, Discover: true,
		Client: auth.Client{ID: i.ClientID, Secret: i.ClientSecret, Scopes: i.Scopes},
		Tokens: kinds()[i.Token], Audience: i.Audience, Subject: i.SubjectClaim, AdminClaim: i.AdminClaim, AdminValue: i.AdminValue, AdminOf: i.AdminOf,
	}
}

func (i *IssuerConfig) problems(bad func(key, format string, args ...any)) {
	if err := app.SecureURL(i.URL); err != nil {
		bad("url", "%s", err)
	}
	clients := i.ClientIDs
	if i.ClientID != "" {
		clients = append(slices.Clone(clients), i.ClientID)
	}
	if len(clients) == 0 && len(i.Audience) == 0 {
		bad("client_id", "must be set, or client_ids or audience: otherwise tokens for any app would be accepted")
	}
	if len(clients) == 0 && i.Token != "access" {
		bad("client_ids", "must name the apps whose ID tokens are accepted")
	}
	if i.ClientSecret != "" && i.ClientID == "" {
		bad("client_secret", "needs client_id")
	}
	if slices.Contains(slices.Concat(i.ClientIDs, i.Audience, i.Scopes), "") {
		bad("client_ids", "client_ids, audience and scopes must not contain empty values")
	}
	if slices.ContainsFunc(i.Audience, func(aud string) bool { return slices.Contains(clients, aud) }) {
		bad("audience", "must not be a client id: an ID token would then grant access to the API")
	}
	if len(i.Scopes) > 0 && !slices.Contains(i.Scopes, "openid") {
		bad("scopes", "must include openid")
	}
	if _, ok := kinds()[i.Token]; !ok {
		bad("token", "must be id, access or any, not %q", i.Token)
	}
	if ownClaim := i.AdminClaim != "" || i.AdminValue != ""; ownClaim && len(i.AdminOf) == 0 {
		bad("admin_of", "must name the applications whose admins admin_claim makes; "+
			"with [node] they are admins of this node and of everything on it")
	}
}

// NamedProblems returns the errors in the applications that the issuers name, of those that the node knows.
func (a *AuthConfig) NamedProblems(applications []string) (out []app.Problem) {
	bad := strictyaml.AddTo(&out, "auth.issuers.")
	list := strings.Join(applications, ", ")
	for _, name := range slices.Sorted(maps.Keys(a.Issuers)) {
		for _, of := range a.Issuers[name].AdminOf {
			if of != auth.AdminOfNode && !slices.Contains(applications, of) {
				bad(name+".admin_of", "%q is not an application: it may name %s, or node", of, list)
			}
		}
		for _, of := range a.Issuers[name].Applications {
			if !slices.Contains(applications, of) {
				bad(name+".applications", "%q is not an application: it may name %s", of, list)
			}
		}
	}
	return out
}

// IssuersOf returns the names of the issuers whose users sign in to an application; nil: all of them.
func (a *AuthConfig) IssuersOf(application string) (names []string) {
	restricted := false
	for _, name := range slices.Sorted(maps.Keys(a.Issuers)) {
		of := a.Issuers[name].Applications
		if len(of) > 0 && !slices.Contains(of, application) {
			restricted = true
			continue
		}
		names = append(names, name)
	}
	if !restricted {
		return nil
	}
	if a.Cognito.Issuer != "" {
		names = append(names, cognitoIssuer)
	}
	if a.DevLogin != "" {
		names = append(names, devLoginIssuer)
	}
	return names
}

func (a *AuthConfig) issuerProblems(bad func(key, format string, args ...any)) {
	urls := map[string]bool{a.Cognito.Issuer: a.Cognito.Issuer != ""}
	for _, name := range slices.Sorted(maps.Keys(a.Issuers)) {
		i, at := a.Issuers[name], "issuers."+name
		if name == "" || len(name) > 32 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			bad(at, "an issuer's name must be 1 to 32 lower-case letters, digits and hyphens")
		}
		i.problems(func(key, format string, args ...any) { bad(at+"."+key, format, args...) })
		if urls[i.URL] {
			bad(at+".url", "is also the URL of another issuer")
		}
		urls[i.URL] = true
	}
	if s := a.Session; s.Idle < time.Minute || s.Life < s.Idle || s.Life > 400*24*time.Hour {
		bad("session", "idle must be at least 1m, life at least idle and at most 9600h")
	}
	switch local, err := IsLoopback(cmp.Or(a.DevLogin, "127.0.0.1:0")); {
	case err != nil:
		bad("dev_login", "%s", err)
	case !local:
		bad("dev_login", "must be a loopback address: anyone who reaches it can sign in as any user")
	case a.DevLogin != "" && !a.DevIssuer:
		bad("dev_login", "needs auth.dev_issuer")
	case a.DevUsers != "" && a.DevLogin == "":
		bad("dev_users", "needs auth.dev_login")
	}
	if _, port, err := net.SplitHostPort(a.DevLogin); err == nil && port == "0" {
		bad("dev_login", "needs a fixed port, because it is part of the issuer's URL")
	}
}
