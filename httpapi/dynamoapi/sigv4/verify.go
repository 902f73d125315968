package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Verifier verifies requests. Its methods may be called from any goroutine. A nil *Verifier verifies nothing, and lets
// everybody do everything.
type Verifier struct {
	now   func() time.Time // the clock by which a signature is current
	state atomic.Pointer[state]
}

// state is the keys, with what was derived from them.
type state struct {
	keys *Keyring

	mu      sync.Mutex
	derived map[scope][]byte
}

// scope is what a signing key is for.
type scope struct{ id, date, region string }

// maxDerived bounds the signing keys that are remembered. Only keys of requests that were signed right are, so that it
// takes a known key to fill it.
const maxDerived = 256

// New creates a Verifier. now is the clock by which a signature is current.
func New(keys *Keyring, now func() time.Time) *Verifier {
	v := &Verifier{now: now}
	v.SetKeys(keys)
	return v
}

// SetKeys takes other keys from now on.
func (v *Verifier) SetKeys(keys *Keyring) {
	v.state.Store(&state{keys: keys, derived: map[scope][]byte{}})
}

// Verify identifies the sender of a request whose body, as it came over the wire (before it is unpacked), has this
// hash. The body of r is not read. The error is nil or a *Error.
func (v *Verifier) Verify(r *http.Request, payload [sha256.Size]byte) (*Principal, error) {
	if v == nil {
		return Anyone(), nil
	}
	s := v.state.Load()
	c, refusal := claimOf(r)
	if refusal == nil {
		refusal = c.current(v.now())
	}
	if refusal == nil {
		refusal = c.headersSigned(r.Header)
	}
	if refusal == nil {
		refusal = c.scope(s.keys.regions)
	}
	if refusal != nil {
		return nil, refusal
	}
	key, ok := s.keys.byID[c.id]
	if !ok {
		return nil, errUnrecognized()
	}
	if refusal := s.checkSignature(r, c, key, payload); refusal != nil {
		return nil, refusal
	}
	if c.hasToken {
		return nil, errUnrecognized()
	}
	return &Principal{id: c.id, grants: key.grants}, nil
}

func (s *state) checkSignature(r *http.Request, c *claim, key *key, payload [sha256.Size]byte) *Error {
	canonical := c.canonical(r, hex.EncodeToString(payload[:]))
	toSign := stringToSign(c.stamp, c.region, service, canonical)
	signing, known := s.signingKey(c, key)
	want := hex.EncodeToString(mac(signing, toSign))
	if !hmac.Equal([]byte(want), []byte(c.signature)) {
		return errMismatch(canonical, toSign)
	}
	if !known {
		s.remember(c, signing)
	}
	return nil
}

// signingKey returns the key for the scope of a claim, and whether it is remembered already.
func (s *state) signingKey(c *claim, key *key) (signing []byte, known bool) {
	s.mu.Lock()
	signing, known = s.derived[scope{c.id, c.date, c.region}]
	s.mu.Unlock()
	if known {
		return signing, true
	}
	return derive(key.secret(), c.date, c.region, service), false
}

func (s *state) remember(c *claim, signing []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.derived) >= maxDerived {
		clear(s.derived)
	}
	s.derived[scope{c.id, c.date, c.region}] = signing
}

// stringToSign binds a canonical request to its time, region and service.
func stringToSign(stamp, region, service, canonical string) string {
	hashed := sha256.Sum256([]byte(canonical))
	return algorithm + "\n" + stamp + "\n" + stamp[:8] + "/" + region + "/" + service + "/" + terminator + "\n" +
		hex.EncodeToString(hashed[:])
}

// derive returns the key that signs on a date in a region.
func derive(secret Secret, date, region, service string) []byte {
	signing := mac([]byte("AWS4"+string(secret)), date)
	for _, part := range []string{region, service, terminator} {
		signing = mac(signing, part)
	}
	return signing
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
