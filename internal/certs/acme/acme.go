// Package acme is a certs.Source of certificates of a public CA, by ACME. The CA sees by DNS (DNS-01) whose a name is: the node need
// not be reachable from the internet. certmagic keeps account, keys and certificates in the data directory, and renews them
// when two thirds of their life are over.
package acme

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/libdns/libdns"
	"github.com/mholt/acmez/v3/acme"
	"go.uber.org/zap"

	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/internal/fault"
)

// LetsEncrypt is the directory of Let's Encrypt.
const LetsEncrypt = certmagic.LetsEncryptProductionCA

// Provider changes the records of DNS zones. AppendRecords returns when the zone's servers have them.
type Provider interface {
	libdns.ZoneLister
	libdns.RecordAppender
	libdns.RecordDeleter
}

// Config is whose certificates are wanted for which names.
type Config struct {
	Hosts     []string
	Email     string // that the CA may write to; may be empty
	Directory string // URL of the CA
	Storage   string // directory; it is made with the mode 0700
	DNS       Provider
	Log       *slog.Logger

	Roots      *x509.CertPool // that the CA's own HTTPS is verified against; nil: the system's
	RenewEvery time.Duration  // how often a certificate's age is looked at; 0: 10 minutes
}

// Source is a certs.Source.
type Source struct {
	cfg   Config
	cache *certmagic.Cache
	magic *certmagic.Config
	look  chan struct{} // Run is to look at once

	mu      sync.Mutex
	problem string // why the last attempt failed; empty: it did not
}

// Open makes a source. It has the certificates that are in its storage; Run gets others.
func Open(c Config) (*Source, error) {
	if err := os.MkdirAll(c.Storage, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "cannot_write", "cannot create %s: %s", c.Storage, err)
	}
	s := &Source{cfg: c, look: make(chan struct{}, 1)}
	s.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return s.magic, nil },
		Logger:           zap.NewNop(), RenewCheckInterval: c.RenewEvery,
	})
	s.magic = certmagic.New(s.cache, certmagic.Config{
		Storage: &certmagic.FileStorage{Path: c.Storage}, OnEvent: s.event, Logger: zap.NewNop(), DefaultServerName: c.Hosts[0],
		OCSP: certmagic.OCSPConfig{DisableStapling: true}, // public CAs have ended it
	})
	s.magic.Issuers = []certmagic.Issuer{certmagic.NewACMEIssuer(s.magic, certmagic.ACMEIssuer{
		CA: c.Directory, Email: c.Email, Agreed: true, DisableHTTPChallenge: true, DisableTLSALPNChallenge: true,
		DNS01Solver: &solver{dns: c.DNS}, TrustedRoots: c.Roots, Logger: zap.NewNop(),
	})}
	for _, host := range c.Hosts {
		_, _ = s.magic.CacheManagedCertificate(context.Background(), host) // one that is not there comes with Run
	}
	return s, nil
}

// event notes how certificates fare.
func (s *Source) event(_ context.Context, name string, data map[string]any) error {
	host := fmt.Sprint(data["identifier"])
	s.mu.Lock()
	defer s.mu.Unlock()
	switch name {
	case "cert_obtained":
		s.problem = ""
		s.cfg.Log.Info("the CA has given a certificate", "name", host, "renewal", data["renewal"])
	case "cert_failed":
		err, _ := data["error"].(error)
		s.problem = fmt.Sprintf("the CA has given none for %s: %v", host, err)
		s.cfg.Log.Error("the CA has given no certificate, and will be asked again", "name", host, "renewal", data["renewal"], "err", err)
	}
	return nil
}

// Certificate implements certs.Source. A client that names no host, or an address, gets the first one.
func (s *Source) Certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return s.magic.GetCertificate(hello)
}

// State implements certs.Source: of all certificates, the one that expires first.
func (s *Source) State() certs.State {
	s.mu.Lock()
	out := certs.State{Kind: "acme", Problem: s.problem}
	s.mu.Unlock()
	for _, host := range s.cfg.Hosts {
		found := s.cache.AllMatchingCertificates(host)
		if len(found) == 0 {
			return certs.State{Kind: "acme", Names: out.Names, Problem: out.Problem}
		}
		leaf := found[0].Leaf
		out.Names = append(out.Names, host)
		if out.NotAfter.IsZero() || leaf.NotAfter.Before(out.NotAfter) {
			out.NotBefore, out.NotAfter = leaf.NotBefore.UTC(), leaf.NotAfter.UTC()
		}
	}
	return out
}

// Run implements certs.Source: it has the certificates obtained, however long the internet is away, and renewed.
func (s *Source) Run(ctx context.Context) error {
	defer s.cache.Stop()
	if err := s.magic.ManageAsync(ctx, s.cfg.Hosts); err != nil {
		s.mu.Lock()
		s.problem = err.Error()
		s.mu.Unlock()
		s.cfg.Log.Error("certificates cannot be managed", "err", err)
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.look:
			_ = s.cache.RenewManagedCertificates(ctx) // event hears of what goes wrong
		}
	}
}

// Reload implements certs.Source: Run renews what is old enough.
func (s *Source) Reload() error {
	select {
	case s.look <- struct{}{}:
	default: // it has been told
	}
	return nil
}

// solver shows a CA by DNS that a name is ours.
type solver struct{ dns Provider }

// Present implements acmez.Solver.
func (s *solver) Present(ctx context.Context, c acme.Challenge) error {
	zone, record, err := s.record(ctx, c)
	if err == nil {
		_, err = s.dns.AppendRecords(ctx, zone, []libdns.Record{record})
	}
	return err
}

// CleanUp implements acmez.Solver.
func (s *solver) CleanUp(ctx context.Context, c acme.Challenge) error {
	zone, record, err := s.record(ctx, c)
	if err == nil {
		_, err = s.dns.DeleteRecords(ctx, zone, []libdns.Record{record})
	}
	return err
}

// record is the one that a challenge asks for, and the zone that it lies in: the longest of ours.
func (s *solver) record(ctx context.Context, c acme.Challenge) (zone string, record libdns.TXT, err error) {
	name := c.DNS01TXTRecordName() + "."
	zones, err := s.dns.ListZones(ctx)
	for _, z := range zones {
		if strings.HasSuffix(name, "."+z.Name) && len(z.Name) > len(zone) {
			zone = z.Name
		}
	}
	if err == nil && zone == "" {
		err = errors.New("no zone of the DNS account has the name " + name)
	}
	return zone, libdns.TXT{Name: libdns.RelativeName(name, zone), Text: c.DNS01KeyAuthorization(), TTL: time.Minute}, err
}
