package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/touchline/touchline/internal/fault"
)

// exchangeWithin limits the exchange of a code for a token.
const exchangeWithin = 10 * time.Second

// Choice is an issuer at which people can sign in with a browser.
type Choice struct {
	Name  string // used in addresses
	Title string // label of its button
	URL   string // its iss
}

// Choices returns the issuers at which people can sign in, sorted by name.
func (v *Verifier) Choices() (all []Choice) {
	for _, t := range v.trust {
		if t.Client.ID != "" {
			all = append(all, Choice{Name: t.Name, Title: cmp.Or(t.Title, t.Name), URL: t.URL})
		}
	}
	slices.SortFunc(all, func(a, b Choice) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Flow is the state of a sign-in (OpenID Connect, authorization code with PKCE). It is kept by the browser that started it, so that no
// other can finish it.
type Flow struct {
	Issuer   string `json:"i"` // the issuer's name
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // PKCE code verifier
	To       string `json:"t"` // where the person goes afterwards
}

// Begin starts a sign-in. The browser must be redirected to to; the issuer sends it back to back.
func (v *Verifier) Begin(ctx context.Context, issuer, back string) (f Flow, to string, err error) {
	t, said, err := v.issuerByName(ctx, issuer)
	if err != nil {
		return f, "", err
	}
	f = Flow{Issuer: issuer, State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	options := []oauth2.AuthCodeOption{oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)}
	if t.Tokens == KindAccess && len(t.Audience) > 0 { // without it, Auth0 issues opaque access tokens
		options = append(options, oauth2.SetAuthURLParam("audience", t.Audience[0]))
	}
	return f, said.client(&t.Client, back).AuthCodeURL(f.State, options...), nil
}

// issuerByName returns an issuer by name, with its discovery document.
func (v *Verifier) issuerByName(ctx context.Context, name string) (*trusted, *discovery, error) {
	for _, t := range v.trust {
		if ring, ok := t.ring.(*fetched); ok && t.Name == name && t.Client.ID != "" {
			said, err := ring.endpoints(ctx)
			return t, said, err
		}
	}
	return nil, nil, fault.New(fault.NotFound, "no_issuer", "There is no such sign-in option.")
}

// SignOut returns the issuer's sign-out page and its title; empty: it has none, or its discovery document is not known.
func (v *Verifier) SignOut(ctx context.Context, issuer string) (page, title string) {
	t, said, err := v.issuerByName(ctx, issuer)
	if err != nil || !secure(said.End) {
		return "", ""
	}
	to, _ := url.Parse(said.End) // secure has parsed it
	q := to.Query()
	q.Set("client_id", t.Client.ID)
	to.RawQuery = q.Encode()
	return to.String(), cmp.Or(t.Title, t.Name)
}

// Finish completes a sign-in with the issuer's answer. It returns fault.Unauthorized with a text for the person, or fault.Unavailable
// if the issuer does not answer.
func (v *Verifier) Finish(ctx context.Context, f *Flow, back string, q url.Values) (Identity, error) {
	if f.State == "" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(f.State)) != 1 {
		return Identity{}, startAgain("This browser did not start this sign-in, or has started another one since: sign in again.")
	}
	t, said, err := v.issuerByName(ctx, f.Issuer)
	if err != nil {
		return Identity{}, err
	}
	if iss := q.Get("iss"); iss != t.URL && (iss != "" || said.SendsIss) { // RFC 9207
		return Identity{}, startAgain("The answer is from another issuer: sign in again.")
	}
	if code := q.Get("error"); code != "" {
		return Identity{}, startAgain("The issuer did not sign you in (%s).", word(code))
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, v.cfg.Client), exchangeWithin)
	defer cancel()
	token, err := said.client(&t.Client, back).Exchange(ctx, q.Get("code"), oauth2.VerifierOption(f.Verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response.StatusCode < 500 {
		return Identity{}, startAgain("The issuer does not accept its own code (%s): sign in again.", word(refused.ErrorCode))
	}
	if err != nil {
		return Identity{}, fault.New(fault.Unavailable, "issuer_unreachable", "The issuer cannot be reached now.") // err may contain secrets
	}
	return v.signedIn(ctx, t, f, token)
}

// signedIn returns whose token it is. The ID token proves that the person signed in just now, at this client. The identity comes from
// the kind of token that programs send (Issuer.Tokens).
func (v *Verifier) signedIn(ctx context.Context, t *trusted, f *Flow, token *oauth2.Token) (Identity, error) {
	kind := KindID
	raw, _ := token.Extra("id_token").(string)
	got, said, err := v.verifyToken(ctx, raw, &kind)
	if err != nil {
		return Identity{}, err
	}
	if got.by != t || !slices.Contains(said.Audience, t.Client.ID) || said.text(claimNonce) != f.Nonce {
		return Identity{}, startAgain("The issuer's token is not for this sign-in: sign in again.")
	}
	if t.Tokens != KindAccess {
		return got.id, nil
	}
	kind = KindAccess
	access, opens, err := v.verifyToken(ctx, token.AccessToken, &kind)
	if err != nil {
		return Identity{}, err
	}
	if access.by != t || opens.RegisteredClaims.Subject != said.RegisteredClaims.Subject {
		return Identity{}, startAgain("The issuer's tokens are for two different people: sign in again.")
	}
	access.id.Name, access.id.Email = cmp.Or(got.id.Name, access.id.Name), cmp.Or(got.id.Email, access.id.Email)
	return access.id, nil
}

// startAgain returns the error of a failed sign-in.
func startAgain(format string, args ...any) error {
	return fault.New(fault.Unauthorized, "not_signed_in", format, args...)
}

// word returns an error code of the protocol, which could be any text, if it looks like one.
func word(code string) string {
	if code == "" || len(code) > 40 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "no valid reason"
	}
	return code
}
