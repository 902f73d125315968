package apns

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// bodyLimit bounds the answer that is read: Apple's are under a hundred bytes.
const bodyLimit = 4 << 10

// exchange is what one request carries to the transport and what the transport saw: apns2 knows neither a bearer
// of ours nor, when the body of an answer is not JSON, its status.
type exchange struct {
	bearer     string
	status     int
	id         string
	retryAfter time.Duration
}

type exchangeKey struct{}

// recorder is the transport below apns2.
type recorder struct {
	next http.RoundTripper
	now  func() time.Time
}

// RoundTrip adds the bearer and remembers the head of the answer.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		return r.next.RoundTrip(req)
	}
	// A round tripper leaves the request it was given alone: the bearer goes into a copy.
	out := *req
	out.Header = make(http.Header, len(req.Header)+1)
	maps.Copy(out.Header, req.Header)
	out.Header["Authorization"] = []string{"bearer " + x.bearer}
	res, err := r.next.RoundTrip(&out)
	if err != nil {
		return nil, err
	}
	x.status = res.StatusCode
	x.id = res.Header.Get("Apns-Id")
	x.retryAfter = retryAfter(res.Header.Get("Retry-After"), r.now())
	res.Body = limited{io.LimitReader(res.Body, bodyLimit), res.Body}
	return res, nil
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

// ended tells that the caller gave up, not Apple.
func ended(ctx context.Context) bool { return ctx.Err() != nil }
