package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/maypok86/otter/v2"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

const (
	maxToken    = 8 << 10 // bytes; Cognito's are under 2 kB
	maxVerified = 8192    // size of the cache of verified tokens
)

// Verifier is the Authenticator for a Config. Create it with New, end it with Close.
type Verifier struct {
	cfg    Config
	apiKey atomic.Pointer[[sha256.Size]byte] // nil: none
	trust  map[string]*trusted               // by iss
	parser *jwt.Parser
	good   *otter.Cache[[sha256.Size]byte, verdict]
}

// trusted is an issuer with what its tokens need.
type trusted struct {
	Issuer
	algs []string
	ring keyring
}

// keyring returns the keys of an issuer.
type keyring interface {
	// key returns the key with an id, or fault.Unauthorized, or fault.Unavailable if that cannot be decided now. A token that says it was
	// issued after the keys were fetched may be signed with a newer one.
	key(ctx context.Context, kid string, issued time.Time) (any, error)
	// again fetches the keys because a signature does not fit the known key, unless it is too soon; it waits, and reports whether the keys
	// have changed.
	again(ctx context.Context) bool
	// round counts changes of the keys. Tokens verified in an earlier round are verified again.
	round() uint64
	close()
}

// verdict is the cached result of a valid token.
type verdict struct {
	id    Identity
	by    *trusted
	round uint64
}

// New returns a Verifier. It does no I/O. It returns an error if two issuers share a URL, or one has neither client id nor audience.
func New(c Config) (*Verifier, error) {
	c.AdminGroup = cmp.Or(c.AdminGroup, DefaultAdminGroup)
	c.Clock = cmp.Or(c.Clock, clock.Real())
	c.Client = cmp.Or(c.Client, newClient())
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	good, err := otter.New(&otter.Options[[sha256.Size]byte, verdict]{
		MaximumSize: maxVerified, Executor: func(f func()) { f() }, // no goroutine of its own
	})
	if err != nil {
		return nil, fmt.Errorf("cache of tokens: %w", err)
	}
	v := &Verifier{cfg: c, trust: map[string]*trusted{}, good: good}
	v.SetAPIKey(c.APIKey)
	v.parser = jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodRS256.Name, jwt.SigningMethodES256.Name}), jwt.WithStrictDecoding(),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(Leeway), jwt.WithTimeFunc(c.Clock.Wall),
	)
	for _, i := range c.Issuers {
		if i.Client.ID != "" {
			i.ClientIDs = append(slices.Clone(i.ClientIDs), i.Client.ID)
		}
		if i.URL == "" || len(i.ClientIDs)+len(i.Audience) == 0 || v.trust[i.URL] != nil {
			return nil, fault.New(fault.Invalid, "bad_issuer", "each issuer must have a URL of its own, and a client id or an audience")
		}
		v.trust[i.URL] = v.newTrusted(i)
	}
	return v, nil
}

// SetAPIKey replaces the API key; empty: none is accepted.
func (v *Verifier) SetAPIKey(key string) {
	if key == "" {
		v.apiKey.Store(nil)
		return
	}
	sum := sha256.Sum256([]byte(key))
	v.apiKey.Store(&sum)
}

func (v *Verifier) newTrusted(i Issuer) *trusted {
	i.Subject = cmp.Or(i.Subject, claimSubject)
	i.AdminClaim, i.AdminValue = cmp.Or(i.AdminClaim, claimGroups), cmp.Or(i.AdminValue, v.cfg.AdminGroup)
	rs, es := jwt.SigningMethodRS256.Name, jwt.SigningMethodES256.Name
	switch {
	case i.dev != nil:
		return &trusted{Issuer: i, algs: []string{es}, ring: i.dev}
	case i.Discover:
		return &trusted{Issuer: i, algs: []string{rs, es}, ring: newFetched(i.URL, true, v.cfg)}
	}
	return &trusted{Issuer: i, algs: []string{rs}, ring: newFetched(i.URL, false, v.cfg)}
}

// IsNamed reports whether an issuer has one of these names in the settings. The development issuer has no name and matches any.
func (v *Verifier) IsNamed(issuer string, names []string) bool {
	t := v.trust[issuer]
	return t != nil && (slices.Contains(names, t.Name) || t.dev != nil)
}

