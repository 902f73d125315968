package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// Limits of a key set.
const (
	maxAnswer  = 256 << 10 // bytes of a key set or discovery document
	maxKeys    = 256       // tenants of large issuers share one set of some dozens
	minKeyBits = 2048      // go-jose accepts up to 4096
)

// parseKeys parses a JWKS and returns its RSA and P-256 signing keys by kid. It ignores everything else, because issuers may add kinds
// of keys that we do not know. A set without usable keys is an error.
func parseKeys(body []byte) (map[string]any, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	keys := map[string]any{}
	for _, raw := range set.Keys[:min(len(set.Keys), maxKeys)] {
		kid, key := parseKey(raw)
		if key != nil && keys[kid] == nil {
			keys[kid] = key
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("no RSA or P-256 key for signatures among %d", len(set.Keys))
	}
	return keys, nil
}

// parseKey parses one key; nil: not a usable signing key.
func parseKey(raw json.RawMessage) (kid string, key any) {
	var jwk jose.JSONWebKey
	if jwk.UnmarshalJSON(raw) != nil || jwk.KeyID == "" || jwk.Use != "" && jwk.Use != "sig" {
		return "", nil
	}
	switch k := jwk.Key.(type) { // private keys have other types
	case *rsa.PublicKey:
		if k.N.BitLen() >= minKeyBits && k.E >= 3 && k.E%2 == 1 && (jwk.Algorithm == "" || jwk.Algorithm == "RS256") {
			return jwk.KeyID, k
		}
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() && (jwk.Algorithm == "" || jwk.Algorithm == "ES256") {
			return jwk.KeyID, k
		}
	}
	return "", nil
}
