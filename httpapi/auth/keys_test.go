package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// A key set yields the named public keys of the two algorithms in secure sizes.
func TestKeysThatCount(t *testing.T) {
	ec := func(c elliptic.Curve) any {
		key, err := ecdsa.GenerateKey(c, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return &key.PublicKey
	}
	long := func(bits uint) *big.Int { return new(big.Int).SetBit(theirKey().N, int(bits)-1, 1) }
	good := &theirKey().PublicKey
	for name, tt := range map[string]struct {
		key jose.JSONWebKey
		ok  bool
	}{
		"RSA":                     {jose.JSONWebKey{Key: good, KeyID: "k"}, true},
		"RSA for RS256":           {jose.JSONWebKey{Key: good, KeyID: "k", Algorithm: "RS256", Use: "sig"}, true},
		"RSA for PS256":           {jose.JSONWebKey{Key: good, KeyID: "k", Algorithm: "PS256"}, false},
		"RSA for secrets":         {jose.JSONWebKey{Key: good, KeyID: "k", Algorithm: "RSA-OAEP", Use: "enc"}, false},
		"RSA for secrets, by use": {jose.JSONWebKey{Key: good, KeyID: "k", Use: "enc"}, false},
		"RSA without a name":      {jose.JSONWebKey{Key: good}, false},
		"RSA, exponent 1":         {jose.JSONWebKey{Key: &rsa.PublicKey{N: good.N, E: 1}, KeyID: "k"}, false},
		"RSA, an even exponent":   {jose.JSONWebKey{Key: &rsa.PublicKey{N: good.N, E: 65536}, KeyID: "k"}, false},
		"RSA, 4096 bits":          {jose.JSONWebKey{Key: &rsa.PublicKey{N: long(4096), E: 65537}, KeyID: "k"}, true},
		"RSA, 8193 bits":          {jose.JSONWebKey{Key: &rsa.PublicKey{N: long(8193), E: 65537}, KeyID: "k"}, false},
		"RSA, 1024 bits":          {jose.JSONWebKey{Key: &rsa.PublicKey{N: new(big.Int).Rsh(good.N, 1024), E: 65537}, KeyID: "k"}, false},
		"P-256":                   {jose.JSONWebKey{Key: ec(elliptic.P256()), KeyID: "k"}, true},
		"P-256 for ES256":         {jose.JSONWebKey{Key: ec(elliptic.P256()), KeyID: "k", Algorithm: "ES256"}, true},
		"P-256 for secrets":       {jose.JSONWebKey{Key: ec(elliptic.P256()), KeyID: "k", Algorithm: "ECDH-ES"}, false},
		"P-384":                   {jose.JSONWebKey{Key: ec(elliptic.P384()), KeyID: "k"}, false},
		"a private key":           {jose.JSONWebKey{Key: theirKey(), KeyID: "k"}, false},
		"a secret":                {jose.JSONWebKey{Key: []byte("0123456789abcdef"), KeyID: "k"}, false},
	} {
		set, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{tt.key}})
		if err != nil {
			t.Fatal(err)
		}
		if keys, err := parseKeys(set); (err == nil) != tt.ok || (keys["k"] != nil) != tt.ok {
			t.Errorf("%s: %v, %v", name, keys, err)
		}
	}
}

// Of two keys with the same name the first counts, and of a long set the beginning.
func TestKeysOfASet(t *testing.T) {
	first := jose.JSONWebKey{Key: &theirKey().PublicKey, KeyID: "k"}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{first, {Key: &otherKey().PublicKey, KeyID: "k"}}}
	for i := range 2 * maxKeys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: first.Key, KeyID: fmt.Sprint("x", i)})
	}
	raw, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := parseKeys(raw)
	if err != nil || len(keys) != maxKeys-1 || !theirKey().PublicKey.Equal(keys["k"]) {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}
