package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"
)

// firstByteWithin is how long a client may take to send its first byte.
const firstByteWithin = 5 * time.Second

// recordHandshake is the first byte of a TLS client, which no HTTP request starts with.
const recordHandshake = 22

// Listen serves both TLS and plain HTTP on one port, distinguished by the client's first byte. So a person who types the node's name
// without https:// still reaches the node, which can redirect the browser.
func Listen(ln net.Listener, config *tls.Config) net.Listener {
	l := &listener{Listener: ln, config: config, out: make(chan accepted)}
	l.ctx, l.end = context.WithCancel(context.Background())
	l.loops.Go(l.accept)
	return l
}

type accepted struct {
	conn net.Conn
	err  error
}

type listener struct {
	net.Listener
	config *tls.Config
	out    chan accepted
	ctx    context.Context //nolint:containedctx // ends with the listener, not with a request
	end    context.CancelFunc
	loops  sync.WaitGroup
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case a := <-l.out:
		return a.conn, a.err
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It waits for everything it has started.
func (l *listener) Close() error {
	l.end()
	err := l.Listener.Close()
	l.loops.Wait()
	return err
}

func (l *listener) accept() {
	for l.ctx.Err() == nil {
		conn, err := l.Listener.Accept()
		if err != nil {
			l.hand(accepted{err: err})
			continue
		}
		l.loops.Go(func() { l.classify(conn) })
	}
}

// classify reads the first byte of a connection and passes the connection on. Until then the server does not know it, so it closes with
// the listener.
func (l *listener) classify(conn net.Conn) {
	stop := context.AfterFunc(l.ctx, func() { _ = conn.Close() })
	first := make([]byte, 1)
	_ = conn.SetReadDeadline(time.Now().Add(firstByteWithin)) //nolint:forbidigo // the kernel's clock ends it
	_, err := conn.Read(first)
	if err == nil {
		err = conn.SetReadDeadline(time.Time{})
	}
	var out net.Conn = &peeked{conn, io.MultiReader(bytes.NewReader(first), conn)}
	if first[0] == recordHandshake {
		out = tls.Server(out, l.config)
	}
	if !stop() || err != nil || !l.hand(accepted{conn: out}) {
		_ = conn.Close()
	}
}

func (l *listener) hand(a accepted) bool {
	select {
	case l.out <- a:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// peeked is a connection whose first byte has been read and is returned again by all.
type peeked struct {
	net.Conn
	all io.Reader
}

// Read implements net.Conn.
func (p *peeked) Read(b []byte) (int, error) { return p.all.Read(b) }

// NetConn returns the underlying connection.
func (p *peeked) NetConn() net.Conn { return p.Conn }

// CloseWrite lets a client read the answer before the connection is closed.
func (p *peeked) CloseWrite() error {
	if w, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
