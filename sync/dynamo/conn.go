package dynamo

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
)

// conn counts its writes. A request of which not one byte has left can then be distinguished from one that may have arrived.
type conn struct {
	net.Conn
	writes atomic.Int64
}

// Write implements net.Conn. It counts the write before making it, because a concurrent reader must assume that it happened.
func (c *conn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	n, err := c.Conn.Write(b)
	if n == 0 && err != nil {
		c.writes.Add(-1)
	}
	return n, err
}

func countDials(dial Dial) Dial {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialLimit)
		defer cancel()
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: c}, nil
	}
}

// use is the use of a connection by one request.
type use struct {
	c      *conn
	before int64 // number of writes when the request got it
}

func (u use) hasWritten() bool { return u.c == nil || u.c.writes.Load() != u.before }

// useOf starts watching a connection. A connection of another type counts as written to.
func useOf(c net.Conn) use {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	own, ok := c.(*conn)
	if !ok {
		return use{}
	}
	return use{own, own.writes.Load()}
}
