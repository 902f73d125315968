package auth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
)

// FuzzHeaders checks that only the right headers are accepted, and that refusals reveal nothing about them.
func FuzzHeaders(f *testing.F) {
	corpus.Add(f)
	now := time.Unix(1_800_000_000, 0)
	dev, token := fixedToken(f, now)
	h := &hands{}
	h.at.Store(now.Unix())
	const key = "0123456789abcdefghij"
	v, err := New(Config{Issuers: []Issuer{dev.Issuer()}, APIKey: key, Clock: h})
	if err != nil {
		f.Fatal(err)
	}
	if id, err := v.Verify(f.Context(), token); err != nil || id.Subject != "u1" {
		f.Fatalf("%+v, %v", id, err)
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

// fixedToken is the same in every process, because fuzzing runs several.
func fixedToken(f *testing.F, now time.Time) (*DevIssuer, string) {
	f.Helper()
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), bytes.Repeat([]byte{7}, 32))
	if err != nil {
		f.Fatal(err)
	}
	dev, err := devIssuerOf(key)
	if err != nil {
		f.Fatal(err)
	}
	p := parts{
		header: map[string]any{"alg": "ES256", "kid": dev.kid},
		claims: map[string]any{"iss": devIssuer, "aud": devClient, "sub": "u1", "token_use": "id", "exp": now.Unix() + 3600},
	}
	digest := sha256.Sum256([]byte(p.unsigned()))
	der, err := key.Sign(nil, digest[:], crypto.SHA256) // deterministic without a random source (RFC 6979)
	if err != nil {
		f.Fatal(err)
	}
	var sig struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &sig); err != nil {
		f.Fatal(err)
	}
	raw := make([]byte, 64)
	sig.R.FillBytes(raw[:32])
	sig.S.FillBytes(raw[32:])
	return dev, p.unsigned() + "." + base64.RawURLEncoding.EncodeToString(raw)
}

// FuzzKeys checks that an issuer's key set yields strong keys or none.
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
			good := kid != ""
			switch k := key.(type) {
			case *rsa.PublicKey:
				good = good && k.N.BitLen() >= minKeyBits && k.N.BitLen() <= 4096 && k.E >= 3
			case *ecdsa.PublicKey:
				good = good && k.Curve == elliptic.P256()
			default:
				good = false
			}
			if !good {
				t.Fatalf("key %q: %+v", kid, key)
			}
		}
	})
}
