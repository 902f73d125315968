// Package connlimit keeps an HTTP port responsive while clients hold more connections than the process may have open, or send and read
// slowly.
//
// Up to the limit every connection is accepted, except that one address may hold a quarter of them. Above half of the limit, each is
// closed after its answer. At the limit, a new connection replaces the slowest that waits for its client, of the address that has most,
// and one of a signed-in user only if there is no other. Connections whose request is being worked on are never closed for this: if there
// are no others, a new connection is turned away after a short wait.
//
// A connection waits for its client between requests, while a head or a body arrives, and while an answer is sent. Between requests it is
// idle. What arrives or is sent has 10 s, and a second for each 512 bytes; then it counts as idle too.
//
// Bodies that are under way cost most. Only an eighth of the limit are at once: a further one replaces another, in the same order.
//
// A refusal that does not wait for the body of its request closes the connection.
package connlimit

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

const (
	patience = time.Second      // how long a port may be full before new connections are turned away
	tellGap  = 10 * time.Second // between two log lines
)

// Config describes the limit of a port.
type Config struct {
	Port  string       // name, for the log
	Most  int          // maximum number of open connections, at least 1
	Clock clock.Clock  // must be real time; nil: clock.Real
	Log   *slog.Logger // nil: silent

	Proxies Proxies      // nil: none
	Refuse  http.Handler // answers a client of a proxy, or on HTTP/2, that has too many requests in progress; nil: with 503
}

// Proxies tells apart the clients of trusted proxies.
type Proxies interface {
	// Trusts reports whether a peer is a trusted proxy.
	Trusts(peer netip.Addr) bool
	// Client returns who sent a request to the proxy; invalid: unknown.
	Client(r *http.Request) netip.Addr
}

// Limiter counts the connections of one port. Its methods may be called from any goroutine.
type Limiter struct {
	port    string
	clock   clock.Clock
	log     *slog.Logger
	proxies Proxies
	refuse  http.Handler
	began   time.Time     // times are counted from here
	room    *clock.Signal // set when a connection was closed or became idle

	arriving atomic.Int64 // requests whose body has not been read to its end

	mu        sync.Mutex
	most      int
	conns     []*conn // all that are open
	taken     int     // hijacked ones, such as event streams
	addresses map[netip.Prefix]*address
	users     map[string]int // connections that each has marked as theirs
	all       queue
	bodies    queue       // of the connections with a body under way
	found     []candidate // of the last search, for its memory
	fullSince time.Time   // zero: not full

	closedIdle, closedSlow, turnedAway int // since the last log line
	noFiles                            bool
	told                               time.Time
}

// New returns a Limiter.
func New(c Config) *Limiter {
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Refuse == nil {
		c.Refuse = http.HandlerFunc(refuse)
	}
	return &Limiter{
		port: c.Port, clock: c.Clock, log: c.Log, proxies: c.Proxies, refuse: c.Refuse, began: c.Clock.Now(), room: clock.NewSignal(),
		most: max(1, c.Most), addresses: map[netip.Prefix]*address{}, users: map[string]int{},
	}
}

// now returns the time since the Limiter was made.
func (l *Limiter) now() time.Duration { return l.clock.Now().Sub(l.began) }

// SetMost changes the limit. Connections above it stay until they are closed.
func (l *Limiter) SetMost(n int) {
	l.mu.Lock()
	l.most = max(1, n)
	l.mu.Unlock()
	l.room.Set()
}

// Guard returns the listener for srv to serve on. It wraps srv.Handler and sets srv.ConnState and srv.ConnContext.
func (l *Limiter) Guard(srv *http.Server, ln net.Listener) net.Listener {
	srv.Handler = l.answer(srv.Handler)
	srv.ConnState = l.followState
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, connOf(c))
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &listener{Listener: ln, l: l, ctx: ctx, cancel: cancel}
}

// conn is a counted connection. The Limiter's lock guards all fields but the first three.
type conn struct {
	net.Conn
	l    *Limiter
	sent atomic.Int64 // bytes

	addr    *address      // whose it is; behind a proxy and on HTTP/1: of the request in progress
	counted bool          // for addr
	proxied bool          // the peer is a trusted proxy
	at      int           // position in Limiter.conns
	since   time.Duration // when it was accepted, began a request, ended its last, or became idle
	idle    bool          // it is between two requests
	pending []*request    // in progress; on HTTP/2 there may be several
	user    string        // whose it is, if marked; empty: an operator's
	marked  bool          // it is a signed-in user's
	taken   bool
	closed  bool
}

type connKey struct{}

// connOf returns the counted connection below one of net/http, such as a TLS connection, or nil.
func connOf(c net.Conn) *conn {
	for c != nil {
		switch t := c.(type) {
		case *conn:
			return t
		case interface{ NetConn() net.Conn }:
			c = t.NetConn()
		default:
			return nil
		}
	}
	return nil
}

// writePart is how many bytes are written at once, so that progress shows.
const writePart = 64 << 10

