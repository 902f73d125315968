package certs

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// renewEvery is how often a node sees whether it has other addresses now, or its certificate is old.
const renewEvery = time.Minute

// Local is a Source of certificates of the node's own CA. Their keys are in memory alone: a node makes itself a new one whenever
// it starts, when two thirds of its life are over, and when the machine has a new address.
type Local struct {
	ca    *CA
	hosts []string
	here  func() []string // names and addresses of this machine
	clock clock.Clock
	log   *slog.Logger

	mu      sync.Mutex
	problem string
	shown   atomic.Pointer[tls.Certificate]
}

// OpenLocal makes a certificate for this machine's names and addresses, and for hosts. The clock is that of certificates: real
// time.
func OpenLocal(ca *CA, hosts []string, c clock.Clock, log *slog.Logger) (*Local, error) {
	l := &Local{ca: ca, hosts: hosts, here: Here, clock: c, log: log}
	return l, l.Reload()
}

// Certificate implements Source.
func (l *Local) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return l.shown.Load(), nil
}

// State implements Source.
func (l *Local) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := StateOf("local", l.shown.Load(), l.problem)
	if s.Problem == "" && l.ca.Until().Sub(l.clock.Now()) < leafLife {
		s.Problem = "the CA of this node expires on " + l.ca.Until().Format("2006-01-02") + ": make a new one (touchline tls init --replace)"
	}
	return s
}

// Run implements Source.
func (l *Local) Run(ctx context.Context) error {
	for clock.Sleep(ctx, l.clock, renewEvery) == nil {
		was := l.shown.Load()
		if err := l.Reload(); err != nil {
			l.log.Error("the node's certificate could not be renewed", "err", err)
		} else if now := l.shown.Load(); now != was {
			l.log.Info("the node has a new certificate", "names", namesOf(now.Leaf), "until", now.Leaf.NotAfter)
		}
	}
	return context.Cause(ctx)
}

// Reload implements Source.
func (l *Local) Reload() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	names, now := l.names(), l.clock.Now()
	if c := l.shown.Load(); c != nil && !l.due(c, names, now) {
		return nil
	}
	fresh, err := l.ca.issue(names, now)
	l.problem = ""
	if err != nil {
		l.problem = "it cannot be renewed: " + err.Error()
		return err
	}
	l.shown.Store(fresh)
	return nil
}

// due reports whether a certificate is to be replaced. Addresses that went may come back: they stay in it.
func (l *Local) due(c *tls.Certificate, names []string, now time.Time) bool {
	life := c.Leaf.NotAfter.Sub(c.Leaf.NotBefore)
	if now.Before(c.Leaf.NotBefore) || now.After(c.Leaf.NotAfter.Add(-life/3)) {
		return true
	}
	has := namesOf(c.Leaf)
	return slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(has, name) })
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
