package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/fault"
)

// claims are the claims that we read.
type claims struct {
	jwt.RegisteredClaims
	TokenUse string   `json:"token_use"` // set by Cognito: id or access
	Groups   []string `json:"cognito:groups,omitempty"`

	all map[string]any
}

// Claim names.
const (
	claimSubject = "sub"
	claimGroups  = "cognito:groups"
	claimClient  = "client_id"
	claimNonce   = "nonce"
	claimParty   = "azp"
)

// UnmarshalJSON implements json.Unmarshaler.
func (c *claims) UnmarshalJSON(raw []byte) error {
	type plain claims
	if err := json.Unmarshal(raw, (*plain)(c)); err != nil {
		return err
	}
	return json.Unmarshal(raw, &c.all)
}

// text returns a string claim; empty: missing or not a string.
func (c *claims) text(name string) string {
	text, _ := c.all[name].(string)
	return text
}

// lookup finds a claim by its path. Names may contain dots: "https://app.example/roles" is one name, "a.b" may be b inside a.
func lookup(in map[string]any, path string) any {
	if v, ok := in[path]; ok {
		return v
	}
	for i := len(path) - 1; i > 0; i-- {
		if path[i] != '.' {
			continue
		}
		if inner, ok := in[path[:i]].(map[string]any); ok {
			return lookup(inner, path[i+1:])
		}
	}
	return nil
}

// says reports whether a claim equals a value, or is a list that contains it.
func says(claim any, value string) bool {
	switch v := claim.(type) {
	case string:
		return v == value
	case bool:
		return strconv.FormatBool(v) == value
	case []any:
		return slices.ContainsFunc(v, func(elem any) bool { text, ok := elem.(string); return ok && text == value })
	}
	return false
}

// maxSubject is the longest user id.
const maxSubject = 128

// verifyToken verifies a token completely. The token's issuer determines the keys and algorithms; its header determines neither. kind is the
// required kind; nil: the one in the issuer's settings.
func (v *Verifier) verifyToken(ctx context.Context, token string, kind *Kind) (verdict, *claims, error) {
	found, said, err := v.judgeOnce(ctx, token, kind)
	if found.by != nil && errors.Is(err, errSignature) && found.by.ring.again(ctx) { // the issuer may have replaced a key under its old name
		return v.judgeOnce(ctx, token, kind)
	}
	return found, said, err
}

// judgeOnce is judge with the keys that are known. The verdict of a token with a wrong signature names its issuer alone.
func (v *Verifier) judgeOnce(ctx context.Context, token string, kind *Kind) (verdict, *claims, error) {
	var said claims
	var by *trusted
	var round uint64
	var noKey error
	read, err := v.parser.ParseWithClaims(token, &said, func(t *jwt.Token) (any, error) {
		by = v.trust[said.Issuer]
		if by == nil {
			return nil, unauthorizedError("The token is from an issuer that this node does not know: its iss is not a configured one.")
		}
		kid, err := by.kid(t)
		if err != nil {
			return nil, err
		}
		round = by.ring.round() // read before the key: an old round only causes another verification
		var issued time.Time
		if said.IssuedAt != nil {
			issued = said.IssuedAt.Time
		}
		key, err := by.ring.key(ctx, kid, issued)
		noKey = err
		return key, err
	})
	switch {
	case noKey != nil:
		return verdict{}, nil, noKey // may come from the store or the request's context
	case err != nil:
		return verdict{by: by}, nil, tokenError(err, &said)
	}
	wanted := by.Tokens
	if kind != nil {
		wanted = *kind
	}
	if err := by.check(read, &said, wanted); err != nil {
		return verdict{}, nil, err
	}
	return verdict{id: by.identity(&said), by: by, round: round}, &said, nil
}

// kid returns the key id in a token's header, after checking the rest of the header.
func (t *trusted) kid(token *jwt.Token) (string, error) {
	if !slices.Contains(t.algs, token.Method.Alg()) {
		return "", unauthorizedError("The token must be signed with %s.", strings.Join(t.algs, " or "))
	}
	if _, ok := token.Header["crit"]; ok {
		return "", unauthorizedError("The token's header requires something that this node does not know (crit).")
	}
	kid, _ := token.Header["kid"].(string)
	if kid == "" {
		return "", unauthorizedError("The token does not name its signing key (kid).")
	}
	return kid, nil
}

