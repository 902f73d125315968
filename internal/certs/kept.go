package certs

import (
	"context"
	"crypto/tls"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// kept is a Source of a single certificate that is checked for replacement periodically.
type kept struct {
	kind  string
	every time.Duration                                          // between two checks
	look  func(shown *tls.Certificate) (*tls.Certificate, error) // returns the certificate to present: shown, if nothing changed
	clock clock.Clock
	log   *slog.Logger

	mu      sync.Mutex
	failed  bool   // the last check failed; a single failure is no problem yet: it may fall between the two writes of a renewal
	problem string // empty: none
	shown   atomic.Pointer[tls.Certificate]
}

// Certificate implements Source.
func (k *kept) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return k.shown.Load(), nil
}

// State implements Source.
func (k *kept) State() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.shown.Load().Leaf
	return State{Kind: k.kind, Names: namesOf(c), NotBefore: c.NotBefore.UTC(), NotAfter: c.NotAfter.UTC(), Problem: k.problem}
}

// Run implements Source.
func (k *kept) Run(ctx context.Context) error {
	for clock.Sleep(ctx, k.clock, k.every) == nil {
		_ = k.Reload() // logs what fails twice in a row
	}
	return context.Cause(ctx)
}

// Reload implements Source.
func (k *kept) Reload() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.shown.Load()
	c, err := k.look(was)
	if err != nil {
		problem := "cannot load a new certificate; the previous one stays in use: " + err.Error()
		if k.failed && problem != k.problem {
			k.problem = problem
			k.log.Error("cannot load a new certificate; the previous one stays in use", "err", err)
		}
		k.failed = true
		return err
	}
	k.failed, k.problem = false, ""
	k.shown.Store(c)
	if was != nil && c != was {
		k.log.Info("the node uses a new certificate", "names", namesOf(c.Leaf), "until", c.Leaf.NotAfter)
	}
	return nil
}
