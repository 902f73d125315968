package sandbox

import (
	"crypto/ecdsa"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// Apple's rules for provider tokens.
const (
	bearerValid  = time.Hour
	bearerMinAge = 20 * time.Minute
	clockLeeway  = time.Minute
)

// provider checks provider tokens by the real clock.
type provider struct {
	team, keyID string
	key         *ecdsa.PublicKey
	now         func() time.Time
	parser      *jwt.Parser
	seen        *seen
}

// seen caches verified tokens, so that a signature is checked once per token instead of once per push, and keeps the date of the newest.
type seen struct {
	mu     sync.Mutex
	tokens map[string]time.Time // bearer to iat
	newest time.Time
}

func newProvider(team, keyID string, key *ecdsa.PublicKey, now func() time.Time) provider {
	return provider{
		team: team, keyID: keyID, key: key, now: now,
		parser: jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithoutClaimsValidation()),
		seen:   &seen{tokens: map[string]time.Time{}},
	}
}

// check returns the refusal of an authorization header, or nil.
func (p provider) check(header string) *refusal {
	scheme, bearer, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") || bearer == "" {
		return refuse(http.StatusForbidden, "MissingProviderToken")
	}
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	iat, known := p.seen.tokens[bearer]
	if !known {
		var ok bool
		if iat, ok = p.verify(bearer); !ok {
			return refuse(http.StatusForbidden, "InvalidProviderToken")
		}
	}
	switch age := p.now().Sub(iat); {
	case age > bearerValid:
		delete(p.seen.tokens, bearer)
		return refuse(http.StatusForbidden, "ExpiredProviderToken")
	case age < -clockLeeway:
		return refuse(http.StatusForbidden, "InvalidProviderToken")
	}
	if known {
		return nil
	}
	if newer := iat.Sub(p.seen.newest); !p.seen.newest.IsZero() && newer > 0 && newer < bearerMinAge {
		return refuse(http.StatusTooManyRequests, "TooManyProviderTokenUpdates")
	}
	p.seen.add(bearer, iat)
	return nil
}

func (s *seen) add(bearer string, iat time.Time) {
	if len(s.tokens) >= 16 {
		clear(s.tokens) // they are verified again when used
	}
	s.tokens[bearer] = iat
	if iat.After(s.newest) {
		s.newest = iat
	}
}

// verify checks format and signature and returns the token's iat.
func (p provider) verify(bearer string) (iat time.Time, ok bool) {
	var claims jwt.RegisteredClaims
	t, err := p.parser.ParseWithClaims(bearer, &claims, func(*jwt.Token) (any, error) { return p.key, nil })
	if err != nil || t.Header["kid"] != p.keyID || claims.Issuer != p.team || claims.IssuedAt == nil {
		return time.Time{}, false
	}
	return claims.IssuedAt.Time, true
}
