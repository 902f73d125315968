package httpapi

import (
	"net"

	"golang.org/x/net/netutil"
)

// shortConnections may be open at once beside the streams: short requests, of those who have a stream too. More wait.
const shortConnections = 1024

// limited takes only so many connections from ln at a time.
func limited(ln net.Listener, streams int) net.Listener {
	return netutil.LimitListener(ln, streams+shortConnections)
}
