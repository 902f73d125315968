package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/fault"
)

func TestGoodToken(t *testing.T) {
	r := newRig(t)
	for name, tt := range map[string]struct {
		p     parts
		admin bool
	}{
		"admin":           {r.good(), true},
		"user":            {r.good().with("cognito:groups", []string{"scorers"}), false},
		"no groups":       {r.good().with("cognito:groups", nil), false},
		"several clients": {r.good().with("aud", []string{"x", "web"}), true},
		"just expired":    {r.good().with("exp", r.clock.Now().Unix()-59), true},
		"a fast clock":    {r.good().with("nbf", r.clock.Now().Unix()+59), true},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // verified, then cached
				id, err := r.Verify(t.Context(), tt.p.token())
				if err != nil {
					t.Fatal(err)
				}
				want, _ := tt.p.claims["cognito:groups"].([]string)
				if id.Subject != "u1" || id.Admin != tt.admin || id.Key || !slices.Equal(id.Groups, want) ||
					id.Expires.Unix() != tt.p.claims["exp"].(int64) {
					t.Errorf("%+v", id)
				}
			}
		})
	}
	if n := r.asked.Load(); n != 1 {
		t.Errorf("keys fetched %d times", n)
	}
}

// Only a current token of the issuer for this app is accepted, and errors do not contain the token.
func TestBadTokens(t *testing.T) {
	r := newRig(t)
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a token had us ask a stranger") }))
	defer trap.Close()
	now := r.clock.Now().Unix()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&theirKey().PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	dev, err := NewDevIssuer()
	if err != nil {
		t.Fatal(err)
	}
	devToken, _, err := dev.Sign(Grant{Subject: "u1", Life: time.Hour}, r.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	g := r.good()
	token := g.token()
	strange := g.signed(jwt.SigningMethodRS256, otherKey())
	for name, tt := range map[string]struct{ token, want string }{
		"none":                   {g.head("alg", "none").unsigned() + ".", "not signed by its issuer"},
		"None":                   {g.head("alg", "None").unsigned() + ".", "not signed by its issuer"},
		"none with a signature":  {g.head("alg", "none").token(), "not signed by its issuer"},
		"HS256 by the PEM":       {g.head("alg", "HS256").signed(jwt.SigningMethodHS256, public), "not signed by its issuer"},
		"HS256 by the DER":       {g.head("alg", "HS256").signed(jwt.SigningMethodHS256, der), "not signed by its issuer"},
		"HS256 that says RS256":  {g.signed(jwt.SigningMethodHS256, public), "not signed by its issuer"},
		"RS512 by the right key": {g.head("alg", "RS512").signed(jwt.SigningMethodRS512, theirKey()), "not signed by its issuer"},
		"PS256 by the right key": {g.head("alg", "PS256").signed(jwt.SigningMethodPS256, theirKey()), "not signed by its issuer"},
		"ES256":                  {g.head("alg", "ES256").signed(jwt.SigningMethodES256, ec), "must be signed with RS256"},
		"no alg":                 {g.head("alg", nil).token(), "not signed by its issuer"},
		"alg is a number":        {g.head("alg", 256).token(), "not signed by its issuer"},
		"another key":            {strange, "not signed by its issuer"},
		"its own key": {g.head("jwk", jose.JSONWebKey{Key: &otherKey().PublicKey, KeyID: "k1"}).
			signed(jwt.SigningMethodRS256, otherKey()), "not signed by its issuer"},
		"its own key set": {g.head("jku", trap.URL, "x5u", trap.URL, "kid", "theirs").
			signed(jwt.SigningMethodRS256, otherKey()), "key (kid) is not its issuer's"},
		"kid of a path":   {g.head("kid", "../../../dev/null").token(), "key (kid) is not its issuer's"},
		"kid of a query":  {g.head("kid", "k1' OR '1'='1").token(), "key (kid) is not its issuer's"},
		"kid of a URL":    {g.head("kid", trap.URL).token(), "key (kid) is not its issuer's"},
		"no kid":          {g.head("kid", nil).token(), "does not name its signing key"},
		"kid is a number": {g.head("kid", 1).token(), "does not name its signing key"},
		"kid is a list":   {g.head("kid", []string{"k1"}).token(), "does not name its signing key"},
		"critical":        {g.head("crit", []string{"b64"}, "b64", false).token(), "crit"},

		"another issuer":        {g.with("iss", "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Other").token(), "issuer that this node does not know"},
		"issuer with a slash":   {g.with("iss", r.issuer+"/").token(), "issuer that this node does not know"},
		"issuer in capitals":    {g.with("iss", strings.ToUpper(r.issuer)).token(), "issuer that this node does not know"},
		"no issuer":             {g.with("iss", nil).token(), "issuer that this node does not know"},
		"issuers":               {g.with("iss", []string{r.issuer}).token(), "not a token"},
		"a development token":   {devToken, "issuer that this node does not know"},
		"another app":           {g.with("aud", "other").token(), "for another app"},
		"no app":                {g.with("aud", nil).token(), "for another app"},
		"empty app":             {g.with("aud", "").token(), "for another app"},
		"app's prefix":          {g.with("aud", "ap").token(), "for another app"},
		"client id as a map":    {g.with("aud", map[string]string{"app": "app"}).token(), "not a token"},
		"access token":          {g.with("token_use", "access", "aud", nil, "client_id", "app").token(), "not an ID token"},
		"no use":                {g.with("token_use", nil).token(), "not an ID token"},
		"expired":               {g.with("exp", now-60).token(), "expired at 2026-06-09T09:59:00Z"},
		"never expires":         {g.with("exp", nil).token(), "has no exp"},
		"expires in words":      {g.with("exp", "tomorrow").token(), "not a token"},
		"issued tomorrow":       {g.with("iat", now+24*3600).token(), "not valid"},
		"another client's":      {g.with("aud", []string{"app", "other"}).with("azp", "other").token(), "its azp is none"},
		"azp of nobody":         {g.with("azp", 5).token(), "its azp is none"},
		"not yet":               {g.with("nbf", now+361).token(), "not valid yet"},
		"nobody":                {g.with("sub", nil).token(), "sub cannot be"},
		"two parts of a key":    {g.with("sub", "u1#phone").token(), "sub cannot be"},
		"a line break":          {g.with("sub", "u1\nX: y").token(), "sub cannot be"},
		"a path":                {g.with("sub", "../u2").token(), "sub cannot be"},
		"a long name":           {g.with("sub", strings.Repeat("u", 129)).token(), "sub cannot be"},
		"groups in one text":    {g.with("cognito:groups", "admin").token(), "not a token"},
		"header says it all":    {encode(map[string]any{"alg": "RS256", "kid": "k1", "sub": "u1"}) + "..", "not a token"},
		"claims changed":        {g.head().with("sub", "u2").unsigned() + token[strings.LastIndex(token, "."):], "not signed by its issuer"},
		"signature cut":         {token[:len(token)-6], "not signed by its issuer"},
		"no signature":          {token[:strings.LastIndex(token, ".")+1], "not signed by its issuer"},
		"signature not decoded": {token[:len(token)-1] + "!", "not a token"},
		"padded":                {token + "=", "not a token"},
		"one part":              {"x", "not a token"},
		"two parts":             {g.unsigned(), "not a token"},
		"four parts":            {token + ".x", "not a token"},
		"encrypted":             {"a.b.c.d.e", "not a token"},
		"empty":                 {"", "not a token"},
		"dots":                  {"..", "not a token"},
		"too long":              {token + strings.Repeat("A", maxToken), "longer than 8192 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			r.clock.forward(askEvery) // an unknown kid may cause a fetch again
			id, err := r.Verify(t.Context(), tt.token)
			r.clock.forward(-askEvery)
			if !fault.Is(err, fault.Unauthorized) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%+v, %v, want %q", id, err, tt.want)
			}
			for part := range strings.SplitSeq(tt.token, ".") {
				if len(part) > 4 && strings.Contains(err.Error(), part) {
					t.Errorf("%q echoes the token", err)
				}
			}
		})
	}
	if _, err := r.Verify(t.Context(), token); err != nil {
		t.Errorf("the good token: %v", err)
	}
}

