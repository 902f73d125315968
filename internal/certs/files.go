package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
)

const (
	lookEvery = time.Second // at files, which somebody else renews
	maxPEM    = 256 << 10
)

// Files is a Source of a certificate and a key that an operator keeps in files.
type Files struct {
	cert, key string
	clock     clock.Clock
	log       *slog.Logger

	mu      sync.Mutex
	seen    [2]os.FileInfo
	failing int    // looks in a row at a pair that is bad: the first may be between the two writes of a renewal
	problem string // empty: what is shown is what the files hold
	shown   atomic.Pointer[tls.Certificate]
}

// OpenFiles reads a pair, which must be good.
func OpenFiles(cert, key string, c clock.Clock, log *slog.Logger) (*Files, error) {
	f := &Files{cert: cert, key: key, clock: c, log: log}
	f.changed()
	return f, f.Reload()
}

// ReadPair reads a certificate with its chain, and its key, which other users must not be able to read.
func ReadPair(cert, key string) (*tls.Certificate, error) {
	chain, err := os.ReadFile(cert)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_certificate", "cannot read the certificate: %s", err)
	}
	secret, err := secretfile.Read(key, maxPEM)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_certificate", "cannot read the certificate's key: %s", err)
	}
	pair, err := tls.X509KeyPair(chain, secret)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "bad_certificate", "%s and %s are no pair: %s", cert, key, err)
	}
	return &pair, nil
}

// Certificate implements Source.
func (f *Files) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return f.shown.Load(), nil
}

// State implements Source.
func (f *Files) State() State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return StateOf("files", f.shown.Load(), f.problem)
}

// Run implements Source.
func (f *Files) Run(ctx context.Context) error {
	for clock.Sleep(ctx, f.clock, lookEvery) == nil {
		if !f.changed() && f.failed() != 1 { // bad once, a pair is looked at again
			continue
		}
		switch err := f.Reload(); {
		case err == nil:
			f.log.Info("the certificate's files have changed and were read", "file", f.cert, "until", f.State().NotAfter)
		case f.failed() == 2:
			f.log.Error("the certificate's files have changed and are wrong: the previous certificate stays in use", "err", err)
		}
	}
	return context.Cause(ctx)
}

// failed is how many looks in a row have found the pair bad.
func (f *Files) failed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failing
}

// Reload implements Source.
func (f *Files) Reload() error {
	pair, err := ReadPair(f.cert, f.key)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.failing++
		if f.failing > 1 {
			f.problem = "the files have changed and are wrong: " + textOf(err)
		}
		return err
	}
	f.failing, f.problem = 0, ""
	f.shown.Store(pair)
	return nil
}

// textOf is what an error says without its cause.
func textOf(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// changed reports whether a file of the pair is another one than when it was looked at last.
func (f *Files) changed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	differs := false
	for i, name := range []string{f.cert, f.key} {
		now, err := os.Stat(name)
		if err != nil {
			continue // gone for the moment of a renewal: what it was holds on
		}
		was := f.seen[i]
		f.seen[i] = now
		differs = differs || was == nil || !os.SameFile(was, now) || !was.ModTime().Equal(now.ModTime()) || was.Size() != now.Size()
	}
	if differs {
		f.failing = 0
	}
	return differs
}
