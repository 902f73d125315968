package httpapi

import (
	"net"

	"golang.org/x/net/netutil"
)

// maxConnections may be open at once: streams, and room for the short requests of those who have one. More wait.
const maxConnections = 1024

// limited takes only so many connections from ln at a time.
func limited(ln net.Listener) net.Listener { return netutil.LimitListener(ln, maxConnections) }
