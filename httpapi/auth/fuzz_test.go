package auth

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
)

// FuzzHeaders holds that no headers but the right ones are accepted, and that what is refused is refused in a way that
// says nothing of them.
func FuzzHeaders(f *testing.F) {
	corpus.Add(f)
	dev, err := NewDevIssuer()
	if err != nil {
		f.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	token, _, err := dev.Sign(Grant{Subject: "u1", Groups: []string{"admin"}, Life: time.Hour}, now)
	if err != nil {
		f.Fatal(err)
	}
	h := &hands{}
	h.at.Store(now.Unix())
	const key = "0123456789abcdefghij"
	v, err := New(Config{Issuers: []Issuer{dev.Issuer()}, APIKey: key, Clock: h})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("Bearer "+token, key)
	f.Add("bearer  "+token, "")
	f.Add("Bearer "+strings.Replace(token, ".", "..", 1), "x")
	f.Add("Basic dTpw", key+" ")
	f.Add("Bearer "+encode(map[string]any{"alg": "none"})+"."+encode(map[string]any{"iss": devIssuer, "sub": "u1", "exp": 1 << 40})+".", "")
	f.Add("Bearer e30.e30.", "")
	f.Fuzz(func(t *testing.T, authorization, apiKey string) {
		r := &http.Request{Header: http.Header{}}
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		if apiKey != "" {
			r.Header.Set("X-API-Key", apiKey)
		}
		id, err := v.Identify(t.Context(), r)
		switch {
		case err == nil:
			if id.Key != (apiKey == key) || id.Subject != "" && !strings.HasSuffix(strings.TrimSpace(authorization), " "+token) ||
				id.Subject == "" && authorization != "" {
				t.Fatalf("accepted %q and %q as %+v", authorization, apiKey, id)
			}
		case err == ErrNone: //nolint:errorlint // it is that one, as it is
			if authorization != "" || apiKey != "" {
				t.Fatalf("%q and %q are none", authorization, apiKey)
			}
		case !fault.Is(err, fault.Unauthorized):
			t.Fatal(err)
		}
	})
}

// FuzzKeys holds that a key set of an issuer gives strong RSA keys or none.
func FuzzKeys(f *testing.F) {
	corpus.Add(f)
	f.Add(string(keySet(map[string]any{"k1": &theirKey().PublicKey, "k2": &otherKey().PublicKey})))
	f.Add(`{"keys":[{"kty":"RSA","kid":"k","n":"AQAB","e":"AQAB"},{"kty":"EC"},null,1]}`)
	f.Add(`{"keys":{"kid":1}}`)
	f.Fuzz(func(t *testing.T, body string) {
		keys, err := parseKeys([]byte(body))
		if (err == nil) != (len(keys) > 0) {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		for kid, key := range keys {
			if kid == "" || key.N.BitLen() < minKeyBits || key.N.BitLen() > maxKeyBits || key.E < 3 {
				t.Fatalf("key %q of %d bits", kid, key.N.BitLen())
			}
		}
	})
}
