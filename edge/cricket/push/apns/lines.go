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
	dialWithin   = 10 * time.Second
	stalledAfter = 2 * time.Second // nobody got a stream for so long: the connection counts as given up
)

// lines are the connections to Apple, one to a host. A request waits here until the connection may have another
// stream, as Apple's SETTINGS say at that moment: one before it has seen a valid provider token, a thousand later, one
// again after a refusal. (net/http's own queue counts reservations as streams, and locks up where there are more of them
// than the limit allows.)
type lines struct {
	dial  func(ctx context.Context, host string) (*http.ClientConn, error)
	plain http.RoundTripper // in place of all this, for a caller that brings its own transport

	mu    sync.Mutex
	hosts map[string]*line
	count uint64
}

// line is the way to a host.
type line struct {
	conn    *http.ClientConn // nil: none
	number  uint64           // of the connection
	under   int              // requests that are under way on it
	dialing bool
	waiting []chan error // requests that want a stream, the oldest first
	got     time.Time    // when one was had last
}

func newLines(cfg *Config) *lines {
	t := newTransport(cfg)
	return &lines{
		plain: cfg.Transport,
		hosts: map[string]*line{},
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
var errNeverLeft = errors.New("the push did not leave")

// ticket is a request's place on a connection.
type ticket struct {
	lines  *lines
	host   string
	number uint64
	conn   *http.ClientConn
}

// roundTrip sends a request on the connection to its host. What a connection that is given up has certainly not
// passed on is sent again on the next. The ticket is to be given back when the answer has been read; an error has
// given it back.
func (l *lines) roundTrip(req *http.Request) (res *http.Response, t ticket, err error) {
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
			return res, t, nil
		}
		t.back()
		if !unprocessed(err) {
			return nil, t, err
		}
		l.replace(t.number)
		if req = again(req); req == nil {
			return nil, t, err
		}
	}
	return nil, t, fmt.Errorf("%w: %w", errNeverLeft, err)
}

