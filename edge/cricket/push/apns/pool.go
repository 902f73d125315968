package apns

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of a connection.
const (
	dialWithin = 10 * time.Second
	dialGap    = 100 * time.Millisecond // between two attempts to dial
)

// pool holds the connections to Apple, one per host. net/http makes a request wait until its connection may have another
// stream, as Apple's SETTINGS allow at that moment: one until it has seen a valid provider token, then a thousand, and one
// again after a refusal.
type pool struct {
	transport *http.Transport // dials

	mu     sync.Mutex
	conns  map[string]*connection // by host
	dialed time.Time              // when the last attempt to dial ended
}

// connection is one connection to a host.
type connection struct {
	*http.ClientConn // nil: not dialled yet, or in vain
	failed           error

	pool    *pool
	gate    chan struct{} // its element is for the request that goes first; closed once one was answered, or the dialling failed
	answers atomic.Int64
	under   int  // requests on it or waiting for it, and its dialling
	over    bool // given up: closed when nothing is under way on it
}

func newPool(cfg *Config) *pool {
	return &pool{transport: newTransport(cfg), conns: map[string]*connection{}}
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

// roundTrip sends a request on the connection to its host. A request that certainly was not processed is sent again. The
// caller must return the connection after reading the answer; in case of an error it has been returned.
func (l *pool) roundTrip(req *http.Request) (res *http.Response, c *connection, err error) {
	const tries = 3
	for range tries {
		var answers int64
		c, answers = l.connectionTo(req.URL.Host)
		sent, body := again(req)
		if res, err = c.send(sent); err == nil {
			return res, c, nil
		}
		left, ended := body.seal() && !isUnprocessed(err), req.Context().Err()
		// It had no stream in all its time, and no other request got an answer: the connection gives no streams.
		stalled := errors.Is(ended, context.DeadlineExceeded) && c.answers.Load() == answers
		if !left && !isStreamRefused(err) && (ended == nil || stalled) {
			l.replace(c)
		}
		c.endUse()
		if left {
			return nil, c, err
		}
		err = fmt.Errorf("%w: %w", errNeverLeft, err)
		if ended != nil || c.failed != nil {
			break
		}
	}
	return nil, c, err
}

// connectionTo returns the connection to a host, which may have to be dialled yet, and the number of answers until now. The caller must return it.
func (l *pool) connectionTo(host string) (c *connection, answers int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c = l.conns[host]
	if c == nil || c.failed != nil || c.ClientConn != nil && c.Err() != nil {
		c = &connection{pool: l, gate: make(chan struct{}, 1), under: 1}
		l.conns[host] = c
		time.AfterFunc(time.Until(l.dialed.Add(dialGap)), func() { l.connect(host, c) })
	}
	c.under++
	return c, c.answers.Load()
}

// connect dials. Its goroutine ends with the dialling, which is bounded.
func (l *pool) connect(host string, c *connection) {
	ctx, cancel := context.WithTimeout(context.Background(), dialWithin)
	defer cancel()
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(host, "443")
	}
	conn, err := l.transport.NewClientConn(ctx, "https", host)
	l.mu.Lock()
	c.ClientConn, c.failed, l.dialed = conn, err, time.Now()
	l.mu.Unlock()
	if err != nil {
		close(c.gate)
	} else {
		c.gate <- struct{}{}
	}
	c.endUse()
}

// send sends a request, which waits for a stream. Until one was answered there is only one: before net/http knows the limits
// it assumes a hundred.
func (c *connection) send(req *http.Request) (*http.Response, error) {
	var first bool
	select {
	case _, first = <-c.gate:
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
	if c.failed != nil {
		return nil, c.failed
	}
	res, err := c.RoundTrip(req)
	switch {
	case err != nil && first:
		c.gate <- struct{}{}
	case first:
		close(c.gate)
	}
	if err == nil {
		c.answers.Add(1)
	}
	return res, err
}

// endUse ends a use of the connection.
func (c *connection) endUse() {
	c.pool.mu.Lock()
	c.under--
	unused := c.over && c.under == 0
	c.pool.mu.Unlock()
	if unused && c.ClientConn != nil {
		_ = c.Close()
	}
}

// replace gives up a connection; requests on it may still finish. Many answers may ask for it: only the first has an effect.
func (l *pool) replace(c *connection) {
	if c == nil {
		return
	}
	l.mu.Lock()
	c.over = true
	c.under++
	maps.DeleteFunc(l.conns, func(_ string, current *connection) bool { return current == c })
	l.mu.Unlock()
	c.endUse()
}

// close gives up all connections.
func (l *pool) close() {
	l.mu.Lock()
	all := slices.Collect(maps.Values(l.conns))
	l.mu.Unlock()
	for _, c := range all {
		l.replace(c)
	}
}

// body is the body of a request. One of which nothing was read has not left.
type body struct {
	io.ReadCloser

	mu     sync.Mutex
	read   bool
	sealed bool
}

// again returns a copy of a request, to be sent, with a body of its own. Requests without one may always be sent again.
func again(req *http.Request) (*http.Request, *body) {
	out, b := *req, &body{}
	if req.ContentLength > 0 {
		b.ReadCloser, _ = req.GetBody() // of bytes: cannot fail
		out.Body = b
	}
	return &out, b
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sealed {
		return 0, errNeverLeft
	}
	b.read = true
	return b.ReadCloser.Read(p)
}

// seal ends the reading, and reports whether it had begun.
func (b *body) seal() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sealed = true
	return b.read
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

// wordsGoAway is net/http's text for a stream excluded by a GOAWAY. It exports no such error; TestGoAwayInACrowd pins the text.
const wordsGoAway = "http2: Transport received Server's graceful shutdown GOAWAY"

// isUnprocessed reports whether the server has certainly not processed a request that left: its stream was refused, or was
// beyond the last one that a GOAWAY names.
func isUnprocessed(err error) bool { return isStreamRefused(err) || err.Error() == wordsGoAway }

// isStreamRefused reports whether a stream exceeded the limit of a connection that is otherwise intact.
func isStreamRefused(err error) bool {
	reset, ok := errors.AsType[streamError](err)
	return ok && reset.Code == refusedStream
}
