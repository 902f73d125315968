package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the addresses whose forwarding headers are trusted.
type proxies []netip.Prefix

// trusts reports whether an address is a trusted proxy's.
func (p proxies) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(net netip.Prefix) bool { return net.Contains(addr) })
}

// client returns the client's address: the peer's, or behind a trusted proxy the rightmost address in X-Forwarded-For that is not a
// trusted proxy. Addresses further left could be forged. The result has no zone, which net.ParseIP and so gin would refuse, and is
// invalid if the peer has no IP address.
func (p proxies) client(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := plainAddr(peer.Addr())
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trusts(at); i-- {
		hop, ok := parseHop(strings.TrimSpace(hops[i]))
		if !ok {
			break // the proxy did not know: use the last known address
		}
		at = hop
	}
	return at
}

// parseHop parses an address of X-Forwarded-For; some proxies include the port.
func parseHop(text string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return plainAddr(addr), true
	}
	addr, err := netip.ParseAddrPort(text)
	return plainAddr(addr.Addr()), err == nil
}

// forwarding tells connlimit the clients of the proxies that are trusted now.
type forwarding struct{ s *Server }

// Trusts implements connlimit.Proxies.
func (f forwarding) Trusts(peer netip.Addr) bool { return f.s.limits.Load().proxies.trusts(peer) }

// Client implements connlimit.Proxies.
func (f forwarding) Client(r *http.Request) netip.Addr { return f.s.limits.Load().proxies.client(r) }

// plainAddr returns an address in the form used for comparing and counting.
func plainAddr(addr netip.Addr) netip.Addr { return addr.WithZone("").Unmap() }

// https reports whether a trusted proxy says that the client connected by https.
func (p proxies) https(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.trusts(plainAddr(peer.Addr())) {
		return false
	}
	values := strings.Split(strings.Join(r.Header.Values("X-Forwarded-Proto"), ","), ",")
	return strings.EqualFold(strings.TrimSpace(values[len(values)-1]), "https")
}

// isForwarded reports whether a request shows that a proxy has forwarded it, trusted or not.
func isForwarded(r *http.Request) bool {
	names := []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}
	return slices.ContainsFunc(names, func(name string) bool { return r.Header.Get(name) != "" })
}

// clientText returns the client's address for the log; empty: it has none.
func (s *Server) clientText(r *http.Request) string {
	if addr := s.limits.Load().proxies.client(r); addr.IsValid() {
		return addr.String()
	}
	return ""
}

// noteUntrusted logs, once, that an untrusted proxy forwards requests: all of its clients count as one address.
func (s *Server) noteUntrusted(r *http.Request) {
	if r.Header.Get("X-Forwarded-For") == "" || s.untrusted.Load() {
		return
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || s.limits.Load().proxies.trusts(plainAddr(peer.Addr())) || !s.untrusted.CompareAndSwap(false, true) {
		return
	}
	s.log.Warn("a request has X-Forwarded-For from an address that is not in http.trusted_proxies: if that is your proxy, add it, or all "+
		"of its clients count as one address", "address", plainAddr(peer.Addr()).String())
}
