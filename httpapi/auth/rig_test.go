package auth

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
	"go.uber.org/goleak"

	"github.com/touchline/touchline/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Creating keys is slow: all tests share two.
var (
	theirKey = sync.OnceValue(newKey)
	otherKey = sync.OnceValue(newKey)
)

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

// hands is a clock that stands still until it is set.
type hands struct {
	clock.Clock
	at atomic.Int64
}

func (h *hands) Wall() time.Time { return h.Now() }

func (h *hands) Now() time.Time          { return time.Unix(h.at.Load(), 0).UTC() }
func (h *hands) forward(d time.Duration) { h.at.Add(int64(d / time.Second)) }

// kept is a KeyStore in memory.
type kept struct {
	mu   sync.Mutex
	sets map[string]KeySet
	fail error
}

func (k *kept) LoadKeys(_ context.Context, issuer string) (KeySet, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sets[issuer], k.fail
}

func (k *kept) SaveKeys(_ context.Context, set KeySet) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sets == nil {
		k.sets = map[string]KeySet{}
	}
	k.sets[set.Issuer] = set
	return k.fail
}

// rig is a user pool and a Verifier that trusts it.
type rig struct {
	*Verifier
	t      testing.TB
	clock  *hands
	kept   *kept
	server *httptest.Server
	issuer string

	answer atomic.Pointer[http.HandlerFunc]
	asked  atomic.Int64
}

func newRig(t testing.TB) *rig {
	r := &rig{t: t, clock: &hands{}, kept: &kept{}}
	r.clock.at.Store(time.Date(2026, 6, 9, 10, 0, 0, 0, time.UTC).Unix())
	r.serve(keySet(map[string]any{"k1": &theirKey().PublicKey}))
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/pool/.well-known/jwks.json" {
			t.Errorf("asked for %s", req.URL.Path)
		}
		r.asked.Add(1)
		(*r.answer.Load())(w, req)
	}))
	t.Cleanup(r.server.Close)
	r.issuer = r.server.URL + "/pool"
	r.restart()
	return r
}

// restart creates the Verifier again, like a restarted node.
func (r *rig) restart() {
	r.t.Helper()
	v, err := New(Config{
		Issuers: []Issuer{{URL: r.issuer, ClientIDs: []string{"app", "web"}}}, Clock: r.clock, Keys: r.kept,
		APIKey: "0123456789abcdefghij",
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if r.Verifier != nil {
		r.Close()
	}
	r.Verifier = v
	r.t.Cleanup(func() { v.Close(); v.cfg.Client.CloseIdleConnections() })
}

// serve makes the pool answer with a body, and 304 to clients that have it.
func (r *rig) serve(body []byte) {
	sum := sha256.Sum256(body)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:]) + `"`
	r.handle(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("ETag", tag)
		if req.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Write(body)
	})
}

func (r *rig) handle(h http.HandlerFunc) { r.answer.Store(&h) }

// status makes the pool answer with just a status.
func (r *rig) status(code int) {
	r.handle(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
}

func keySet(keys map[string]any) []byte {
	var set jose.JSONWebKeySet
	for kid, key := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key, KeyID: kid, Algorithm: "RS256", Use: "sig"})
	}
	body, err := json.Marshal(set)
	if err != nil {
		panic(err)
	}
	return body
}

// parts are the header and the claims of a token.
type parts struct{ header, claims map[string]any }

// good returns a token that is valid for an hour.
func (r *rig) good() parts {
	now := r.clock.Now().Unix()
	return parts{
		header: map[string]any{"alg": "RS256", "kid": "k1", "typ": "JWT"},
		claims: map[string]any{
			"iss": r.issuer, "aud": "app", "sub": "u1", "token_use": "id", "iat": now, "exp": now + 3600,
			"cognito:groups": []string{"admin", "scorers"},
		},
	}
}

// with changes claims; nil removes one.
func (p parts) with(kv ...any) parts {
	p.claims = maps.Clone(p.claims)
	set(p.claims, kv)
	return p
}

// head changes the header in the same way.
func (p parts) head(kv ...any) parts {
	p.header = maps.Clone(p.header)
	set(p.header, kv)
	return p
}

func set(m map[string]any, kv []any) {
	for i := 0; i < len(kv); i += 2 {
		if kv[i+1] == nil {
			delete(m, kv[i].(string))
			continue
		}
		m[kv[i].(string)] = kv[i+1]
	}
}

// unsigned returns the two parts that are signed.
func (p parts) unsigned() string { return encode(p.header) + "." + encode(p.claims) }

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// signed signs with a method of the library, whatever the header says.
func (p parts) signed(m jwt.SigningMethod, key any) string {
	sig, err := m.Sign(p.unsigned(), key)
	if err != nil {
		panic(err)
	}
	return p.unsigned() + "." + base64.RawURLEncoding.EncodeToString(sig)
}

func (p parts) token() string { return p.signed(jwt.SigningMethodRS256, theirKey()) }

// errNever is the error of a closed door.
var errNever = errors.New("no")
