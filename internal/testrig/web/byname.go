package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/fault"
)

// ByName is an Authenticator that accepts names as tokens: "Bearer u1" is user u1, "Bearer admin" and the key "key" are admins. Without
// credentials, the identity is Silent.
type ByName struct{ Silent auth.Identity }

// Staff returns an identity that may do everything.
func Staff() auth.Identity { return auth.Identity{Subject: "boss", Admin: true} }

// Identify implements auth.Authenticator.
func (b ByName) Identify(ctx context.Context, r *http.Request) (auth.Identity, error) {
	if key := r.Header.Get("X-API-Key"); key != "" {
		if key != "key" {
			return auth.Identity{}, fault.New(fault.Unauthorized, "unauthorized", "The X-API-Key is not this node's.")
		}
		return auth.Identity{Admin: true, Key: true}, nil
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case ok:
		return b.Verify(ctx, token)
	case b.Silent.Subject == "":
		return auth.Identity{}, auth.ErrNone
	}
	return b.Silent, nil
}

// Verify implements auth.Authenticator.
func (b ByName) Verify(_ context.Context, token string) (auth.Identity, error) {
	if token == "bad" {
		return auth.Identity{}, fault.New(fault.Unauthorized, "unauthorized", "The token is not valid.")
	}
	return auth.Identity{Subject: token, Admin: token == "admin"}, nil
}
