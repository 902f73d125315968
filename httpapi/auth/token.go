package auth

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/fault"
)

// claims are what we read of an ID token.
type claims struct {
	jwt.RegisteredClaims
	TokenUse string   `json:"token_use"`
	Groups   []string `json:"cognito:groups,omitempty"`
}

// maxSubject is the longest id a user can have.
const maxSubject = 128

// judge reads a token and checks all of it. The issuer that the token names chooses the keys and the algorithm; the
// token's own header chooses neither.
func (v *Verifier) judge(ctx context.Context, token string) (verdict, error) {
	var said claims
	var by *trusted
	var round uint64
	var noKey error
	_, err := v.parser.ParseWithClaims(token, &said, func(t *jwt.Token) (any, error) {
		by = v.trust[said.Issuer]
		if by == nil {
			return nil, unauthorized("The token is of an issuer that this node does not know: its iss is not the configured one.")
		}
		if t.Method.Alg() != by.alg {
			return nil, unauthorized("The token must be signed with %s.", by.alg)
		}
		if _, ok := t.Header["crit"]; ok {
			return nil, unauthorized("The token's header requires something that this node does not know (crit).")
		}
		kid, _ := t.Header["kid"].(string)
		if kid == "" {
			return nil, unauthorized("The token does not name its signing key (kid).")
		}
		round = by.ring.round() // before the key: one of an older round is only judged once more
		key, err := by.ring.key(ctx, kid)
		noKey = err
		return key, err
	})
	switch {
	case noKey != nil:
		return verdict{}, noKey // which may be the store's, or that the request has ended
	case err != nil:
		return verdict{}, tokenError(err, &said)
	}
	if err := by.check(&said); err != nil {
		return verdict{}, err
	}
	return verdict{id: v.identity(&said), by: by, round: round}, nil
}

func (v *Verifier) identity(c *claims) Identity {
	return Identity{
		Subject: c.Subject, Groups: c.Groups, Admin: slices.Contains(c.Groups, v.cfg.AdminGroup), Expires: c.ExpiresAt.Time,
	}
}

// check looks at the claims that the parser does not know.
func (t *trusted) check(c *claims) error {
	if c.TokenUse != "id" {
		return unauthorized("The token is not an ID token: its token_use must be id.")
	}
	if !slices.ContainsFunc(c.Audience, func(aud string) bool { return slices.Contains(t.ClientIDs, aud) }) {
		return unauthorized("The token is for another app: its aud is none of the configured client ids.")
	}
	if !goodSubject(c.Subject) {
		return unauthorized("The token's sub cannot be a user's id.")
	}
	return nil
}

// goodSubject reports whether users may be known by this id. Without # and spaces it stays one part of a composite key.
func goodSubject(sub string) bool {
	return sub != "" && len(sub) <= maxSubject && !strings.ContainsFunc(sub, func(r rune) bool {
		return r <= ' ' || r == '#' || r == '/' || r > '~'
	})
}

// tokenError says what is wrong with a token so that the developer of an app can mend it. Nothing of the token is in it
// but times that its issuer has signed.
func tokenError(err error, said *claims) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f // one of ours, on its way through the parser
	}
	switch {
	case errors.Is(err, jwt.ErrTokenMalformed):
		return unauthorized("That is not a token: a JWT has three base64url parts separated by dots.")
	case errors.Is(err, jwt.ErrTokenExpired):
		return unauthorized("The token expired at %s: sign in again.", said.ExpiresAt.UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return unauthorized("The token is not valid yet: is a clock wrong?")
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return unauthorized("The token has no exp.")
	case errors.Is(err, jwt.ErrTokenSignatureInvalid), errors.Is(err, jwt.ErrTokenUnverifiable):
		return unauthorized("The token is not signed by its issuer, or not with its algorithm.")
	default:
		return unauthorized("The token is not valid.")
	}
}
