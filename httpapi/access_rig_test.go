package httpapi

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/clock"
)

const (
	poolURL = "https://pool.example/eu-west-1_1"
	rigKey  = "0123456789abcdefghij"
)

// poolKey signs the tokens of the tests' user pool.
var poolKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// keptKeys is a KeyStore that has the pool's keys, as of now.
type keptKeys struct{}

func (keptKeys) LoadKeys(_ context.Context, issuer string) (auth.KeySet, error) {
	body, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &poolKey().PublicKey, KeyID: "k1", Use: "sig", Algorithm: "RS256"}}})
	return auth.KeySet{Issuer: issuer, Body: body, FetchedAt: clock.Real().Now()}, err
}

func (keptKeys) SaveKeys(context.Context, auth.KeySet) error {
	return errors.New("nothing is to be saved")
}

// offline is a network that is not there.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("offline") }

// verifier believes the tests' user pool and their API key.
func verifier(t testing.TB) *auth.Verifier {
	t.Helper()
	v, err := auth.New(auth.Config{
		Issuers: []auth.Issuer{{URL: poolURL, ClientIDs: []string{"app"}}}, APIKey: rigKey, Keys: keptKeys{},
		Client: &http.Client{Transport: offline{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// token is one of the pool for a user, with claims changed: nil removes one.
func token(user string, changes ...any) string {
	now := clock.Real().Now()
	claims := jwt.MapClaims{
		"iss": poolURL, "aud": "app", "sub": user, "token_use": "id", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(),
	}
	for i := 0; i < len(changes); i += 2 {
		claims[changes[i].(string)] = changes[i+1]
	}
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	t.Header["kid"] = "k1"
	text, err := t.SignedString(poolKey())
	if err != nil {
		panic(err)
	}
	return text
}

func adminToken() string { return token("boss", "cognito:groups", []string{"admin"}) }

// ask sends a request with headers, given as name and value, to a server without a listener.
func ask(s *Server, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = "203.0.113.9:40000"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "RemoteAddr" {
			r.RemoteAddr = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	if isStream(r) { // one that is let in would go on
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		r = r.WithContext(ctx)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// codeOf is the code of an error, in either of its shapes.
func codeOf(w *httptest.ResponseRecorder) string {
	var body struct {
		Code  string
		Error struct{ Code string }
	}
	if json.Unmarshal(w.Body.Bytes(), &body) != nil {
		return ""
	}
	return body.Code + body.Error.Code
}