// Write implements net.Conn.
func (c *conn) Write(p []byte) (written int, err error) {
	for err == nil && written < len(p) {
		var n int
		n, err = c.Conn.Write(p[written:min(len(p), written+writePart)])
		written += n
		c.sent.Add(int64(n))
	}
	return written, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.l.mu.Lock()
	c.l.forget(c)
	c.l.mu.Unlock()
	c.l.room.Set()
	return err
}

// CloseWrite lets a client read the answer before the connection is closed.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

// forget removes a connection from the count, once.
func (l *Limiter) forget(c *conn) {
	if c.closed {
		return
	}
	c.closed = true
	last := len(l.conns) - 1
	l.conns[c.at] = l.conns[last]
	l.conns[c.at].at = c.at
	l.conns[last] = nil
	l.conns = l.conns[:last]
	if c.taken {
		l.taken--
	}
	l.unmark(c)
	l.leaveAddress(c)
	l.logCounts()
}

// followState follows the states of connections.
func (l *Limiter) followState(nc net.Conn, state http.ConnState) {
	c := connOf(nc)
	if c == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.closed:
	case state == http.StateActive:
		c.idle, c.since = false, l.now()
	case state == http.StateIdle:
		c.idle, c.since = true, l.now()
		l.room.Set()
	case state == http.StateHijacked && !c.taken:
		c.taken = true
		l.taken++
		l.unmark(c)
		l.leaveAddress(c)
	}
}

// listener accepts connections while there is room.
type listener struct {
	net.Listener
	l      *Limiter
	ctx    context.Context //nolint:containedctx // ends with the listener, not with a request
	cancel context.CancelFunc
}

// Close implements net.Listener.
func (ln *listener) Close() error {
	ln.cancel()
	return ln.Listener.Close()
}

// Accept implements net.Listener.
func (ln *listener) Accept() (net.Conn, error) {
	for {
		nc, err := ln.Listener.Accept()
		switch {
		case err != nil && outOfFiles(err) && ln.l.outOfFiles():
		case err != nil:
			return nil, err
		default:
			c := &conn{Conn: nc, l: ln.l}
			c.proxied = ln.l.isProxy(nc.RemoteAddr())
			if ln.l.admit(ln.ctx, c) {
				return c, nil
			}
			_ = nc.Close() // not served
		}
	}
}

func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// outOfFiles closes a connection that waits for its client, and reports whether there was one.
func (l *Limiter) outOfFiles() bool {
	l.mu.Lock()
	l.noFiles = true
	victim := l.evict(&l.all, nil)
	l.logCounts()
	l.mu.Unlock()
	if victim == nil {
		return false
	}
	_ = victim.Conn.Close()
	return true
}

// admit adds a connection to the count. It returns false if there is no room.
func (l *Limiter) admit(ctx context.Context, c *conn) bool {
	for {
		l.room.Clear()
		admitted, victim, until := l.enter(c)
		if victim != nil {
			_ = victim.Conn.Close() // its client sees the close with its next request
		}
		if admitted {
			return true
		}
		if ctx.Err() != nil || !l.clock.Now().Before(until) {
			l.turnAway()
			return false
		}
		if l.clock.Wait(ctx, until, l.room) != nil {
			return false
		}
	}
}

// enter admits a connection, replacing another one if the port is full or the address has its share. If it cannot, until is when waiting
// connections are turned away: at once if only the address is to blame.
func (l *Limiter) enter(c *conn) (admitted bool, victim *conn, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from := l.addresses[network(peerOf(c))]; from != nil && !c.proxied && from.open >= l.share() {
		if victim = l.evict(&from.queue, func(other *conn) bool { return other.addr == from }); victim == nil {
			return false, nil, time.Time{}
		}
	}
	if len(l.conns) >= l.most && victim == nil {
		victim = l.evict(&l.all, nil)
	}
	if len(l.conns) >= l.most {
		if l.fullSince.IsZero() {
			l.fullSince = l.clock.Now()
		}
		return false, victim, l.fullSince.Add(patience)
	}
	l.fullSince = time.Time{}
	c.since, c.at = l.now(), len(l.conns)
	l.conns = append(l.conns, c)
	l.enterAddress(c)
	l.logCounts()
	return true, victim, time.Time{}
}

func (l *Limiter) turnAway() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turnedAway++
	l.logCounts()
}

// logCounts logs closed and refused connections, at intervals.
func (l *Limiter) logCounts() {
	if l.closedIdle+l.closedSlow+l.turnedAway == 0 && !l.noFiles {
		return
	}
	now := l.clock.Now()
	if now.Sub(l.told) < tellGap {
		return
	}
	text := "too many connections: idle and slow ones were closed to make room, and where there were none new ones were turned away"
	if l.noFiles {
		text = "out of file descriptors (ulimit -n): " + text
	}
	l.log.Warn(text, "port", l.port, "limit", l.most, "idleClosed", l.closedIdle, "slowClosed", l.closedSlow, "turnedAway", l.turnedAway)
	l.told, l.closedIdle, l.closedSlow, l.turnedAway, l.noFiles = now, 0, 0, 0, false
}
