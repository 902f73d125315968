package dynamo

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/sync/lease"
)

// transport is the SDK's HTTP client. It sends a request once, records whether any byte of it can have arrived, and rejects
// answers that are not DynamoDB's.
type transport struct {
	client   *http.Client
	times    lease.Times
	skew     *skew
	official bool // AWS's own endpoint, which sends a request id with every answer

	mu       sync.Mutex
	answered time.Duration // boot time of the latest answer

	checked time.Duration // boot time of the last check of the machine's addresses
	home    string        // the addresses found then
	homes   func() string
}

func newTransport(cfg Config, tlsConfig *tls.Config) *transport {
	return &transport{
		client: newHTTP(cfg, tlsConfig), times: cfg.Times, skew: newSkew(cfg.Times),
		homes: addresses, home: addresses(), checked: cfg.Times.Now().Boot,
	}
}

// exchange records what the SDK's error hides about one request.
type exchange struct {
	mu       sync.Mutex
	uses     []use
	asked    bool // whether the SDK got as far as sending it
	stranger error
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return new(exchange)
}

func (x *exchange) useConn(c net.Conn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.uses = append(x.uses, useOf(c))
}

// mayBeSent reports whether any byte of the request may have left.
func (x *exchange) mayBeSent() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.uses, use.hasWritten)
}

// Do implements the SDK's HTTPClient.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	t.notice()
	x := exchangeOf(req.Context())
	x.asked = true
	trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { x.useConn(i.Conn) }}
	sent := t.times.Now()
	//nolint:gosec // the URL is the configured endpoint
	resp, err := t.client.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		if !t.answeredSince(sent.Boot) { // the other idle connections may use the same dead route
			t.reset()
		}
		return nil, err
	}
	defer resp.Body.Close()
	received := t.times.Now()
	if err := t.believe(resp); err != nil {
		t.reset()
		x.stranger = err
		return nil, err
	}
	if err := whole(resp); err != nil {
		return nil, err
	}
	t.noteAnswer(received.Boot)
	t.skew.observe(resp.Header.Get("Date"), sent, received)
	return resp, nil
}

// maxBody is above any real answer: DynamoDB's answers stop at 16 MB of items.
const maxBody = 64 << 20

// whole reads an answer to its end and verifies its checksum. The SDK compares checksums too late: only when it closes the body, after
// it has used it, and then it merely logs a line.
func whole(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return err
	}
	if len(body) > maxBody {
		return fmt.Errorf("the answer exceeds %d bytes", maxBody)
	}
	if want := resp.Header.Get("X-Amz-Crc32"); want != "" && want != strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10) {
		return errors.New("the answer's checksum is wrong: it was changed in transit")
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// noteAnswer records when the server answered.
func (t *transport) noteAnswer(at time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answered = max(t.answered, at)
}

// answeredSince reports whether the server has answered anything since then. If it has, the route is not dead: the line has lost one answer.
func (t *transport) answeredSince(at time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.answered > at
}

func (t *transport) reset() { t.client.CloseIdleConnections() }

// checkEvery is the minimum time between checks of the machine's addresses; sending a request triggers them.
const checkEvery = 2 * time.Second

// notice closes idle connections after this machine has moved to another network.
func (t *transport) notice() {
	now := t.times.Now().Boot
	t.mu.Lock()
	defer t.mu.Unlock()
	if now-t.checked < checkEvery {
		return
	}
	t.checked = now
	if home := t.homes(); home != t.home {
		t.home = home
		t.reset()
	}
}

// addresses returns the machine's network addresses, or "" if they cannot be read.
func addresses() string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = a.String()
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}

var errStranger = errors.New("something other than DynamoDB answered")

// believe rejects the answers of captive portals, proxies and routers. It passes server errors on in any form: a load balancer may
// have made them, and they prove nothing.
func (t *transport) believe(resp *http.Response) error {
	kind := resp.Header.Get("Content-Type")
	ours := strings.HasPrefix(kind, "application/x-amz-json") || strings.HasPrefix(kind, "application/json")
	switch {
	case resp.StatusCode >= 500 && resp.StatusCode != http.StatusNetworkAuthenticationRequired:
		return nil
	case !ours:
		return fmt.Errorf("%w: status %d, content type %.60q", errStranger, resp.StatusCode, kind)
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return fmt.Errorf("%w: a redirect, status %d", errStranger, resp.StatusCode)
	case t.official && resp.Header.Get("X-Amzn-Requestid") == "":
		return fmt.Errorf("%w: status %d without a request id", errStranger, resp.StatusCode)
	}
	return nil
}
