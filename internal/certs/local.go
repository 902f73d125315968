package certs

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// renewEvery is how often a node checks whether its addresses have changed or its certificate is due.
const renewEvery = time.Minute

// Local is a Source of certificates from the node's own CA. Their keys are only in memory: the node issues a new certificate when it
// starts, after two thirds of a certificate's life, and when the machine has a new address.
type Local struct {
	kept

	ca    *CA
	hosts []string
	here  func() []string // returns the names and addresses of this machine
}

// OpenLocal issues a certificate for this machine's names and addresses, and for hosts. c must be real time: clients check the dates.
func OpenLocal(ca *CA, hosts []string, c clock.Clock, log *slog.Logger) (*Local, error) {
	l := &Local{kept: kept{kind: "local", every: renewEvery, clock: c, log: log}, ca: ca, hosts: hosts, here: LocalNames}
	l.look = l.renew
	return l, l.Reload()
}

// State implements Source.
func (l *Local) State() State {
	s := l.kept.State()
	if s.Problem == "" && l.ca.Cert.NotAfter.Sub(l.clock.Wall()) < leafLife {
		s.Problem = "the CA of this node expires on " + l.ca.Cert.NotAfter.Format("2006-01-02") + ": create a new one (touchline tls init --replace)"
	}
	return s
}

// renew issues a new certificate if the present one is due.
func (l *Local) renew(shown *tls.Certificate) (*tls.Certificate, error) {
	names, now := l.names(), l.clock.Wall()
	if shown != nil && !due(shown.Leaf, names, now) {
		return shown, nil
	}
	return l.ca.issue(names, now)
}

// due reports whether a certificate must be replaced. Addresses that have gone do not count: they may come back.
func due(c *x509.Certificate, names []string, now time.Time) bool {
	has := namesOf(c)
	return now.Before(c.NotBefore) || now.After(c.NotAfter.Add(-c.NotAfter.Sub(c.NotBefore)/3)) ||
		slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(has, name) })
}

// names returns those of the names and addresses that the CA may certify. A public address that the machine got after the CA was created
// is not among them.
func (l *Local) names() (names []string) {
	for _, name := range slices.Concat(l.hosts, l.here(), []string{"localhost", "127.0.0.1", "::1"}) {
		if l.ca.MayName(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// hostName matches host names. The last label begins with a letter; otherwise it could be an address.
var hostName = regexp.MustCompile(`^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// ValidHost reports whether a text is a lower-case host name, as in certificates. The first label may be *.
func ValidHost(name string) bool { return len(name) <= 253 && hostName.MatchString(name) }

// machineName returns the name of this machine without its domain.
func machineName() string {
	host, _ := os.Hostname() // without one, the fallback below
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	if !ValidHost(host) {
		return "touchline"
	}
	return host
}

// LocalNames returns the names of this machine in its local network, and its addresses.
func LocalNames() []string {
	names := []string{machineName(), machineName() + ".local"}
	addrs, _ := net.InterfaceAddrs() // without any, a later check finds them
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if ip := prefix.Addr(); err == nil && !ip.IsLinkLocalUnicast() && !ip.IsLoopback() {
			names = append(names, ip.Unmap().String())
		}
	}
	return names
}
