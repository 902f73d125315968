// Package certs manages the certificate that a node presents: from files, from the node's own CA, or (package acme) from a public CA. A
// Source replaces its certificate without closing connections, which continue with the one they started with.
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

// Source provides a node's certificate.
type Source interface {
	// Certificate returns the certificate for a client. crypto/tls calls it for each handshake.
	Certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error)
	// State describes the current certificate.
	State() State
	// Run keeps the certificate valid until ctx ends.
	Run(ctx context.Context) error
	// Reload checks at once what Run checks periodically. If it fails, the current certificate stays.
	Reload() error
}

// State describes a Source.
type State struct {
	Kind      string    `json:"kind"`            // files, local or acme
	Names     []string  `json:"names,omitempty"` // host names and addresses in the certificate
	NotBefore time.Time `json:"notBefore,omitzero"`
	NotAfter  time.Time `json:"notAfter,omitzero"`
	Problem   string    `json:"problem,omitempty"` // why it could not be renewed or reloaded
}

// When to warn. Certificates that renew themselves are renewed long before.
const (
	warnBefore = 14 * 24 * time.Hour
	warnShare  = 5 // for a short-lived certificate: in the last fifth of its life
)

// Check returns an error if clients cannot trust the node now, and a warning if they soon will not or if a renewal failed.
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

// Covers reports whether the certificate is valid for a host name or an address.
func (s *State) Covers(host string) bool {
	return templateOf(s.Names).VerifyHostname(strings.TrimSuffix(host, ".")) == nil
}

// templateOf returns a certificate with only names and addresses.
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

// namesOf returns the names and addresses of a certificate.
func namesOf(c *x509.Certificate) []string {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

// Config returns a server's TLS configuration with a source's certificate.
func Config(s Source) *tls.Config {
	return &tls.Config{GetCertificate: s.Certificate, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
}
