package connlimit

import (
	"net"
	"net/http"
	"net/netip"
)

const (
	shareOf          = 4  // one address may hold a quarter of the connections that are not event streams
	leastConnections = 16 // and on a small port at least so many, which two browsers need

	userConnections = 16 // of one user that are kept in preference to others'
)

// address is one client: an IPv4 address, or the /64 network that an IPv6 client usually owns.
type address struct {
	key    netip.Prefix
	open   int // connections; behind proxies and on HTTP/2, requests in progress too
	marked int // connections of signed-in users
	queue  queue
}

// nobody is the address of a proxy's connection without a request. Its counts stay zero.
//
//nolint:gochecknoglobals // never changed
var nobody = &address{}

// addressOf returns an address, for the caller to count a connection or request of it more.
func (l *Limiter) addressOf(addr netip.Addr) *address {
	key := network(addr)
	a := l.addresses[key]
	if a == nil {
		a = &address{key: key}
		l.addresses[key] = a
	}
	return a
}

// network returns what an address counts as. It is the zero Prefix for a peer without an IP address.
func network(addr netip.Addr) netip.Prefix {
	addr = addr.WithZone("").Unmap()
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	key, _ := addr.Prefix(bits) // fails only for the zero Addr
	return key
}

// enterAddress counts a connection for the address of its peer, unless that is a proxy.
func (l *Limiter) enterAddress(c *conn) {
	if c.proxied {
		c.addr = nobody
		return
	}
	c.addr = l.addressOf(peerOf(c))
	c.addr.open++
	c.counted = true
}

// leaveAddress ends that.
func (l *Limiter) leaveAddress(c *conn) {
	if c.counted {
		c.counted = false
		l.countDown(c.addr)
	}
}

// countDown counts a connection or request of an address less.
func (l *Limiter) countDown(a *address) {
	if a.open--; a.open == 0 {
		delete(l.addresses, a.key)
	}
}

// share returns how many connections one address may hold.
func (l *Limiter) share() int { return max(leastConnections, (l.most-l.taken)/shareOf) }

// peerOf returns the address at the other end of a connection; the zero Addr: it has none, such as on a Unix socket.
func peerOf(c net.Conn) netip.Addr {
	if c.RemoteAddr() == nil {
		return netip.Addr{}
	}
	at, _ := netip.ParseAddrPort(c.RemoteAddr().String()) // fails for others than IP addresses
	return at.Addr().WithZone("").Unmap()
}

// isProxy reports whether an address is a trusted proxy's.
func (l *Limiter) isProxy(addr net.Addr) bool {
	if l.proxies == nil || addr == nil {
		return false
	}
	at, err := netip.ParseAddrPort(addr.String())
	return err == nil && l.proxies.Trusts(at.Addr().WithZone("").Unmap())
}

// clientOf returns whom a proxy forwards a request for, or else its peer.
func (l *Limiter) clientOf(c *conn, r *http.Request) netip.Addr {
	if c.proxied {
		if addr := l.proxies.Client(r); addr.IsValid() {
			return addr
		}
	}
	return peerOf(c)
}