// A cached token expires like any other.
func TestRememberedTokenExpires(t *testing.T) {
	r := newRig(t)
	token := r.good().token()
	for _, tt := range []struct {
		after time.Duration
		ok    bool
	}{{0, true}, {time.Hour + 59*time.Second, true}, {2 * time.Second, false}} {
		r.clock.forward(tt.after)
		if _, err := r.Verify(t.Context(), token); (err == nil) != tt.ok {
			t.Errorf("at %s: %v", r.clock.Now(), err)
		}
	}
}

func TestIdentify(t *testing.T) {
	r := newRig(t)
	const key = "0123456789abcdefghij"
	token := r.good().with("cognito:groups", nil).token()
	for name, tt := range map[string]struct {
		header http.Header
		want   string // part of the error, or "user", "key", "both", "none"
	}{
		"nothing":           {http.Header{}, "none"},
		"token":             {http.Header{"Authorization": {"Bearer " + token}}, "user"},
		"small letters":     {http.Header{"Authorization": {"bearer  " + token + " "}}, "user"},
		"key":               {http.Header{"X-Api-Key": {key}}, "key"},
		"both":              {http.Header{"Authorization": {"Bearer " + token}, "X-Api-Key": {key}}, "both"},
		"wrong key":         {http.Header{"X-Api-Key": {key + "x"}}, "The X-API-Key is not this node's."},
		"key's beginning":   {http.Header{"X-Api-Key": {key[:19]}}, "The X-API-Key is not this node's."},
		"empty key":         {http.Header{"X-Api-Key": {""}}, "The X-API-Key is not this node's."},
		"two keys":          {http.Header{"X-Api-Key": {key, key}}, "more than one X-API-Key"},
		"token, wrong key":  {http.Header{"Authorization": {"Bearer " + token}, "X-Api-Key": {"no"}}, "The X-API-Key is not"},
		"key, bad token":    {http.Header{"Authorization": {"Bearer x"}, "X-Api-Key": {key}}, "not a token"},
		"two tokens":        {http.Header{"Authorization": {"Bearer " + token, "Bearer " + token}}, "more than one Authorization"},
		"two in one":        {http.Header{"Authorization": {"Bearer " + token + ", Bearer " + token}}, "not a token"},
		"Basic":             {http.Header{"Authorization": {"Basic dTpw"}}, "must be Bearer"},
		"bare token":        {http.Header{"Authorization": {token}}, "must be Bearer"},
		"Bearer of nothing": {http.Header{"Authorization": {"Bearer"}}, "no token after Bearer"},
		"Bearer of blanks":  {http.Header{"Authorization": {"Bearer   "}}, "no token after Bearer"},
		"empty":             {http.Header{"Authorization": {""}}, "must be Bearer"},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := r.Identify(t.Context(), &http.Request{Header: tt.header})
			got := "none"
			switch {
			case err == ErrNone: //nolint:errorlint // it is that one, as it is
			case err != nil:
				if !fault.Is(err, fault.Unauthorized) || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("%v, want %q", err, tt.want)
				}
				return
			case id.Subject == "u1" && id.Key && id.Admin:
				got = "both"
			case id.Subject == "u1" && !id.Key && !id.Admin:
				got = "user"
			case id.Subject == "" && id.Key && id.Admin:
				got = "key"
			}
			if got != tt.want {
				t.Errorf("%+v is %s, want %s", id, got, tt.want)
			}
		})
	}
}

