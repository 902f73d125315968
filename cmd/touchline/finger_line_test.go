//go:build long && linux

package main

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// fingerLine is the way of a phone to the node of its hall: an address of the phone's own, which stays when another node takes over. A
// connection that was open while the line was half open stays silent for ever, as after the restart of an access point.
type fingerLine struct {
	url      string
	listener net.Listener
	group    sync.WaitGroup

	mu    sync.Mutex
	state lineState
	to    string // the node's address
	open  map[*fingerWay]bool
}

// lineState is what happens to connections.
type lineState uint8

const (
	lineOpen lineState = iota
	lineHalfOpen
	lineCut // connections are reset
)

// String returns the state's name for the story.
func (s lineState) String() string { return [...]string{"open", "half open", "cut"}[s] }

// fingerWay is a connection of a browser, and ours to the node behind it.
type fingerWay struct {
	silent          atomic.Bool
	browser, behind net.Conn // behind is nil if the line was half open from the beginning
}

// newFingerLine listens at a host of loopback, whose cookies are the phone's own.
func newFingerLine(t *testing.T, host, to string) *fingerLine {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	l := &fingerLine{url: "http://" + listener.Addr().String(), listener: listener, to: to, open: map[*fingerWay]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	l.group.Go(func() { l.accept(ctx) })
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		l.reset()
		l.group.Wait()
	})
	return l
}

// set changes what happens to connections, also to those that are open.
func (l *fingerLine) set(s lineState) {
	l.mu.Lock()
	l.state = s
	if s == lineHalfOpen {
		for way := range l.open {
			way.silent.Store(true)
		}
	}
	l.mu.Unlock()
	if s == lineCut {
		l.reset()
	}
}

// lead leads the line to another node.
func (l *fingerLine) lead(to string) {
	l.mu.Lock()
	l.to = to
	l.mu.Unlock()
	l.reset()
}

func (l *fingerLine) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for way := range l.open {
		way.close()
	}
}

func (w *fingerWay) close() {
	for _, c := range []net.Conn{w.browser, w.behind} {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // the other end gets an error
			_ = tcp.Close()
		}
	}
}

func (l *fingerLine) accept(ctx context.Context) {
	for {
		c, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.group.Go(func() { l.forward(ctx, c) })
	}
}

// forward serves a connection until both of its ends are closed.
func (l *fingerLine) forward(ctx context.Context, browser net.Conn) {
	l.mu.Lock()
	state, to := l.state, l.to
	l.mu.Unlock()
	way := &fingerWay{browser: browser}
	defer way.close()
	if state == lineOpen {
		behind, err := new(net.Dialer).DialContext(ctx, "tcp", to)
		if err != nil {
			return
		}
		way.behind = behind
	}
	if state == lineCut || !l.keep(way) {
		return
	}
	defer l.forget(way)
	if way.behind == nil {
		_, _ = io.Copy(io.Discard, browser)
		return
	}
	ended := make(chan struct{})
	l.group.Go(func() {
		way.carry(way.browser, way.behind)
		close(ended)
	})
	way.carry(way.behind, way.browser)
	way.close() // also the node's end of a silent connection
	<-ended
}

// keep has later changes of the line apply to a connection. It reports whether the line has not changed to cut meanwhile.
func (l *fingerLine) keep(way *fingerWay) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	way.silent.Store(l.state == lineHalfOpen)
	l.open[way] = l.state != lineCut
	return l.open[way]
}

func (l *fingerLine) forget(way *fingerWay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, way)
}

// carry carries bytes one way, or drops them if the connection is silent. The end of a connection that is not silent ends both ways.
func (w *fingerWay) carry(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if !w.silent.Load() {
			if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
				w.close()
				return
			}
		}
		if err != nil {
			return
		}
	}
}
