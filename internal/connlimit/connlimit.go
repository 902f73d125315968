// Package connlimit keeps an HTTP port responsive while clients hold more connections than the process may have open.
//
// Up to the limit every connection is accepted. Above half of it, each is closed after its answer. At the limit, the connection that has
// been idle longest is closed for a new one; a connection without a complete request head counts as idle. A new connection is turned
// away, after a short wait, only if requests are being answered on all others.
package connlimit

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
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
}

// Limiter counts the connections of one port. Its methods may be called from any goroutine.
type Limiter struct {
	port  string
	clock clock.Clock
	log   *slog.Logger
	room  *clock.Signal // set when a connection was closed or became idle

	mu        sync.Mutex
	most      int
	open      int
	taken     int        // hijacked ones, such as event streams; included in open
	idle      *list.List // of *conn without a request; the longest idle is at the front
	fullSince time.Time  // zero: not full

	closedIdle, turnedAway int // since the last log line
	noFiles                bool
	told                   time.Time
}

// New returns a Limiter.
func New(c Config) *Limiter {
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Limiter{port: c.Port, clock: c.Clock, log: c.Log, room: clock.NewSignal(), most: max(1, c.Most), idle: list.New()}
}

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
	srv.ConnState = l.note
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, connOf(c))
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &listener{Listener: ln, l: l, ctx: ctx, cancel: cancel}
}

// conn is a counted connection. The Limiter's lock guards all fields but Conn.
type conn struct {
	net.Conn
	l *Limiter

	at     *list.Element // position in idle; nil: answering a request, hijacked or closed
	taken  bool
	closed bool
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
	l.open--
	if c.taken {
		l.taken--
	}
	l.busy(c)
	l.tell()
}

// busy removes a connection from the idle ones.
func (l *Limiter) busy(c *conn) {
	if c.at != nil {
		l.idle.Remove(c.at)
		c.at = nil
	}
}

// note follows the states of connections.
func (l *Limiter) note(nc net.Conn, state http.ConnState) {
	c := connOf(nc)
	if c == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.closed:
	case state == http.StateIdle && c.at == nil:
		c.at = l.idle.PushBack(c)
		l.room.Set()
	case state == http.StateHijacked && !c.taken:
		l.busy(c)
		c.taken = true
		l.taken++
	}
}

// answer marks connections on which a request is being answered.
func (l *Limiter) answer(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok && c != nil {
			alive, crowded := l.begin(c)
			if !alive {
				panic(http.ErrAbortHandler) // evicted a moment ago: nobody would see the answer
			}
			if crowded {
				w.Header().Set("Connection", "close")
			}
		}
		h.ServeHTTP(w, r)
	})
}

func (l *Limiter) begin(c *conn) (alive, crowded bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy(c)
	return !c.closed, l.open-l.taken > max(1, (l.most-l.taken)/2)
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

// outOfFiles closes an idle connection, and reports whether there was one.
func (l *Limiter) outOfFiles() bool {
	l.mu.Lock()
	l.noFiles = true
	victim := l.evict()
	l.tell()
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

// enter admits a connection, replacing the longest idle one if the port is full. If it cannot, until is when waiting connections are
// turned away.
func (l *Limiter) enter(c *conn) (admitted bool, victim *conn, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most {
		victim = l.evict()
	}
	if l.open >= l.most {
		if l.fullSince.IsZero() {
			l.fullSince = l.clock.Now()
		}
		return false, victim, l.fullSince.Add(patience)
	}
	l.fullSince = time.Time{}
	l.open++
	c.at = l.idle.PushBack(c)
	l.tell()
	return true, victim, time.Time{}
}

// evict removes the longest idle connection from the count, for the caller to close. It returns nil if none is idle.
func (l *Limiter) evict() *conn {
	front := l.idle.Front()
	if front == nil {
		return nil
	}
	c, _ := front.Value.(*conn)
	l.closedIdle++
	l.forget(c)
	return c
}

func (l *Limiter) turnAway() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turnedAway++
	l.tell()
}

// tell logs closed and refused connections, at intervals.
func (l *Limiter) tell() {
	if l.closedIdle+l.turnedAway == 0 && !l.noFiles {
		return
	}
	now := l.clock.Now()
	if now.Sub(l.told) < tellGap {
		return
	}
	text := "too many connections: idle ones were closed to make room, and where none was idle new ones were turned away"
	if l.noFiles {
		text = "out of file descriptors (ulimit -n): " + text
	}
	l.log.Warn(text, "port", l.port, "limit", l.most, "idleClosed", l.closedIdle, "turnedAway", l.turnedAway)
	l.told, l.closedIdle, l.turnedAway, l.noFiles = now, 0, 0, false
}