// Without a configured key every key is refused, even an empty one.
func TestNoAPIKey(t *testing.T) {
	v, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"", "x"} {
		if id, err := v.Identify(t.Context(), &http.Request{Header: http.Header{"X-Api-Key": {key}}}); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("key %q: %+v, %v", key, id, err)
		}
	}
}

func TestBadConfig(t *testing.T) {
	for name, issuers := range map[string][]Issuer{
		"no name":   {{ClientIDs: []string{"a"}}},
		"no client": {{URL: "https://a"}},
		"twice":     {{URL: "https://a", ClientIDs: []string{"a"}}, {URL: "https://a", ClientIDs: []string{"b"}}},
	} {
		if _, err := New(Config{Issuers: issuers}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Issuers are separate: a key or client id of one is not valid for the other.
func TestIssuersApart(t *testing.T) {
	a, b := newRig(t), newRig(t)
	b.serve(keySet(map[string]any{"k1": &otherKey().PublicKey}))
	v, err := New(Config{Clock: a.clock, Issuers: []Issuer{
		{URL: a.issuer, ClientIDs: []string{"app"}}, {URL: b.issuer, ClientIDs: []string{"web"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	defer v.cfg.Client.CloseIdleConnections()
	for name, tt := range map[string]struct {
		token string
		ok    bool
	}{
		"a":               {a.good().token(), true},
		"b":               {b.good().with("aud", "web").signed(jwt.SigningMethodRS256, otherKey()), true},
		"a by b's key":    {a.good().signed(jwt.SigningMethodRS256, otherKey()), false},
		"b by a's key":    {b.good().with("aud", "web").token(), false},
		"a for b's app":   {a.good().with("aud", "web").token(), false},
		"b for a's app":   {b.good().signed(jwt.SigningMethodRS256, otherKey()), false},
		"a, b's both":     {a.good().with("aud", "web").signed(jwt.SigningMethodRS256, otherKey()), false},
		"b again, as 'a'": {b.good().with("aud", []string{"app"}).signed(jwt.SigningMethodRS256, otherKey()), false},
	} {
		if _, err := v.Verify(t.Context(), tt.token); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
