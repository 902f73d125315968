// Package acme is a certs.Source of certificates from a public CA, using ACME. The CA verifies names by DNS (DNS-01), so the node need
// not be reachable from the internet. certmagic keeps account, keys and certificates in the data directory, and renews certificates after
// two thirds of their life.
package acme

import (
	"context"
	"crypto/tls"
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
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// LetsEncrypt is the directory of Let's Encrypt.
const LetsEncrypt = certmagic.LetsEncryptProductionCA

// Provider changes records in DNS zones. AppendRecords returns once the servers of the zone have them.
type Provider interface {
	libdns.ZoneLister
	libdns.RecordAppender
	libdns.RecordDeleter
}

// Config says which names to get certificates for, and from which CA.
type Config struct {
	Hosts     []string
	Email     string // contact for the CA; may be empty
	Directory string // URL of the CA
	Storage   string // directory; created with mode 0700
	DNS       Provider
	Log       *slog.Logger
}

// Source is a certs.Source.
type Source struct {
	cfg   Config
	cache *certmagic.Cache
	magic *certmagic.Config
	look  *clock.Signal // set: Run checks at once

	problems sync.Map // by name, a string: why the last attempt failed
}

// Open returns a source with the certificates in its storage; Run obtains others.
func Open(c Config) (*Source, error) {
	if err := os.MkdirAll(c.Storage, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "cannot_write", "cannot create %s: %s", c.Storage, err)
	}
	s := &Source{cfg: c, look: clock.NewSignal()}
	s.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return s.magic, nil },
		Logger:           zap.NewNop(),
	})
	s.magic = certmagic.New(s.cache, certmagic.Config{
		Storage: &certmagic.FileStorage{Path: c.Storage}, OnEvent: s.event, Logger: zap.NewNop(), DefaultServerName: c.Hosts[0],
		OCSP: certmagic.OCSPConfig{DisableStapling: true}, // public CAs have discontinued it
	})
	s.magic.Issuers = []certmagic.Issuer{certmagic.NewACMEIssuer(s.magic, certmagic.ACMEIssuer{
		CA: c.Directory, Email: c.Email, Agreed: true, DisableHTTPChallenge: true, DisableTLSALPNChallenge: true,
		DNS01Solver: &solver{c.DNS}, Logger: zap.NewNop(),
	})}
	for _, host := range c.Hosts {
		_, _ = s.magic.CacheManagedCertificate(context.Background(), host) // missing ones are obtained by Run
	}
	return s, nil
}

// event records the outcome of issuing a certificate.
func (s *Source) event(_ context.Context, name string, data map[string]any) error {
	host := fmt.Sprint(data["identifier"])
	switch name {
	case "cert_obtained":
		s.problems.Delete(host)
		s.cfg.Log.Info("the CA has issued a certificate", "name", host, "renewal", data["renewal"])
	case "cert_failed":
		err, _ := data["error"].(error)
		s.problems.Store(host, fmt.Sprintf("the CA has issued none for %s: %v", host, err))
		s.cfg.Log.Error("the CA has not issued a certificate; the node will try again", "name", host, "renewal", data["renewal"], "err", err)
	}
	return nil
}

// Certificate implements certs.Source. A client that requests no host name, or an address, gets the first certificate.
func (s *Source) Certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return s.magic.GetCertificate(hello)
}

// State implements certs.Source. Of several certificates it reports the one that expires first, and of several problems one.
func (s *Source) State() certs.State {
	out := certs.State{Kind: "acme"}
	s.problems.Range(func(_, why any) bool {
		out.Problem = max(out.Problem, fmt.Sprint(why))
		return true
	})
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

// Run implements certs.Source. It obtains and renews the certificates, however long the internet is unreachable.
func (s *Source) Run(ctx context.Context) error {
	defer s.cache.Stop()
	if err := s.magic.ManageAsync(ctx, s.cfg.Hosts); err != nil {
		s.problems.Store("", err.Error())
		s.cfg.Log.Error("certificates cannot be managed", "err", err)
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.look.C():
			s.look.Clear()
			_ = s.cache.RenewManagedCertificates(ctx) // event handles failures
		}
	}
}

// Reload implements certs.Source. Run renews certificates that are due.
func (s *Source) Reload() error {
	s.look.Set()
	return nil
}

// solver proves to a CA by DNS that a name is ours.
type solver struct{ Provider }

// Present implements acmez.Solver.
func (s *solver) Present(ctx context.Context, c acme.Challenge) error {
	return s.change(ctx, c, s.AppendRecords)
}

// CleanUp implements acmez.Solver.
func (s *solver) CleanUp(ctx context.Context, c acme.Challenge) error {
	return s.change(ctx, c, s.DeleteRecords)
}

// change applies do to the record that a challenge asks for, in the zone that contains it: the longest match among ours.
func (s *solver) change(ctx context.Context, c acme.Challenge, do func(context.Context, string, []libdns.Record) ([]libdns.Record, error)) error {
	zones, err := s.ListZones(ctx)
	if err != nil {
		return err
	}
	name, zone := c.DNS01TXTRecordName()+".", ""
	for _, z := range zones {
		if strings.HasSuffix(name, "."+z.Name) && len(z.Name) > len(zone) {
			zone = z.Name
		}
	}
	if zone == "" {
		return errors.New("no zone of the DNS account contains the name " + name)
	}
	_, err = do(ctx, zone, []libdns.Record{libdns.TXT{Name: libdns.RelativeName(name, zone), Text: c.DNS01KeyAuthorization(), TTL: time.Minute}})
	return err
}
