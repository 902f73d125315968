package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the addresses whose forwarding headers are believed.
type proxies []netip.Prefix

// trusts reports whether an address is a proxy's.
func (p proxies) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(net netip.Prefix) bool { return net.Contains(addr) })
}

// client is the address of the client: the peer's, or behind a trusted proxy the right-most one of X-Forwarded-For that is
// no trusted proxy itself. What stands left of it could be anybody's invention. It has no zone (net.ParseIP, and so gin,
// refuses one), and is not valid where the peer has no IP address.
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
			break // the proxy does not know: the last address that is known counts
		}
		at = hop
	}
	return at
}

// parseHop reads an address of X-Forwarded-For, which some proxies write with the port.
func parseHop(text string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return plainAddr(addr), true
	}
	addr, err := netip.ParseAddrPort(text)
	return plainAddr(addr.Addr()), err == nil
}

// plainAddr is an address in the one form in which it is compared and counted.
func plainAddr(addr netip.Addr) netip.Addr { return addr.WithZone("").Unmap() }

// https reports whether a trusted proxy says that the client came by https.
func (p proxies) https(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.trusts(plainAddr(peer.Addr())) {
		return false
	}
	values := strings.Split(strings.Join(r.Header.Values("X-Forwarded-Proto"), ","), ",")
	return strings.EqualFold(strings.TrimSpace(values[len(values)-1]), "https")
}

// clientText is the client's address for the log; empty: it has none.
func (s *Server) clientText(r *http.Request) string {
	if addr := s.limits.Load().proxies.client(r); addr.IsValid() {
		return addr.String()
	}
	return ""
}

// noteUntrusted logs, once, that a proxy that is not trusted forwards requests: its clients all count as one address.
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
