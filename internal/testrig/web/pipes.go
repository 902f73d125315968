package web

import (
	"context"
	"net"
	"sync"
)

// Pipes is a listener in memory, for servers in a bubble of testing/synctest: waiting for its connections, or for data on one, does not
// stop virtual time.
type Pipes struct {
	conns chan net.Conn
	done  chan struct{}
	close func()
}

// NewPipes returns an open listener.
func NewPipes() *Pipes {
	p := &Pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.done) })
	return p
}

// piped is an end of a pipe that claims to come from this machine.
type piped struct{ net.Conn }

// RemoteAddr implements net.Conn.
func (piped) RemoteAddr() net.Addr { return loopback() }

// LocalAddr implements net.Conn.
func (piped) LocalAddr() net.Addr { return loopback() }

func loopback() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// Accept implements net.Listener.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *Pipes) Close() error {
	p.close()
	return nil
}

// Addr implements net.Listener.
func (p *Pipes) Addr() net.Addr { return loopback() }

// Dial connects to the listener, whatever the address. It is for http.Transport.
func (p *Pipes) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- piped{theirs}:
		return ours, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
