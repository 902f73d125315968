package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/touchline/touchline/internal/clock"
)

// Verifier is the Authenticator of a Config. Make it with New.
type Verifier struct {
	cfg    Config
	apiKey [sha256.Size]byte
}

// New makes a Verifier. It does no I/O.
func New(c Config) (*Verifier, error) {
	if c.AdminGroup == "" {
		c.AdminGroup = DefaultAdminGroup
	}
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	return &Verifier{cfg: c, apiKey: sha256.Sum256([]byte(c.APIKey))}, nil
}

// Identify implements Authenticator.
func (v *Verifier) Identify(ctx context.Context, r *http.Request) (Identity, error) {
	if key := r.Header.Get("X-API-Key"); key != "" {
		if !v.isKey(key) {
			return Identity{}, unauthorized("The X-API-Key is not this node's.")
		}
		return Identity{Admin: true, Key: true}, nil
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return Identity{}, ErrNone
	}
	return v.Verify(ctx, token)
}

// isKey compares in constant time: hashes, so that not even the length shows.
func (v *Verifier) isKey(key string) bool {
	sum := sha256.Sum256([]byte(key))
	return subtle.ConstantTimeCompare(sum[:], v.apiKey[:]) == 1 && v.cfg.APIKey != ""
}

// Verify implements Authenticator.
func (v *Verifier) Verify(context.Context, string) (Identity, error) {
	return Identity{}, unauthorized("The token is of no issuer that this node knows.")
}
