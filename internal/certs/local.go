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

// renewEvery is how often a node sees whether it has other addresses now, or its certificate is old.
const renewEvery = time.Minute

// Local is a Source of certificates of the node's own CA. Their keys are in memory alone: a node makes itself a new one whenever
// it starts, when two thirds of its life are over, and when the machine has a new address.
type Local struct {
	kept

	ca    *CA
	hosts []string
	here  func() []string // names and addresses of this machine
}

// OpenLocal makes a certificate for this machine's names and addresses, and for hosts. The clock is that of certificates: real
// time.
func OpenLocal(ca *CA, hosts []string, c clock.Clock, log *slog.Logger) (*Local, error) {
	l := &Local{kept: kept{kind: "local", every: renewEvery, clock: c, log: log}, ca: ca, hosts: hosts, here: Here}
	l.look = l.renew
	return l, l.Reload()
}

// State implements Source.
func (l *Local) State() State {
	s := l.kept.State()
	if s.Problem == "" && l.ca.Cert.NotAfter.Sub(l.clock.Now()) < leafLife {
		s.Problem = "the CA of this node expires on " + l.ca.Cert.NotAfter.Format("2006-01-02") + ": make a new one (touchline tls init --replace)"
	}
	return s
}

// renew makes another certificate if the one that is shown is to be replaced.
func (l *Local) renew(shown *tls.Certificate) (*tls.Certificate, error) {
	names, now := l.names(), l.clock.Now()
	if shown != nil && !due(shown.Leaf, names, now) {
		return shown, nil
	}
	return l.ca.issue(names, now)
}

// due reports whether a certificate is to be replaced. Addresses that went may come back: they stay in it.
func due(c *x509.Certificate, names []string, now time.Time) bool {
	has := namesOf(c)
	return now.Before(c.NotBefore) || now.After(c.NotAfter.Add(-c.NotAfter.Sub(c.NotBefore)/3)) ||
		slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(has, name) })
}

// names are all that the CA may name: public addresses of the machine are left out.
func (l *Local) names() (names []string) {
	for _, name := range slices.Concat(l.hosts, l.here(), []string{"localhost", "127.0.0.1", "::1"}) {
		if l.ca.MayName(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// hostName is what a name may look like. The last label of one has a letter: else it is an address.
var hostName = regexp.MustCompile(`^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// ValidHost reports whether a text is a host name, in lower case, as a certificate has it; the first label may be *.
func ValidHost(name string) bool { return len(name) <= 253 && hostName.MatchString(name) }

// machineName is the name of this machine, without its domain.
func machineName() string {
	host, _ := os.Hostname() // without one it has the name that follows
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	if !ValidHost(host) {
		return "touchline"
	}
	return host
}

// Here are the names of this machine in its local network, and its addresses.
func Here() []string {
	names := []string{machineName(), machineName() + ".local"}
	addrs, _ := net.InterfaceAddrs() // none: they come with a later look
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if ip := prefix.Addr(); err == nil && !ip.IsLinkLocalUnicast() && !ip.IsLoopback() {
			names = append(names, ip.Unmap().String())
		}
	}
	return names
}
