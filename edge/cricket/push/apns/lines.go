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
	patienceUsual = 2 * time.Second       // nobody got a stream for so long: the connection is given up
	lingering     = 5 * time.Millisecond  // until streams that have ended are looked for again
	retiring      = 50 * time.Millisecond // the same on a connection that was given up
)

// lines are the connections to Apple, one to a host. A request waits here until the connection may have another
// stream, as Apple's SETTINGS say at that moment: one before it has seen a valid provider token, a thousand later, one
// again after a refusal. (net/http's own queue counts reservations as streams, and locks up where there are more of them
// than the limit allows.)
type lines struct {
	dial  func(ctx context.Context, host string) (*http.ClientConn, error)
	plain http.RoundTripper // in place of all this, for a caller that brings its own transport

	patience time.Duration // with a connection that gives nobody a stream

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
	looking bool         // soon, whether there is room
	waiting []chan error // requests that want a stream, the oldest first
	got     time.Time    // when one was had last
}

func newLines(cfg *Config) *lines {
	t := newTransport(cfg)
	return &lines{
		plain:    cfg.Transport,
		patience: patienceUsual,
		hosts:    map[string]*line{},
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
	t.lines.changed(t.host, t.number)
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

// unprocessed tells failures of which HTTP/2 says that the other side did nothing: a stream it refused, and one beyond
// the last that a GOAWAY names.
func unprocessed(err error) bool {
	if reset, ok := errors.AsType[streamError](err); ok {
		return reset.Code == refusedStream
	}
	return slices.Contains([]string{wordsGoAway, wordsUnusable, wordsNotEstablished}, err.Error())
}

// acquire gives a place on the connection to a host, when there is one.
func (l *lines) acquire(ctx context.Context, host string) (ticket, error) {
	for {
		t, turn := l.ask(host)
		if turn == nil {
			return t, nil
		}
		if err := l.wait(ctx, host, turn); err != nil {
			return ticket{}, err
		}
	}
}

// ask gives a place on the connection to a host, or one in the queue. A connection that is over or stalled is given up, and
// where there is none one is dialled, by one request for all.
func (l *lines) ask(host string) (t ticket, turn chan error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.hosts[host]
	if ln == nil {
		ln = &line{}
		l.hosts[host] = ln
	}
	if ln.conn != nil {
		free, over := ln.room()
		if free > 0 {
			ln.under++
			ln.got = time.Now()
			return ticket{l, host, ln.number, ln.conn}, nil
		}
		if over || time.Since(ln.got) >= l.patience {
			ln.giveUp()
		}
	}
	turn = make(chan error, 1)
	ln.waiting = append(ln.waiting, turn)
	if ln.conn != nil {
		l.lookAgain(host, ln)
	} else if !ln.dialing {
		ln.dialing = true
		go l.connect(host)
	}
	return ticket{}, turn
}

// room tells how many requests more the connection may have now, and whether it is over: it has none and takes none. The
// lock is held, so that none begins that is not counted as under way.
func (ln *line) room() (free int, over bool) {
	open, free := ln.conn.InFlight(), ln.conn.Available()
	if ln.conn.Err() != nil || open == 0 && free == 0 && ln.under == 0 {
		return 0, true
	}
	if free == 0 {
		return 0, false
	}
	return max(0, open+free-ln.under), false
}

// lookAgain has somebody look whether there is room, where net/http still counts streams whose places were given back. It
// tells when they are gone, but not always: its hook is not called for a state that is again as it was at the last call.
func (l *lines) lookAgain(host string, ln *line) {
	if ln.looking || ln.conn.InFlight() <= ln.under {
		return
	}
	ln.looking = true
	number := ln.number
	time.AfterFunc(lingering, func() {
		l.mu.Lock()
		ln.looking = false
		l.mu.Unlock()
		l.changed(host, number)
	})
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
		conn.SetStateHook(func(*http.ClientConn) { l.changed(host, number) })
	}
	for _, w := range waiting {
		w <- err
	}
}

// changed is called when a place is given back, when a stream has ended, when the limit has changed, and when the connection
// has ended.
func (l *lines) changed(host string, number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.hosts[host]
	if ln.number != number || ln.conn == nil || len(ln.waiting) == 0 {
		return
	}
	free, over := ln.room()
	if over {
		free = len(ln.waiting)
	}
	ln.wake(free)
	l.lookAgain(host, ln)
}

// wake lets the oldest requests in the queue ask again.
func (ln *line) wake(n int) {
	n = min(n, len(ln.waiting))
	for _, turn := range ln.waiting[:n] {
		turn <- nil
	}
	ln.waiting = ln.waiting[n:]
}

// giveUp lets a connection go; what is still on it may end there.
func (ln *line) giveUp() {
	old := ln.conn
	ln.conn = nil
	ln.wake(len(ln.waiting))
	time.AfterFunc(0, func() { retire(old) }) // whose hook wants the lock
}

// retire closes a connection when nothing is on it.
func retire(conn *http.ClientConn) {
	if conn.Err() == nil && conn.InFlight() > 0 {
		time.AfterFunc(retiring, func() { retire(conn) })
		return
	}
	_ = conn.Close()
}

// wait waits for a turn, for the connection to count as stalled, or for the request to be given up.
func (l *lines) wait(ctx context.Context, host string, turn chan error) error {
	t := time.NewTimer(l.patience)
	defer t.Stop()
	select {
	case err := <-turn:
		return err
	case <-t.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.hosts[host]
	if !ln.dequeue(turn) && ctx.Err() != nil {
		ln.wake(1) // its turn goes to the next
	}
	return context.Cause(ctx)
}

// dequeue takes a request out of the queue; false if its turn has come meanwhile.
func (ln *line) dequeue(turn chan error) bool {
	i := slices.Index(ln.waiting, turn)
	if i >= 0 {
		ln.waiting = slices.Delete(ln.waiting, i, i+1)
	}
	return i >= 0
}

// replace gives a connection up. Many answers ask for it at once: it is done for the first of them.
func (l *lines) replace(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ln := range l.hosts {
		if ln.number == number && ln.conn != nil {
			ln.giveUp()
		}
	}
}

// close gives all connections up.
func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ln := range l.hosts {
		if ln.conn != nil {
			ln.giveUp()
		}
	}
}
