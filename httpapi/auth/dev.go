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

// DevIssuer signs tokens with a local key, for development and the demo. Whoever can read the key can impersonate anybody, so a node
// accepts it only on a loopback address.
type DevIssuer struct {
	private *ecdsa.PrivateKey
	kid     string
}

// Claims of a DevIssuer's tokens, and the file of its key.
const (
	devIssuer  = "touchline-dev"
	devClient  = "touchline"
	devFile    = "dev-issuer.pem"
	maxDevFile = 16 << 10

	// MaxDevLife is the longest validity of a DevIssuer's token.
	MaxDevLife = 30 * 24 * time.Hour
)

// NewDevIssuer returns an issuer with a new key in memory.
func NewDevIssuer() (*DevIssuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return devIssuerOf(key)
}

// OpenDevIssuer reads the key in a node's data directory, or creates it.
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

// ReadDevIssuer reads the key in a node's data directory. It returns fault.NotFound before OpenDevIssuer has created it, and refuses a
// key that other users can read.
func ReadDevIssuer(dir string) (*DevIssuer, error) {
	path := filepath.Join(dir, devFile)
	text, err := secretfile.Read(path, maxDevFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "no_dev_issuer",
			"there is no token key in %s: touchline serve --dev-issuer creates one", dir)
	case errors.Is(err, secretfile.ErrReadable), errors.Is(err, secretfile.ErrWritable):
		return nil, fault.New(fault.Invalid, "bad_dev_issuer", "other users can read or change the token key: chmod 600 %s", path)
	case errors.As(err, new(*fs.PathError)) && !errors.Is(err, secretfile.ErrLonger):
		return nil, fault.Wrap(err, fault.Unavailable, "bad_dev_issuer", "cannot read the token key %s", path)
	}
	key, parseErr := jwt.ParseECPrivateKeyFromPEM(text) // its error might quote the file
	if err != nil || parseErr != nil || key.Curve != elliptic.P256() {
		return nil, fault.New(fault.Invalid, "bad_dev_issuer", "%s is not a token key: remove it, and a new one is created", path)
	}
	return devIssuerOf(key)
}

func devIssuerOf(key *ecdsa.PrivateKey) (*DevIssuer, error) {
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	sum := sha256.Sum256(der)
	return &DevIssuer{private: key, kid: base64.RawURLEncoding.EncodeToString(sum[:12])}, nil
}

// save writes the key unless there is one. The file appears complete or not at all.
func (d *DevIssuer) save(path string) error {
	failed := func(err error) error {
		return fault.Wrap(err, fault.Unavailable, "no_dev_issuer", "cannot write the token key %s", path)
	}
	der, err := x509.MarshalPKCS8PrivateKey(d.private)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	draft := path + "." + rand.Text()
	if err := secretfile.Write(draft, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil {
		return failed(err)
	}
	defer os.Remove(draft) //nolint:errcheck // a leftover draft is harmless
	if err := os.Link(draft, path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(draft, path); err != nil { // a file system without links
			return failed(err)
		}
	}
	return nil
}

// Issuer returns the Config entry that makes a node accept this issuer's tokens.
func (d *DevIssuer) Issuer() Issuer {
	return Issuer{URL: devIssuer, ClientIDs: []string{devClient}, dev: d}
}

// key implements keyring.
func (d *DevIssuer) key(_ context.Context, kid string, _ time.Time) (any, error) {
	if kid != d.kid {
		return nil, unauthorizedError("The token is signed with another development key: make a new one with touchline token.")
	}
	return &d.private.PublicKey, nil
}

func (d *DevIssuer) round() uint64 { return 0 } // the key never changes
func (d *DevIssuer) close()        {}

func (d *DevIssuer) again(context.Context) bool { return false }

// Grant is the content of a token.
type Grant struct {
	Subject string // the user's id
	Groups  []string
	Life    time.Duration // up to MaxDevLife
}

// Sign returns a token that is valid from now on. Its claims are those of a Cognito ID token.
func (d *DevIssuer) Sign(g Grant, now time.Time) (token string, expires time.Time, err error) {
	switch {
	case !goodSubject(g.Subject):
		return "", time.Time{}, fault.New(fault.Invalid, "bad_user",
			"a user's id is 1 to %d printable characters without spaces, # and /", maxSubject)
	case g.Life < time.Second || g.Life > MaxDevLife:
		return "", time.Time{}, fault.New(fault.Invalid, "bad_life", "a token is valid for 1 s to %d h", int(MaxDevLife.Hours()))
	case slices.Contains(g.Groups, ""):
		return "", time.Time{}, fault.New(fault.Invalid, "bad_group", "a group name is empty")
	}
	expires = now.Add(g.Life).Truncate(time.Second)
	if token, err = d.SignClaims(map[string]any{
		"iss": devIssuer, "aud": devClient, claimSubject: g.Subject, "iat": now.Unix(), "exp": expires.Unix(), "token_use": useID, claimGroups: g.Groups,
	}); err != nil {
		return "", time.Time{}, err
	}
	if len(token) > maxToken {
		return "", time.Time{}, fault.New(fault.Invalid, "bad_group", "the groups make the token longer than %d bytes", maxToken)
	}
	return token, expires, nil
}

// SignClaims signs claims as given, for an issuer that uses the same key.
func (d *DevIssuer) SignClaims(claims map[string]any) (string, error) {
	t := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims(claims))
	t.Header["kid"] = d.kid
	text, err := t.SignedString(d.private)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return text, nil
}

// KeySet returns the public key as a JWKS.
func (d *DevIssuer) KeySet() jose.JSONWebKeySet {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &d.private.PublicKey, KeyID: d.kid, Algorithm: string(jose.ES256), Use: "sig"}}}
}
