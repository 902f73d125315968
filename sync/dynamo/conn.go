package dynamo

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
)

// conn counts what is written to it, so that a request of which not one byte has left is told from one that may have
// arrived.
type conn struct {
	net.Conn
	writes atomic.Int64
}

// Write implements net.Conn. The write counts before it is made: who looks meanwhile must take it for made.
func (c *conn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	n, err := c.Conn.Write(b)
	if n == 0 && err != nil {
		c.writes.Add(-1)
	}
	return n, err
}

func counted(dial Dial) Dial {
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

// use is one request's use of a connection.
type use struct {
	c      *conn
	before int64 // writes when the request got it
}

func (u use) written() bool { return u.c == nil || u.c.writes.Load() != u.before }

// useOf begins to watch a connection. One that is not ours counts as written to.
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
