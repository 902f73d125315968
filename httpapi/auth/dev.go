package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
)

// DevIssuer signs tokens with a key of this machine, for development and for the demo: whoever can read the key is
// anybody, so a node believes it on a loopback address only.
type DevIssuer struct {
	static
	private *ecdsa.PrivateKey
	kid     string
}

// What a DevIssuer's tokens say, and where its key lies.
const (
	devIssuer  = "touchline-dev"
	devClient  = "touchline"
	devFile    = "dev-issuer.pem"
	devPEM     = "PRIVATE KEY"
	maxDevFile = 16 << 10

	// MaxDevLife is how long a DevIssuer's token may count.
	MaxDevLife = 30 * 24 * time.Hour
)

// NewDevIssuer makes one whose key is in memory alone.
func NewDevIssuer() (*DevIssuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return devIssuerOf(key)
}

// OpenDevIssuer reads the key in a node's data directory, and makes one where there is none.
func OpenDevIssuer(dir string) (*DevIssuer, error) {
	d, err := ReadDevIssuer(dir)
	if !fault.Is(err, fault.NotFound) {
		return d, err
	}
	if d, err = NewDevIssuer(); err != nil {
		return nil, err
	}
	if err := d.save(filepath.Join(dir, devFile)); err != nil {
		return nil, err
	}
	return ReadDevIssuer(dir) // another process may have been first
}

// ReadDevIssuer reads the key in a node's data directory. There is none before OpenDevIssuer has made it:
// fault.NotFound. A key that others may read is refused.
func ReadDevIssuer(dir string) (*DevIssuer, error) {
	path := filepath.Join(dir, devFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "no_dev_issuer",
			"there is no token key in %s: touchline serve --dev-issuer creates one", dir)
	case err != nil:
		return nil, fault.Wrap(err, fault.Unavailable, "bad_dev_issuer", "cannot read the token key %s", path)
	case secretfile.Check(path) != nil:
		return nil, fault.New(fault.Invalid, "bad_dev_issuer", "other users can read or change the token key: chmod 600 %s", path)
	case !info.Mode().IsRegular() || info.Size() > maxDevFile:
		return nil, fault.New(fault.Invalid, "bad_dev_issuer", "%s is not a token key", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "bad_dev_issuer", "cannot read the token key %s", path)
	}
	key, err := parseDevKey(text)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_dev_issuer", "%s is not a token key: remove it, and a new one is created", path)
	}
	return devIssuerOf(key)
}

func parseDevKey(text []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != devPEM {
		return nil, errors.New("not PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("not PKCS 8") // the cause might show what is there
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("not a P-256 key")
	}
	return key, nil
}

func devIssuerOf(key *ecdsa.PrivateKey) (*DevIssuer, error) {
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	sum := sha256.Sum256(der)
	return &DevIssuer{private: key, kid: base64.RawURLEncoding.EncodeToString(sum[:12])}, nil
}

// save writes the key where there is none. The name appears with the whole key behind it or not at all.
func (d *DevIssuer) save(path string) (err error) {
	failed := func(err error) error {
		return fault.Wrap(err, fault.Unavailable, "no_dev_issuer", "cannot write the token key %s", path)
	}
	der, err := x509.MarshalPKCS8PrivateKey(d.private)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".dev-issuer-*") // with mode 0600
	if err != nil {
		return failed(err)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // it is in the way of nothing
	_, err = tmp.Write(pem.EncodeToMemory(&pem.Block{Type: devPEM, Bytes: der}))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return failed(err)
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(tmp.Name(), path); err != nil { // a file system without links
			return failed(err)
		}
	}
	return nil
}

// Issuer is what a Config is to hold for this issuer's tokens to count.
func (d *DevIssuer) Issuer() Issuer {
	return Issuer{URL: devIssuer, ClientIDs: []string{devClient}, dev: d}
}

// key implements keyring.
func (d *DevIssuer) key(_ context.Context, kid string) (any, error) {
	if kid != d.kid {
		return nil, unauthorized("The token is signed with another development key: make a new one with touchline token.")
	}
	return &d.private.PublicKey, nil
}

// Grant is what a token is to say.
type Grant struct {
	Subject string // the user's id
	Groups  []string
	Life    time.Duration // up to MaxDevLife
}

// Sign makes a token that counts from now on. Its claims are those of a Cognito ID token.
func (d *DevIssuer) Sign(g Grant, now time.Time) (token string, expires time.Time, err error) {
	switch {
	case !goodSubject(g.Subject):
		return "", time.Time{}, fault.New(fault.Invalid, "bad_user",
			"a user's id is 1 to %d printable characters without spaces, # and /", maxSubject)
	case g.Life < time.Second || g.Life > MaxDevLife:
		return "", time.Time{}, fault.New(fault.Invalid, "bad_life", "a token is valid for 1 s to %d h", int(MaxDevLife.Hours()))
	case slices.Contains(g.Groups, ""):
		return "", time.Time{}, fault.New(fault.Invalid, "bad_group", "the name of a group is empty")
	}
	expires = now.Add(g.Life).Truncate(time.Second)
	t := jwt.NewWithClaims(jwt.SigningMethodES256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: devIssuer, Audience: jwt.ClaimStrings{devClient}, Subject: g.Subject,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires),
		},
		TokenUse: "id", Groups: g.Groups,
	})
	if token, err = d.sign(t); err != nil {
		return "", time.Time{}, err
	}
	if len(token) > maxToken {
		return "", time.Time{}, fault.New(fault.Invalid, "bad_group", "the groups make the token longer than %d bytes", maxToken)
	}
	return token, expires, nil
}

func (d *DevIssuer) sign(t *jwt.Token) (string, error) {
	t.Header["kid"] = d.kid
	text, err := t.SignedString(d.private)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return text, nil
}

// SignClaims signs claims as they are, for an issuer that has the key.
func (d *DevIssuer) SignClaims(claims map[string]any) (string, error) {
	return d.sign(jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims(claims)))
}

// KeySet is the public key, as such an issuer publishes it.
func (d *DevIssuer) KeySet() jose.JSONWebKeySet {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &d.private.PublicKey, KeyID: d.kid, Algorithm: string(jose.ES256), Use: "sig"}}}
}
