// Package rebind keeps web sites from reaching a server on loopback through a browser on its machine (DNS rebinding).
package rebind

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Refusal says why a request was refused: 421 is its status.
const Refusal = "this node serves its own machine only"

// Guard refuses requests to a name that is not this machine's while the listener is on loopback. A page of any web
// site may point a name of its own at 127.0.0.1 and have a browser here read what only this machine should (DNS
// rebinding); what its requests cannot change is the name they ask for. refuse answers with 421 and Refusal, in the shape
// of the port's errors. A proxy on this machine may ask for the names under which people reach it.
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

// NameOf is the name or address in a Host header, without its port, in the form in which names are compared.
func NameOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
