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

// How connections are held.
const (
	dialWithin    = 10 * time.Second
	patienceUsual = 2 * time.Second        // nobody got a stream for so long: the connection is given up
	lookEvery     = 5 * time.Millisecond   // whether there is room for those who wait, at the latest
	dialGap       = 100 * time.Millisecond // from one dialling to the next
)

// pool holds the connections to Apple, one to a host. A request waits here until the connection may have another
// stream, as Apple's SETTINGS say at that moment: one before it has seen a valid provider token, a thousand later, one
// again after a refusal. (net/http's own queue counts reservations as streams, and locks up where there are more of them
// than the limit allows.)
type pool struct {
	dial  func(ctx context.Context, host string) (*http.ClientConn, error)
	plain http.RoundTripper // in place of all this, for a caller that brings its own transport

	patience time.Duration // with a connection that gives nobody a stream

	mu    sync.Mutex
	hosts map[string]*hostConn
	count uint64
}

// hostConn is the way to a host.
type hostConn struct {
	host    string
	conn    *connection // nil: none
	dialing bool
	dialed  time.Time   // when that ended last
	looking bool        // soon somebody looks whether there is room
	waiting []chan turn // requests that want a stream, the oldest first
	got     time.Time   // when one was had last
}

// connection is one to a host, and what goes on it.
type connection struct {
	*http.ClientConn
	number uint64
	under  int  // requests that have a place on it
	known  bool // it has answered, so that its limits are known: net/http takes it for one of a hundred streams before
	over   bool // given up: closed when the last place is given back
}

// turn is what a request has waited for.
type turn struct {
	ticket ticket
	err    error // no connection can be had
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

// newTransport makes connections: HTTP/2, pinged when idle.
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

// errNeverLeft marks what failed before the request was on its way.
var errNeverLeft = errors.New("the push was not sent")

// ticket is a request's place on a connection.
type ticket struct {
	pool *pool
	host *hostConn
	conn *connection
}

// number is that of the connection, 0 where there is none.
func (t ticket) number() uint64 {
	if t.conn == nil {
		return 0
	}
	return t.conn.number
}

// roundTrip sends a request on the connection to its host. What a connection that is given up has certainly not
// passed on is sent again on the next. The ticket is to be given back when the answer has been read; an error has
// given it back.
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

// back gives a place back to those who wait.
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

// again makes a request ready to be sent a second time; nil if it cannot be.
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

// refusedStream is REFUSED_STREAM of HTTP/2.
const refusedStream = 0x7

// streamError has the shape of net/http's own, which fills it by errors.As.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "stream reset" }

// What net/http calls a stream that a GOAWAY left out, and one that never began because its connection was over, which
// it says in other words of the first on a connection. It exports none of these errors; TestGoAwayInACrowd and
// TestConnectionOverBeforeAStream hold the words.
const (
	wordsGoAway         = "http2: Transport received Server's graceful shutdown GOAWAY"
	wordsUnusable       = "http2: client conn not usable"
	wordsNotEstablished = "http2: client conn could not be established"
)

// unprocessed reports whether the other side has certainly done nothing: HTTP/2 says so of a stream it refused
// and of one beyond the last that a GOAWAY names, and one that never began has sent it nothing.
func unprocessed(err error) bool {
	return refused(err) || slices.Contains([]string{wordsGoAway, wordsUnusable, wordsNotEstablished}, err.Error())
}

// refused reports whether a stream was one too many on a connection that is in order.
func refused(err error) bool {
	reset, ok := errors.AsType[streamError](err)
	return ok && reset.Code == refusedStream
}

// acquire returns a place on the connection to a host, when there is one.
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

// enqueue puts a request behind all who wait, and serves them.
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

// leave takes a request out of the queue; if its turn has come meanwhile it goes to the next.
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

// serve gives those who wait the places there are, the oldest first. A connection that is over or stalled is given up, and
// where there is none one is dialled. It is called, under the lock, whenever something has changed: a request came, a place
// was given back, net/http says that a stream has ended, that the limit is another one or that the connection has ended.
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

// give gives so many places. As long as some wait somebody looks again: net/http still counts streams whose places were
// given back, and tells when they are gone, but not always, as its hook is not called for a state that is as it was at the
// last call; and the connection may come to count as stalled.
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

// room returns how many requests more the connection may have now, and whether it is over: it has none and takes none.
// The lock is held, so that none begins that has no place.
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

// connect dials, and tells all who wait. Its goroutine ends with the dialling, which is bounded.
func (l *pool) connect(h *hostConn) {
	ctx, cancel := context.WithTimeout(context.Background(), dialWithin)
	defer cancel()
	conn, err := l.dial(ctx, h.host)
	if err == nil {
		defer conn.SetStateHook(func(*http.ClientConn) { // behind the unlocking: it may be called at once
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

// giveUp lets a connection go; what is still on it may end there.
func (h *hostConn) giveUp() {
	h.conn.over = true
	h.conn.closeUnused()
	h.conn = nil
}

// closeUnused closes a connection that was given up when nobody has a place on it any more.
func (c *connection) closeUnused() {
	if c.over && c.under == 0 {
		time.AfterFunc(0, func() { _ = c.Close() }) // whose hook wants the lock
	}
}

// replace gives a connection up. Many answers ask for it at once: it is done for the first of them.
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

// close gives all connections up.
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
