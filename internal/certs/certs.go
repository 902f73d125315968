// Package certs keeps the certificate that a node shows: from files, from the node's own CA, or (package acme) from a public
// CA. A Source replaces its certificate while connections are open; they go on with the one that they began with.
package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// Source is where a node's certificate comes from.
type Source interface {
	// Certificate returns the one to show to a client; crypto/tls calls it for each handshake.
	Certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error)
	// State reports what is shown now.
	State() State
	// Run keeps the certificate good until ctx ends.
	Run(ctx context.Context) error
	// Reload looks at once for what Run looks for now and then. A certificate that cannot be had changes nothing.
	Reload() error
}

// State describes a Source.
type State struct {
	Kind      string    `json:"kind"`            // files, local or acme
	Names     []string  `json:"names,omitempty"` // host names and addresses that the certificate is for
	NotBefore time.Time `json:"notBefore,omitzero"`
	NotAfter  time.Time `json:"notAfter,omitzero"`
	Problem   string    `json:"problem,omitempty"` // why it could not be renewed or read again
}

// Warning times: a certificate that renews itself is renewed long before.
const (
	warnBefore = 14 * 24 * time.Hour
	warnShare  = 5 // of a short life: its last fifth
)

// Check reports as an error why clients cannot trust the node now, and as a warning why they soon will not.
func (s *State) Check(now time.Time) (warning string, err error) {
	const at = "2006-01-02 15:04 UTC"
	why := ""
	if s.Problem != "" {
		why = ": " + s.Problem
	}
	switch day := s.NotAfter.Format(at); {
	case s.NotAfter.IsZero():
		return "", fault.New(fault.Unavailable, "no_certificate", "there is no certificate yet%s", why)
	case !now.Before(s.NotAfter):
		return "", fault.New(fault.Unavailable, "certificate_expired", "the certificate expired on %s%s", day, why)
	case now.Before(s.NotBefore):
		return "", fault.New(fault.Unavailable, "certificate_early", "the certificate is valid from %s: is this machine's clock right?", s.NotBefore.Format(at))
	case s.NotAfter.Sub(now) < min(warnBefore, s.NotAfter.Sub(s.NotBefore)/warnShare):
		return "the certificate expires on " + day + why, nil
	}
	return s.Problem, nil
}

// Covers reports whether the certificate is for a host, a name or an address.
func (s *State) Covers(host string) bool {
	return templateOf(s.Names).VerifyHostname(strings.TrimSuffix(host, ".")) == nil
}

// templateOf is a certificate of names and addresses, and of nothing else yet.
func templateOf(names []string) *x509.Certificate {
	c := &x509.Certificate{}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	return c
}

// namesOf are the names and addresses of a certificate.
func namesOf(c *x509.Certificate) []string {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

// Config is how a server speaks TLS with a source's certificate.
func Config(s Source) *tls.Config {
	return &tls.Config{GetCertificate: s.Certificate, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
}
