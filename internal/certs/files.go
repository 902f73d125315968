package certs

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
)

const (
	lookEvery = time.Second // how often the files are checked: another program renews them
	maxPEM    = 256 << 10   // bytes of each file
)

// Files is a Source whose certificate and key an operator keeps in files.
type Files struct {
	kept

	cert, key     string
	chain, secret []byte // the last valid content of the files
}

// OpenFiles returns a source of the pair in two files. It must be valid.
func OpenFiles(cert, key string, c clock.Clock, log *slog.Logger) (*Files, error) {
	f := &Files{kept: kept{kind: "files", every: lookEvery, clock: c, log: log}, cert: cert, key: key}
	f.look = f.read
	return f, f.Reload()
}

// ReadPair reads a certificate with its chain, and its key, which other users must not be able to read.
func ReadPair(cert, key string) (*tls.Certificate, error) {
	return (&Files{cert: cert, key: key}).read(nil)
}

// read returns the pair in the files, or shown if the files have not changed.
func (f *Files) read(shown *tls.Certificate) (*tls.Certificate, error) {
	chain, err := secretfile.ReadAny(f.cert, maxPEM)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_certificate", "cannot read the certificate: %s", err)
	}
	secret, err := secretfile.Read(f.key, maxPEM)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_certificate", "cannot read the certificate's key: %s", err)
	}
	if shown != nil && bytes.Equal(chain, f.chain) && bytes.Equal(secret, f.secret) {
		return shown, nil
	}
	pair, err := tls.X509KeyPair(chain, secret)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_certificate", "%s and %s cannot be used as a pair: %s", f.cert, f.key, err)
	}
	f.chain, f.secret = chain, secret
	return &pair, nil
}
