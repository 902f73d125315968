package apns

import (
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// bodyLimit bounds the answer that is read: Apple's are under a hundred bytes.
const bodyLimit = 4 << 10

// exchange is what one request carries to the transport and what the transport saw: apns2 knows neither a bearer
// of ours nor, when the body of an answer is not JSON, its status.
type exchange struct {
	bearer     string
	line       uint64
	status     int
	id         string
	channel    string
	retryAfter time.Duration
	limit      int64 // of the answer's body; 0: bodyLimit
}

func (x *exchange) result() Result {
	return Result{Status: x.status, ID: x.id, RetryAfter: x.retryAfter, line: x.line}
}

type exchangeKey struct{}

// lines are the connections to Apple: the one in use, and those that were given up with requests still on them.
type lines struct {
	make func() http.RoundTripper

	mu      sync.Mutex
	number  uint64
	current http.RoundTripper
	old     []http.RoundTripper
}

func newLines(cfg *Config) *lines {
	l := &lines{make: func() http.RoundTripper { return newTransport(cfg) }}
	if cfg.Transport != nil {
		l.make = func() http.RoundTripper { return cfg.Transport }
	}
	l.current = l.make()
	return l
}

func (l *lines) get() (number uint64, rt http.RoundTripper) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.number, l.current
}

// replace gives a connection up; what is still on it may end there. Many answers ask for it at once: it is done for
// the first of them.
func (l *lines) replace(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number != l.number {
		return
	}
	l.number++
	l.old = append(l.old, l.current)
	l.current = l.make()
	l.sweep()
}

// sweep closes what is idle of the connections that were given up. Called with the lock held. All but the last ones
// have nothing on them any more: a request takes seconds, and a new connection is asked for once in a while.
func (l *lines) sweep() {
	for _, rt := range l.old {
		closeIdle(rt)
	}
	const kept = 4
	l.old = slices.Delete(l.old, 0, max(0, len(l.old)-kept))
}

// release closes a connection that was given up once the last request on it has ended.
func (l *lines) release(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number != l.number {
		l.sweep()
	}
}

func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	closeIdle(l.current)
	l.sweep()
}

func closeIdle(rt http.RoundTripper) {
	if t, ok := rt.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// recorder is the transport below apns2.
type recorder struct {
	lines *lines
	now   func() time.Time
}

// RoundTrip adds the bearer and remembers the head of the answer.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	line, next := r.lines.get()
	if x == nil {
		return next.RoundTrip(req)
	}
	x.line = line
	// A round tripper leaves the request it was given alone: the bearer goes into a copy.
	out := *req
	out.Header = make(http.Header, len(req.Header)+1)
	maps.Copy(out.Header, req.Header)
	out.Header["Authorization"] = []string{"bearer " + x.bearer}
	res, err := next.RoundTrip(&out)
	if err != nil {
		return nil, err
	}
	x.status = res.StatusCode
	if x.id = res.Header.Get("Apns-Id"); x.id == "" {
		x.id = res.Header.Get("Apns-Request-Id") // of broadcasts
	}
	x.channel = res.Header.Get("Apns-Channel-Id")
	x.retryAfter = retryAfter(res.Header.Get("Retry-After"), r.now())
	res.Body = limited{io.LimitReader(res.Body, max(x.limit, bodyLimit)), answerEnd{res.Body, r.lines, line}}
	return res, nil
}

// answerEnd is the end of an answer that was read.
type answerEnd struct {
	io.Closer
	lines *lines
	line  uint64
}

// Close ends the answer, and the connection with it if it was the last one on a connection given up.
func (e answerEnd) Close() error {
	err := e.Closer.Close()
	if number, _ := e.lines.get(); number != e.line {
		e.lines.release(e.line)
	}
	return err
}

type limited struct {
	io.Reader
	io.Closer
}

// retryAfter reads seconds or a date; what is neither, or past, is nothing.
func retryAfter(value string, now time.Time) time.Duration {
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// newTransport makes the one connection: HTTP/2, pinged when idle, never a second one beside it. Apple takes
// connections that are quickly opened and closed for an attack.
func newTransport(cfg *Config) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs},
		TLSHandshakeTimeout: 5 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxConnsPerHost:     cfg.Connections,
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: 30 * time.Second, PingTimeout: 10 * time.Second,
			StrictMaxConcurrentRequests: true,
		},
	}
}

// withoutURL takes the address, which holds the device token, out of an error of net/http.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// neverLeft tells errors that came before the request was on its way: what failed while dialling cannot have
// reached a phone.
func neverLeft(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	return false
}
