package node

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/rebind"
	"github.com/touchline/touchline/internal/strictyaml"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Names of issuers that have no section of their own in auth.issuers.
const (
	cognitoIssuer  = "cognito"
	devLoginIssuer = "dev"
)

// minAPIKey is the shortest API key that cannot be guessed.
const minAPIKey = 20

// AuthMaker creates the verifier of a node's users. s stores the issuers' keys.
type AuthMaker func(s *store.Store) (*auth.Verifier, error)

// Maker returns the AuthMaker of the section. The development issuer's key is in the data directory, which must exist when the node is
// opened.
func (a AuthConfig) Maker(dataDir string, log *slog.Logger) AuthMaker {
	return func(s *store.Store) (*auth.Verifier, error) {
		out := auth.Config{
			AdminGroup: a.AdminGroup, APIKey: a.APIKey, Clock: clock.Real(), Keys: keyStore{s}, Logger: log,
		}
		if a.Cognito.Issuer != "" {
			out.Issuers = append(out.Issuers, auth.Issuer{Name: cognitoIssuer, URL: a.Cognito.Issuer, ClientIDs: a.Cognito.ClientIDs})
		}
		for name, i := range a.Issuers {
			out.Issuers = append(out.Issuers, i.issuer(name))
		}
		if a.DevIssuer {
			dev, err := auth.OpenDevIssuer(dataDir)
			if err != nil {
				return nil, err
			}
			out.Issuers = append(out.Issuers, dev.Issuer())
		}
		if a.DevLogin != "" {
			out.Issuers = append(out.Issuers, auth.Issuer{
				Name: devLoginIssuer, Title: "a development user", URL: a.devURL(), Client: auth.Client{ID: devlogin.ClientID}, Discover: true,
			})
		}
		return auth.New(out)
	}
}

// IdentityProblems returns the errors in who may sign in at an address. A node that other machines can reach must authenticate its
// users; on a loopback address everybody logged in on this machine is trusted.
func IdentityProblems(listen string, a *AuthConfig, h *HTTPConfig) (out []app.Problem) {
	bad, ofAuth := strictyaml.AddTo(&out, ""), strictyaml.AddTo(&out, "auth.")
	local, err := IsLoopback(listen)
	if err != nil {
		bad("listen", "%s", err)
	}
	a.problems(ofAuth)
	a.issuerProblems(ofAuth)
	if err == nil && !local {
		if a.Cognito.Issuer == "" && len(a.Issuers) == 0 && a.APIKey == "" {
			bad("listen", "%q can be reached from other machines, and nobody could sign in: "+
				"configure auth.issuers or auth.cognito (issuer and client_ids), or auth.api_key, or listen on 127.0.0.1", listen)
		}
		if a.DevIssuer {
			bad("auth.dev_issuer", "is for a node that listens on 127.0.0.1: anyone who reads its key can sign in as any user")
		}
	}
	if a.DevIssuer && len(h.TrustedProxies) > 0 {
		bad("auth.dev_issuer", "is for this machine alone, and http.trusted_proxies says that a proxy forwards requests of others: "+
			"they could sign in as any user")
	}
	if a.DevIssuer && h.PublicURL != "" && !isLocalURL(h.PublicURL) {
		bad("auth.dev_issuer", "is for this machine alone, and http.public_url is %s: whoever comes that way could sign in as any user", h.PublicURL)
	}
	for _, origin := range h.CORS {
		if !httpapi.ValidOrigin(origin) {
			bad("http.cors", "%q is not an origin such as https://app.example, in lower case and without a path", origin)
		}
	}
	return out
}

// isLocalURL reports whether an origin names this machine.
func isLocalURL(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && rebind.Loopback(u.Hostname())
}

func (a AuthConfig) problems(bad func(key, format string, args ...any)) {
	if a.Cognito.Issuer != "" {
		if err := app.SecureURL(a.Cognito.Issuer); err != nil {
			bad("cognito.issuer", "%s", err)
		}
		if len(a.Cognito.ClientIDs) == 0 {
			bad("cognito.client_ids", "must name the app clients whose tokens are accepted, if auth.cognito.issuer is set")
		}
	} else if len(a.Cognito.ClientIDs) > 0 {
		bad("cognito.issuer", "must be set if auth.cognito.client_ids is")
	}
	if slices.Contains(a.Cognito.ClientIDs, "") {
		bad("cognito.client_ids", "must not contain an empty id")
	}
	if a.AdminGroup == "" {
		bad("admin_group", "must name the group whose members are admins")
	}
	switch {
	case a.APIKey == "":
	case len(a.APIKey) < minAPIKey:
		bad("api_key", "must be at least %d characters long: anyone who has it may do everything", minAPIKey)
	case strings.ContainsFunc(a.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }):
		bad("api_key", "must be printable ASCII without spaces: it travels in a header")
	}
}

// keyStore stores the issuers' keys in the node's store.
type keyStore struct{ s *store.Store }

// LoadKeys implements auth.KeyStore.
func (k keyStore) LoadKeys(ctx context.Context, issuer string) (set auth.KeySet, err error) {
	err = k.s.View(ctx, func(tx *store.Tx) error {
		it, err := tx.Get(migrations.TableKeys, attr.Item{"issuer": attr.S(issuer)})
		if err != nil || it == nil {
			return err
		}
		at, err := time.Parse(time.RFC3339, it["fetchedAt"].Str())
		if err != nil {
			return nil //nolint:nilerr // ignore an invalid row: the keys are fetched again
		}
		set = auth.KeySet{Issuer: issuer, Body: it["keys"].Bytes(), Discovery: it["discovery"].Bytes(), ETag: it["etag"].Str(), FetchedAt: at}
		return nil
	})
	return set, err
}

// SaveKeys implements auth.KeyStore.
func (k keyStore) SaveKeys(ctx context.Context, set auth.KeySet) error {
	return k.s.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: migrations.TableKeys, NoOld: true, Item: attr.Item{
			"issuer": attr.S(set.Issuer), "keys": attr.B(set.Body), "discovery": attr.B(set.Discovery), "etag": attr.S(set.ETag),
			"fetchedAt": attr.S(set.FetchedAt.UTC().Format(time.RFC3339)),
		}})
		return err
	})
}
