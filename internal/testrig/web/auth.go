package web

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
)

// The issuer of the tests' tokens, and their API key.
const (
	PoolURL = "https://pool.example/eu-west-1_1"
	Key     = "0123456789abcdefghij"
)

// poolKey signs the tokens of the tests' user pool.
var poolKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// keptKeys is a KeyStore that has the pool's keys, fetched now.
type keptKeys struct{}

func (keptKeys) LoadKeys(_ context.Context, issuer string) (auth.KeySet, error) {
	body, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &poolKey().PublicKey, KeyID: "k1", Use: "sig", Algorithm: "RS256"}}})
	return auth.KeySet{Issuer: issuer, Body: body, FetchedAt: clock.Real().Wall()}, err
}

func (keptKeys) SaveKeys(context.Context, auth.KeySet) error {
	return errors.New("nothing is to be saved")
}

// offline is a network that always fails.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("offline") }

// Verifier returns a Verifier that accepts the tests' user pool and API key.
func Verifier(t testing.TB) *auth.Verifier {
	t.Helper()
	v, err := auth.New(auth.Config{
		Issuers: []auth.Issuer{{URL: PoolURL, ClientIDs: []string{"app"}}}, APIKey: Key, Keys: keptKeys{},
		Client: &http.Client{Transport: offline{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// Token returns a token of the pool for a user. changes are pairs of a claim and its value; nil removes the claim.
func Token(user string, changes ...any) string {
	now := clock.Real().Wall()
	claims := jwt.MapClaims{
		"iss": PoolURL, "aud": "app", "sub": user, "token_use": "id", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(),
	}
	for change := range slices.Chunk(changes, 2) {
		claims[change[0].(string)] = change[1]
	}
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	t.Header["kid"] = "k1"
	text, err := t.SignedString(poolKey())
	if err != nil {
		panic(err)
	}
	return text
}

// AdminToken returns a token of an admin.
func AdminToken() string { return Token("boss", "cognito:groups", []string{"admin"}) }