func (t *trusted) identity(c *claims) Identity {
	id := Identity{
		Subject: t.subject(c), Scheme: Bearer, Issuer: t.URL, Groups: c.Groups, Admin: says(lookup(c.all, t.AdminClaim), t.AdminValue), AdminOf: t.AdminOf,
		Name: cmp.Or(c.text("name"), c.text("preferred_username")), Email: c.text("email"), Expires: c.ExpiresAt.Time,
	}
	if id.Groups == nil {
		list, _ := lookup(c.all, t.AdminClaim).([]any)
		for _, elem := range list {
			if group, ok := elem.(string); ok {
				id.Groups = append(id.Groups, group)
			}
		}
	}
	return id
}

func (t *trusted) subject(c *claims) string {
	text, _ := lookup(c.all, t.Subject).(string)
	return text
}

// Values of token_use.
const (
	useID     = "id"
	useAccess = "access"
)

// check verifies the claims that the parser does not know.
func (t *trusted) check(token *jwt.Token, c *claims, wanted Kind) error {
	use := c.TokenUse
	if typ, _ := token.Header["typ"].(string); strings.EqualFold(strings.TrimPrefix(typ, "application/"), "at+jwt") { // RFC 9068
		use = useAccess
	}
	var err error
	if wanted == KindAny {
		if err = t.checkKind(use, c, KindID); err != nil {
			err = t.checkKind(use, c, KindAccess)
		}
	} else {
		err = t.checkKind(use, c, wanted)
	}
	if err == nil && !goodSubject(t.subject(c)) {
		return unauthorizedError("The token's %s cannot be a user's id.", t.Subject)
	}
	return err
}

// checkKind verifies that a token is of a kind. Without token_use or typ the audience decides: an ID token is for a client, an access
// token for an API.
func (t *trusted) checkKind(use string, c *claims, wanted Kind) error {
	switch {
	case wanted == KindID && use != useID && (use == useAccess || !t.Discover):
		return unauthorizedError("The token is not an ID token: its token_use must be id.")
	case wanted == KindAccess && use != useAccess && (use == useID || !t.Discover):
		return unauthorizedError("The token is not an access token.")
	case wanted == KindID && !overlap(c.Audience, t.ClientIDs), wanted == KindAccess && !t.opens(c):
		return unauthorizedError("The token is for another app: its aud is none of the configured client ids.")
	case wanted == KindID && !t.issuedToClient(c):
		return unauthorizedError("The token was issued to another app: its azp is none of the configured client ids.")
	}
	return nil
}

// issuedToClient reports whether an ID token was issued to one of our clients, if it says to whom (OpenID Connect Core 3.1.3.7). Another
// client's token may name ours in aud too.
func (t *trusted) issuedToClient(c *claims) bool {
	to, says := c.all[claimParty]
	party, _ := to.(string)
	return !says || slices.Contains(t.ClientIDs, party)
}

// opens reports whether an access token is for this node. Cognito's access tokens have no aud, so their client_id counts.
func (t *trusted) opens(c *claims) bool {
	if len(c.Audience) == 0 {
		return slices.Contains(t.ClientIDs, c.text(claimClient))
	}
	return overlap(c.Audience, t.Audience)
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(elem string) bool { return slices.Contains(b, elem) })
}

// goodSubject reports whether a text can be a user id. Without # and spaces it stays one part of a composite key.
func goodSubject(sub string) bool {
	return sub != "" && len(sub) <= maxSubject && !strings.ContainsFunc(sub, func(r rune) bool {
		return r <= ' ' || r == '#' || r == '/' || r > '~'
	})
}

// errSignature is the error of a token whose signature is not by the key that it names.
var errSignature = unauthorizedError("The token is not signed by its issuer, or not with its algorithm.")

// tokenError explains what is wrong with a token to an app developer. It quotes nothing from the token except times that the issuer has
// signed.
func tokenError(err error, said *claims) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f // our own error, passed through the parser
	}
	switch {
	case errors.Is(err, jwt.ErrTokenMalformed):
		return unauthorizedError("That is not a token: a JWT has three base64url parts separated by dots.")
	case errors.Is(err, jwt.ErrTokenExpired):
		return unauthorizedError("The token expired at %s: sign in again.", said.ExpiresAt.UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return unauthorizedError("The token is not valid yet: is a clock wrong?")
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return unauthorizedError("The token has no exp.")
	case errors.Is(err, jwt.ErrTokenSignatureInvalid), errors.Is(err, jwt.ErrTokenUnverifiable):
		return errSignature
	default:
		return unauthorizedError("The token is not valid.")
	}
}
