package certs

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"
)

// firstByteWithin is how long a client may take to say whether it speaks TLS.
const firstByteWithin = 5 * time.Second

// recordHandshake is the first byte that a client of TLS sends, and none of HTTP does.
const recordHandshake = 22

// Listen serves both TLS and plain HTTP on one port: what a client sends first tells which. A person who types the node's name
// without https:// then reaches the same port, which sends the browser on.
func Listen(ln net.Listener, config *tls.Config) net.Listener {
	l := &listener{Listener: ln, config: config, out: make(chan accepted), done: make(chan struct{}), waiting: map[net.Conn]struct{}{}}
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
	done   chan struct{} // closed with the listener
	loops  sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	waiting map[net.Conn]struct{} // whose first byte has not come; nobody else closes them
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case a := <-l.out:
		return a.conn, a.err
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener: it waits for what it has started.
func (l *listener) Close() error {
	err := l.Listener.Close()
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.done)
	}
	for conn := range l.waiting {
		_ = conn.Close()
	}
	l.mu.Unlock()
	l.loops.Wait()
	return err
}

func (l *listener) accept() {
	for {
		conn, err := l.Listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			if !l.hand(accepted{err: err}) {
				return
			}
		case l.enter(conn):
			l.loops.Go(func() { l.classify(conn) })
		default:
			_ = conn.Close()
		}
	}
}

// enter notes a connection that waits for its first byte, unless the listener is closed.
func (l *listener) enter(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.waiting[conn] = struct{}{}
	}
	return !l.closed
}

// classify reads the first byte of a connection and hands it on.
func (l *listener) classify(conn net.Conn) {
	p := &peeked{Conn: conn}
	_ = conn.SetReadDeadline(time.Now().Add(firstByteWithin)) //nolint:forbidigo // the kernel's clock ends it
	_, err := conn.Read(p.first[:])
	l.mu.Lock()
	delete(l.waiting, conn)
	l.mu.Unlock()
	if err == nil {
		err = conn.SetReadDeadline(time.Time{})
	}
	var out net.Conn = p
	if p.first[0] == recordHandshake {
		out = tls.Server(p, l.config)
	}
	if err != nil || !l.hand(accepted{conn: out}) {
		_ = conn.Close()
	}
}

func (l *listener) hand(a accepted) bool {
	select {
	case l.out <- a:
		return true
	case <-l.done:
		return false
	}
}

// peeked is a connection whose first byte was read. Only one goroutine reads from it at a time.
type peeked struct {
	net.Conn
	first [1]byte
	given bool
}

// Read implements net.Conn.
func (p *peeked) Read(b []byte) (int, error) {
	if p.given || len(b) == 0 {
		return p.Conn.Read(b)
	}
	p.given = true
	b[0] = p.first[0]
	return 1, nil
}

// NetConn is the connection below.
func (p *peeked) NetConn() net.Conn { return p.Conn }

// CloseWrite has a client read the answer before it sees the connection closed.
func (p *peeked) CloseWrite() error {
	if w, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
