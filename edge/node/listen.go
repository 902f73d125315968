package node

import (
	"context"
	"net"
	"net/netip"

	"github.com/touchline/touchline/internal/fault"
)

// IsLoopback reports whether a listening address can be reached from this machine only.
func IsLoopback(listen string) (bool, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "" {
		return false, fault.New(fault.Invalid, "bad_listen", "must be host:port, such as 127.0.0.1:8080, not %q", listen)
	}
	if _, err := new(net.Resolver).LookupPort(context.Background(), "tcp", port); err != nil {
		return false, fault.New(fault.Invalid, "bad_listen", "must have a port from 0 to 65535, not %q", port)
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback(), nil
}

// LoopbackOnly refuses an address that other machines can reach: the demo signs in everyone who can connect.
func LoopbackOnly(listen string) error {
	local, err := IsLoopback(listen)
	if err == nil && !local {
		return fault.New(fault.Invalid, "not_loopback",
			"must be a loopback address (127.0.0.1, [::1] or localhost), not %q: the demo signs in everyone who can connect", listen)
	}
	return err
}
