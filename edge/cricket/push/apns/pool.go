package apns

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Limits of a connection.
const (
	dialWithin    = 10 * time.Second
	patienceUsual = 2 * time.Second        // a connection that has given no push a stream for this long is replaced
	lookEvery     = 5 * time.Millisecond   // interval for checking for room while requests wait
	dialGap       = 100 * time.Millisecond // between two attempts to dial
)

// pool holds the connections to Apple, one per host. A request waits here until its connection may have another stream, as
// Apple's SETTINGS allow at that moment: one until it has seen a valid provider token, then a thousand, and one again after
// a refusal. (net/http's own queue counts reservations as streams, and deadlocks if there are more of them than the limit
// allows.)
type pool struct {
	dial  func(ctx context.Context, host string) (*http.ClientConn, error)
	plain http.RoundTripper // replaces all this, for a caller with its own transport

	patience time.Duration // how long a connection may give no push a stream

	mu    sync.Mutex
	hosts map[string]*hostConn
	count uint64
}

// hostConn is the connection to a host and its queue.
type hostConn struct {
	host    string
	conn    *connection // nil: none
	dialing bool
	dialed  time.Time   // when the last attempt ended
	looking bool        // a check for room is scheduled
	waiting []chan turn // requests waiting for a stream, oldest first
	got     time.Time   // when a stream was last obtained
}

// connection is one connection to a host.
type connection struct {
	*http.ClientConn
	number uint64
	under  int  // requests with a place on it
	known  bool // it has answered, so its limits are known: until then net/http assumes a hundred streams
	over   bool // given up: closed when the last place is returned
}

// turn ends the wait of a request.
type turn struct {
	ticket ticket
	err    error // no connection is available
}

func newPool(cfg *Config) *pool {
	t := newTransport(cfg)
	return &pool{
		plain:    cfg.Transport,
		patience: patienceUsual,
		hosts:    map[string]*hostConn{},
		dial: func(ctx context.Context, host string) (*http.ClientConn, error) {
			if _, _, err := net.SplitHostPort(host); err != nil {
				host = net.JoinHostPort(host, "443")
			}
			return t.NewClientConn(ctx, "https", host)
		},
	}
}

// newTransport returns the transport that dials connections: HTTP/2, pinged when idle.
func newTransport(cfg *Config) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	var h2 http.Protocols
	h2.SetHTTP2(true)
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs},
		TLSHandshakeTimeout: 5 * time.Second,
		Protocols:           &h2,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 10 * time.Second},
	}
}

// errNeverLeft marks errors from before a request was sent.
var errNeverLeft = errors.New("the push was not sent")

// ticket is a request's place on a connection.
type ticket struct {
	pool *pool
	host *hostConn
	conn *connection
}

// number returns the number of the connection, 0 if there is none.
func (t ticket) number() uint64 {
	if t.conn == nil {
		return 0
	}
	return t.conn.number
}

// roundTrip sends a request on the connection to its host. A request that a lost connection certainly did not process is
// sent again on the next one. The caller must return the ticket after reading the answer; in case of an error it has been
// returned.
func (l *pool) roundTrip(req *http.Request) (res *http.Response, t ticket, err error) {
	if l.plain != nil {
		res, err = l.plain.RoundTrip(req)
		return res, t, err
	}
	const tries = 3
	for range tries {
		if t, err = l.acquire(req.Context(), req.URL.Host); err != nil {
			return nil, t, fmt.Errorf("%w: %w", errNeverLeft, err)
		}
		if res, err = t.conn.RoundTrip(req); err == nil {
			l.answered(t)
			return res, t, nil
		}
		t.back()
		if !unprocessed(err) {
			return nil, t, err
		}
		if !refused(err) {
			l.replace(t.number())
		}
		if req = again(req); req == nil {
			return nil, t, err
		}
	}
	return nil, t, fmt.Errorf("%w: %w", errNeverLeft, err)
}

// answered notes that a connection has answered.
func (l *pool) answered(t ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !t.conn.known {
		t.conn.known = true
		l.serve(t.host)
	}
}

// back returns the place and serves those who wait.
func (t ticket) back() {
	if t.pool == nil {
		return
	}
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.conn.under--
	t.conn.closeUnused()
	t.pool.serve(t.host)
}