// back gives a place back to those who wait.
func (t ticket) back() {
	if t.lines == nil {
		return
	}
	t.lines.mu.Lock()
	if ln := t.lines.hosts[t.host]; ln.number == t.number {
		ln.under--
	}
	t.lines.mu.Unlock()
	t.lines.changed(t.host, t.number, t.conn)
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

// What net/http calls a stream that a GOAWAY left out, and one that never began because its connection was over. It
// exports neither error; TestGoAwayInACrowd holds the words.
const (
	wordsGoAway   = "http2: Transport received Server's graceful shutdown GOAWAY"
	wordsUnusable = "http2: client conn not usable"
)

// unprocessed tells failures of which HTTP/2 says that the other side did nothing: a stream it refused, and one beyond
// the last that a GOAWAY names.
func unprocessed(err error) bool {
	if reset, ok := errors.AsType[streamError](err); ok {
		return reset.Code == refusedStream
	}
	return err.Error() == wordsGoAway || err.Error() == wordsUnusable
}

// acquire gives a place on the connection to a host, when there is one.
func (l *lines) acquire(ctx context.Context, host string) (ticket, error) {
	for {
		conn, number, wait := l.look(host)
		if conn == nil {
			if err := l.wait(ctx, host, wait); err != nil {
				return ticket{}, err
			}
			continue
		}
		free, over := room(conn)
		if l.take(host, number, free) {
			return ticket{l, host, number, conn}, nil
		}
		if over || l.stalled(host, number) {
			l.replace(number)
			continue
		}
		wait = l.enqueue(host)
		if free, over := room(conn); over || free > l.underWay(host) {
			l.wake(host, 1) // given back between the refusal and the queue
		}
		if err := l.wait(ctx, host, wait); err != nil {
			return ticket{}, err
		}
	}
}

// room tells how many streams a connection may have in all, 0 while no further one may begin, and whether it is over:
// it has none and takes none.
func room(conn *http.ClientConn) (streams int, over bool) {
	open, free := conn.InFlight(), conn.Available()
	if free == 0 {
		return 0, conn.Err() != nil || open == 0
	}
	return open + free, false
}

// take takes one of so many places, if the requests under way leave one.
func (l *lines) take(host string, number uint64, streams int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.hosts[host]
	if ln.number != number || ln.conn == nil || ln.under >= streams {
		return false
	}
	ln.under++
	ln.got = time.Now()
	return true
}

func (l *lines) underWay(host string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hosts[host].under
}

// look gives the connection of a host. Where there is none it has one dialled, by one request for all, and gives a
// place in the queue.
func (l *lines) look(host string) (conn *http.ClientConn, number uint64, wait chan error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.hosts[host]
	if ln == nil {
		ln = &line{}
		l.hosts[host] = ln
	}
	if ln.conn != nil {
		return ln.conn, ln.number, nil
	}
	wait = make(chan error, 1)
	ln.waiting = append(ln.waiting, wait)
	if !ln.dialing {
		ln.dialing = true
		go l.connect(host)
	}
	return nil, ln.number, wait
}

// connect dials, and tells all who wait. Its goroutine ends with the dialling, which is bounded.
func (l *lines) connect(host string) {
	ctx, cancel := context.WithTimeout(context.Background(), dialWithin)
	defer cancel()
	conn, err := l.dial(ctx, host)
	l.mu.Lock()
	ln := l.hosts[host]
	ln.dialing = false
	if err == nil {
		l.count++
		ln.conn, ln.number, ln.under, ln.got = conn, l.count, 0, time.Now()
	}
	waiting := ln.waiting
	ln.waiting = nil
	number := ln.number
	l.mu.Unlock()
	if err == nil {
		conn.SetStateHook(func(c *http.ClientConn) { l.changed(host, number, c) })
	}
	for _, w := range waiting {
		w <- err
	}
}

// changed is called when a stream has ended, when the limit has changed, and when the connection has ended.
func (l *lines) changed(host string, number uint64, conn *http.ClientConn) {
	l.mu.Lock()
	ln := l.hosts[host]
	current := ln.number == number && ln.conn != nil
	waiting, under := len(ln.waiting), ln.under
	l.mu.Unlock()
	if !current {
		if conn.Err() == nil && conn.InFlight() == 0 {
			_ = conn.Close() // given up, and nothing is on it any more
		}
		return
	}
	if waiting == 0 {
		return
	}
	streams, over := room(conn)
	if over {
		streams = under + waiting
	}
	if streams > under {
		l.wake(host, streams-under)
	}
}

// wake lets the oldest requests in the queue look again.
func (l *lines) wake(host string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.hosts[host]
	n = min(n, len(ln.waiting))
	for _, w := range ln.waiting[:n] {
		w <- nil
	}
	ln.waiting = ln.waiting[n:]
}

func (l *lines) enqueue(host string) chan error {
	w := make(chan error, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hosts[host].waiting = append(l.hosts[host].waiting, w)
	return w
}

// wait waits for a turn, for the connection to count as stalled, or for the request to be given up.
func (l *lines) wait(ctx context.Context, host string, w chan error) error {
	t := time.NewTimer(stalledAfter)
	defer t.Stop()
	select {
	case err := <-w:
		return err
	case <-t.C:
		l.dequeue(host, w)
		return nil
	case <-ctx.Done():
		if !l.dequeue(host, w) {
			l.wake(host, 1) // its turn goes to the next
		}
		return context.Cause(ctx)
	}
}

// dequeue takes a request out of the queue; false if its turn has come meanwhile.
func (l *lines) dequeue(host string, w chan error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.hosts[host]
	i := slices.Index(ln.waiting, w)
	if i >= 0 {
		ln.waiting = slices.Delete(ln.waiting, i, i+1)
	}
	return i >= 0
}

func (l *lines) stalled(host string, number uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.hosts[host]
	return ln.number == number && time.Since(ln.got) >= stalledAfter
}

// replace gives a connection up; what is still on it may end there. Many answers ask for it at once: it is done for
// the first of them.
func (l *lines) replace(number uint64) {
	l.mu.Lock()
	var old *http.ClientConn
	var waiting []chan error
	for _, ln := range l.hosts {
		if ln.number == number && ln.conn != nil {
			old, ln.conn = ln.conn, nil
			waiting, ln.waiting = ln.waiting, nil
		}
	}
	l.mu.Unlock()
	for _, w := range waiting {
		w <- nil
	}
	if old != nil && old.InFlight() == 0 {
		_ = old.Close()
	}
}

// close gives all connections up.
func (l *lines) close() {
	l.mu.Lock()
	var numbers []uint64
	for _, ln := range l.hosts {
		numbers = append(numbers, ln.number)
	}
	l.mu.Unlock()
	for _, n := range numbers {
		l.replace(n)
	}
}
