package sportmonks

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// Retries within a request are few and short, because the next poll is a retry too.
const (
	retries    = 3
	waitInside = 10 * time.Second // if more is asked for, the endpoint rests instead
)

// newHTTP configures the library's client. By default it would retry any failure, trust any Retry-After, sleep
// on the wall clock, wait for an answer without limit and log addresses with their query.
func (c *Client) newHTTP(timeout time.Duration, transport http.RoundTripper) *retryablehttp.Client {
	timeout = cmp.Or(timeout, 10*time.Second)
	if transport == nil {
		transport = newTransport(timeout)
	}
	return &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport: &withToken{next: transport, token: c.token},
			// A redirect is an answer like any other: following one would send the token to wherever it points.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       timeout, // per attempt, body included
		},
		RetryMax:     retries,
		CheckRetry:   checkRetry,
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 },
		PrepareRetry: waitForRetry,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

func newTransport(timeout time.Duration) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		ResponseHeaderTimeout:  timeout,
		MaxIdleConns:           8,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 5 * time.Second, PingTimeout: 5 * time.Second},
	}
}

// withToken adds the token to the address in the last step before sending, so that nothing above it, including
// the library's errors and logs, ever sees the token. It also charges every attempt to the budget.
type withToken struct {
	next  http.RoundTripper
	token string
}

// RoundTrip implements http.RoundTripper.
func (t *withToken) RoundTrip(req *http.Request) (*http.Response, error) {
	f := fetchOf(req.Context())
	if err := f.endpoint.spend(f.reserved); err != nil {
		return nil, err
	}
	sent := req.Clone(req.Context())
	q := sent.URL.RawQuery
	if q != "" {
		q += "&"
	}
	sent.URL.RawQuery = q + "api_token=" + url.QueryEscape(t.token)
	resp, err := t.next.RoundTrip(sent)
	if err == nil {
		f.client.oddities.status(resp.StatusCode)
	}
	return resp, err
}

// CloseIdleConnections is called by http.Client.
func (t *withToken) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func fetchOf(ctx context.Context) *fetch {
	f, _ := ctx.Value(fetchKey{}).(*fetch)
	return f
}

// checkRetry decides after each attempt and sets the wait for waitForRetry. The library calls it again with the
// error of the response handler. This package only sends GET, so every request may be repeated.
func checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	f := fetchOf(ctx)
	if ctx.Err() != nil {
		return false, f.interruptedError(context.Cause(ctx))
	}
	if err != nil {
		_, own := errors.AsType[*Error](err)
		if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); own || untrusted { // the next attempt would fail in the same way
			return false, err
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			f.client.oddities.count(OddTruncated)
		}
		return f.again(f.client.foreign(f.endpoint.name, err), 0), nil
	}
	f.endpoint.recordLimits(resp)
	told := statusError(f.endpoint.name, resp.StatusCode)
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return f.again(told, f.endpoint.throttle(resp)), nil
	case http.StatusServiceUnavailable:
		wait, _ := retryAfter(resp.Header, f.client.clock.Wall())
		return f.again(told, wait), nil
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return f.again(told, 0), nil
	}
	return false, nil
}

// again schedules the next attempt after the requested wait plus jitter: clients that were given the same second
// must not all return in it. If the wait is too long for a request, the endpoint rests instead.
func (f *fetch) again(why *Error, asked time.Duration) bool {
	c := f.client
	f.last = why
	usual := backoff.Policy{Base: 500 * time.Millisecond, Max: 8 * time.Second, Floor: 250 * time.Millisecond}
	f.wait = asked + usual.Delay(f.tries, c.random())
	f.tries++
	if asked > waitInside {
		f.endpoint.rest(c.clock.Now().Add(asked), why)
		f.final = why
		return false
	}
	if f.endpoint.affordable(f.reserved) != nil {
		f.final = why // what the feed said explains more than the exhausted budget
		return false
	}
	c.log.Debug("retrying the feed", "endpoint", string(why.Endpoint), "status", why.Status,
		"code", why.Fault.Code, "wait", f.wait, "try", f.tries)
	return true
}

// waitForRetry waits between attempts, on the injected clock.
func waitForRetry(req *http.Request) error {
	f := fetchOf(req.Context())
	if err := clock.Sleep(req.Context(), f.client.clock, f.wait); err != nil {
		return f.interruptedError(err)
	}
	return nil
}

// interruptedError returns the error when the caller's context ends; it includes what the feed said last.
func (f *fetch) interruptedError(cause error) error {
	e := &Error{Endpoint: f.endpoint.name}
	said := "no answer in time"
	if f.last != nil {
		e.Status = f.last.Status
		said = "no answer in time, the last attempt: " + f.last.Fault.Message
	}
	e.Fault = fault.Wrap(cause, fault.Unavailable, CodeUnavailable, "%s", said)
	return e
}