// again returns a copy of a request for sending it again, nil if that is impossible.
func again(req *http.Request) *http.Request {
	out := *req
	if req.GetBody == nil {
		return &out
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	out.Body = body
	return &out
}

// refusedStream is the HTTP/2 error code REFUSED_STREAM.
const refusedStream = 0x7

// streamError has the shape of net/http's own error, which fills it in errors.As.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "stream reset" }

// net/http's texts for a stream excluded by a GOAWAY, and for one that did not begin because its connection was over (two
// texts). It exports none of these errors; TestGoAwayInACrowd and TestConnectionOverBeforeAStream pin the texts.
const (
	wordsGoAway         = "http2: Transport received Server's graceful shutdown GOAWAY"
	wordsUnusable       = "http2: client conn not usable"
	wordsNotEstablished = "http2: client conn could not be established"
)

// unprocessed reports whether the server has certainly not processed a request: its stream was refused, was
// beyond the last one that a GOAWAY names, or never began.
func unprocessed(err error) bool {
	return refused(err) || slices.Contains([]string{wordsGoAway, wordsUnusable, wordsNotEstablished}, err.Error())
}

// refused reports whether a stream exceeded the limit of a connection that is otherwise intact.
func refused(err error) bool {
	reset, ok := errors.AsType[streamError](err)
	return ok && reset.Code == refusedStream
}

// acquire waits for a place on the connection to a host.
func (l *pool) acquire(ctx context.Context, host string) (ticket, error) {
	h, ready := l.enqueue(host)
	select {
	case got := <-ready:
		if ctx.Err() == nil || got.err != nil {
			return got.ticket, got.err
		}
		got.ticket.back()
	case <-ctx.Done():
		l.leave(h, ready)
	}
	return ticket{}, context.Cause(ctx)
}

// enqueue queues a request and serves the queue.
func (l *pool) enqueue(host string) (*hostConn, chan turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[host]
	if h == nil {
		h = &hostConn{host: host}
		l.hosts[host] = h
	}
	ready := make(chan turn, 1)
	h.waiting = append(h.waiting, ready)
	l.serve(h)
	return h, ready
}

// leave removes a request from the queue; if its turn has come meanwhile, it passes on to the next.
func (l *pool) leave(h *hostConn, ready chan turn) {
	l.mu.Lock()
	i := slices.Index(h.waiting, ready)
	if i >= 0 {
		h.waiting = slices.Delete(h.waiting, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 {
		(<-ready).ticket.back()
	}
}

// serve gives the available places to waiting requests, oldest first. It gives up a connection that is over or
// stalled, and dials if there is none. It is called with the lock held whenever something changes: a request came, a
// place was returned, or net/http reports that a stream has ended, the limit has changed or the connection has ended.
func (l *pool) serve(h *hostConn) {
	if len(h.waiting) == 0 {
		return
	}
	if h.conn != nil {
		free, over := h.conn.room()
		if !over && (free > 0 || time.Since(h.got) < l.patience) {
			l.give(h, free)
			return
		}
		h.giveUp()
	}
	if !h.dialing {
		h.dialing = true
		time.AfterFunc(time.Until(h.dialed.Add(dialGap)), func() { l.connect(h) })
	}
}

// give gives free places to waiting requests. While some still wait, another check is scheduled: net/http may
// still count streams whose places were returned, and does not always report when they end, because its hook is
// not called if the state is the same as at the last call. The connection may also count as stalled by then.
func (l *pool) give(h *hostConn, free int) {
	n := min(free, len(h.waiting))
	for _, ready := range h.waiting[:n] {
		h.conn.under++
		h.got = time.Now()
		ready <- turn{ticket: ticket{l, h, h.conn}}
	}
	h.waiting = h.waiting[n:]
	if len(h.waiting) == 0 || h.looking {
		return
	}
	h.looking = true
	time.AfterFunc(lookEvery, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		h.looking = false
		l.serve(h)
	})
}

// room returns how many more requests the connection may take now, and whether it is over: it failed, or has no
// request and takes none. The lock is held, so no request without a place begins.
func (c *connection) room() (free int, over bool) {
	open, free := c.InFlight(), c.Available()
	switch {
	case c.Err() != nil || open == 0 && free == 0 && c.under == 0:
		return 0, true
	case free == 0:
		return 0, false
	case !c.known:
		return max(0, 1-max(open, c.under)), false
	default:
		return max(0, open+free-c.under), false
	}
}

// connect dials and serves the queue, or fails all of it. Its goroutine ends with the dialling, which is bounded.
func (l *pool) connect(h *hostConn) {
	ctx, cancel := context.WithTimeout(context.Background(), dialWithin)
	defer cancel()
	conn, err := l.dial(ctx, h.host)
	if err == nil {
		defer conn.SetStateHook(func(*http.ClientConn) { // deferred until after the unlock: it may be called at once
			l.mu.Lock()
			defer l.mu.Unlock()
			l.serve(h)
		})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h.dialing, h.dialed = false, time.Now()
	if err == nil {
		l.count++
		h.conn, h.got = &connection{ClientConn: conn, number: l.count}, h.dialed
		l.serve(h)
		return
	}
	for _, ready := range h.waiting {
		ready <- turn{err: err}
	}
	h.waiting = nil
}

// giveUp stops using a connection; requests on it may still finish.
func (h *hostConn) giveUp() {
	h.conn.over = true
	h.conn.closeUnused()
	h.conn = nil
}

// closeUnused closes a connection that was given up once it has no requests.
func (c *connection) closeUnused() {
	if c.over && c.under == 0 {
		time.AfterFunc(0, func() { _ = c.Close() }) // not here: its hook needs the lock
	}
}

// replace gives up a connection. Many answers may ask for it: only the first has an effect.
func (l *pool) replace(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.hosts {
		if h.conn != nil && h.conn.number == number {
			h.giveUp()
			l.serve(h)
		}
	}
}

// close gives up all connections.
func (l *pool) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.hosts {
		if h.conn != nil {
			h.giveUp()
			l.serve(h)
		}
	}
}
