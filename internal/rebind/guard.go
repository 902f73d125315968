// Package rebind prevents web sites from reaching a server on loopback through a browser on the same machine (DNS rebinding).
package rebind

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Refusal is the message of a refused request. Its status is 421.
const Refusal = "this node serves its own machine only"

// Guard refuses requests for names other than this machine's while the listener is on loopback. A page of any web site can point one of
// its names at 127.0.0.1 and make a browser here read what only this machine should (DNS rebinding), but it cannot change the host name
// in its requests. refuse answers with 421 and Refusal, in the format of the port's errors. public has the names that a proxy on this
// machine may request.
func Guard(ln net.Listener, h http.Handler, refuse http.HandlerFunc, public ...string) http.Handler {
	addr, err := netip.ParseAddrPort(ln.Addr().String())
	if err != nil || !addr.Addr().IsLoopback() {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Loopback(r.Host) && !slices.Contains(public, NameOf(r.Host)) {
			refuse(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// Loopback reports whether a Host header names this machine.
func Loopback(host string) bool {
	host = NameOf(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// NameOf returns the name or address in a Host header, without its port, normalized for comparison.
func NameOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
