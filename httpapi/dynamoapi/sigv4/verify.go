package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync/atomic"
	"time"
)

// Verifier verifies requests. It is safe for concurrent use. A nil *Verifier verifies nothing and allows everything.
type Verifier struct {
	now  func() time.Time // clock for checking the time of signatures
	keys atomic.Pointer[Keyring]
}

// New returns a Verifier. now is the clock for checking the time of signatures.
func New(keys *Keyring, now func() time.Time) *Verifier {
	v := &Verifier{now: now}
	v.SetKeys(keys)
	return v
}

// SetKeys replaces the keys.
func (v *Verifier) SetKeys(keys *Keyring) { v.keys.Store(keys) }

// Verify returns the sender of a request whose body has this hash as received, before decompression. It does not read r.Body. The error
// is nil or an *Error.
func (v *Verifier) Verify(r *http.Request, payload [sha256.Size]byte) (*Principal, error) {
	if v == nil {
		return Anyone(), nil
	}
	c, refusal := claimOf(r)
	if refusal == nil {
		refusal = c.current(v.now())
	}
	if refusal == nil {
		refusal = c.headersSigned(r.Header)
	}
	if refusal == nil {
		refusal = c.scope()
	}
	if refusal != nil {
		return nil, refusal
	}
	key, ok := v.keys.Load().byID[c.id]
	if !ok {
		return nil, errUnrecognized()
	}
	if refusal := c.checkSignature(r, key, payload); refusal != nil {
		return nil, refusal
	}
	if c.hasToken {
		return nil, errUnrecognized()
	}
	return &Principal{id: c.id, grants: key.grants}, nil
}

func (c *claim) checkSignature(r *http.Request, key *key, payload [sha256.Size]byte) *Error {
	canonical := c.canonical(r, hex.EncodeToString(payload[:]))
	toSign := stringToSign(c.stamp, c.region, service, canonical)
	want := hex.EncodeToString(mac(derive(key.secret(), c.date, c.region, service), toSign))
	if !hmac.Equal([]byte(want), []byte(c.signature)) {
		return errMismatch(canonical, toSign)
	}
	return nil
}

// stringToSign combines a canonical request with its time, region and service.
func stringToSign(stamp, region, service, canonical string) string {
	hashed := sha256.Sum256([]byte(canonical))
	return algorithm + "\n" + stamp + "\n" + stamp[:8] + "/" + region + "/" + service + "/" + terminator + "\n" +
		hex.EncodeToString(hashed[:])
}

// derive returns the signing key for a date and region.
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