// Has reports whether an issuer with this name is configured.
func (v *Verifier) Has(name string) bool {
	return slices.ContainsFunc(v.cfg.Issuers, func(i Issuer) bool { return i.Name == name })
}

// AdminOf returns what an issuer's admin claim makes admins of, as Identity.AdminOf.
func (v *Verifier) AdminOf(issuer string) []string {
	if t := v.trust[issuer]; t != nil {
		return t.AdminOf
	}
	return nil
}

// Knows reports whether an issuer, by its iss, is trusted.
func (v *Verifier) Knows(issuer string) bool { return v.trust[issuer] != nil }

// Close cancels running fetches and waits for their end.
func (v *Verifier) Close() {
	for _, t := range v.trust {
		t.ring.close()
	}
}

// Identify implements Authenticator.
func (v *Verifier) Identify(ctx context.Context, r *http.Request) (Identity, error) {
	token, hasToken, err := bearer(r.Header)
	if err != nil {
		return Identity{}, err
	}
	hasKey, err := v.checkKey(r.Header)
	if err != nil {
		return Identity{}, err
	}
	var id Identity
	switch {
	case hasToken:
		if id, err = v.Verify(ctx, token); err != nil {
			return Identity{}, err
		}
	case !hasKey:
		return Identity{}, ErrNone
	}
	if hasKey {
		id.Key, id.Admin, id.Scheme = true, true, cmp.Or(id.Scheme, APIKey)
	}
	return id, nil
}

// bearer reads the Authorization header. Two headers are refused, because a proxy might read the other one.
func bearer(h http.Header) (token string, ok bool, err error) {
	values := h.Values("Authorization")
	if len(values) == 0 {
		return "", false, nil
	}
	if len(values) > 1 {
		return "", false, unauthorizedError("There is more than one Authorization header.")
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	token = strings.TrimLeft(token, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false, unauthorizedError("The Authorization header must be Bearer and an ID token.")
	}
	if token == "" {
		return "", false, unauthorizedError("There is no token after Bearer.")
	}
	return token, true, nil
}

// checkKey reports whether the API key was sent. It compares hashes, so that timing does not even reveal the length.
func (v *Verifier) checkKey(h http.Header) (ok bool, err error) {
	values := h.Values("X-Api-Key")
	if len(values) == 0 {
		return false, nil
	}
	if len(values) > 1 {
		return false, unauthorizedError("There is more than one X-API-Key header.")
	}
	sum, want := sha256.Sum256([]byte(values[0])), v.apiKey.Load()
	if want == nil || subtle.ConstantTimeCompare(sum[:], want[:]) != 1 {
		return false, unauthorizedError("The X-API-Key is not this node's.")
	}
	return true, nil
}

// Verify implements Authenticator. A valid token is not verified again while its issuer's keys stay the same.
func (v *Verifier) Verify(ctx context.Context, token string) (Identity, error) {
	if len(token) > maxToken {
		return Identity{}, unauthorizedError("The token is longer than %d bytes.", maxToken)
	}
	sum := sha256.Sum256([]byte(token))
	if was, ok := v.good.GetIfPresent(sum); ok && was.round == was.by.ring.round() &&
		v.cfg.Clock.Wall().Before(was.id.Expires.Add(Leeway)) {
		return was.id, nil
	}
	got, _, err := v.verifyToken(ctx, token, nil)
	if err != nil {
		return Identity{}, err
	}
	v.good.Set(sum, got)
	return got.id, nil
}

// newClient returns the client that fetches keys. It follows no redirects.
func newClient() *http.Client {
	return &http.Client{
		Timeout:       fetchWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: bounded{&http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 3 * time.Second, ResponseHeaderTimeout: 4 * time.Second,
			MaxResponseHeaderBytes: 16 << 10, IdleConnTimeout: 30 * time.Second, MaxIdleConns: 2, ForceAttemptHTTP2: true,
		}},
	}
}

// bounded limits the size of answers, for all that read them.
type bounded struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.Transport.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	}
	return resp, err
}
