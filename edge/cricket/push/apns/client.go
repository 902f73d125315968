package apns

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sideshow/apns2"
	"github.com/sideshow/apns2/token"
	"github.com/sony/gobreaker/v2"

	"github.com/touchline/touchline/internal/fault"
)

// The hosts of Apple. Tokens of one are garbage at the other.
const (
	HostProduction  = apns2.HostProduction
	HostDevelopment = apns2.HostDevelopment
)

// Our words where Apple gave none.
const (
	ReasonNoAnswer    = "NoAnswer"
	ReasonCircuitOpen = "CircuitOpen"
	ReasonNotApple    = "NotApple" // a 200 without apns-id: somebody else answered
	ReasonNoBearer    = "NoBearer"
	ReasonBadPayload  = "BadPayload" // not JSON: nothing was sent
)

// Config describes the way to Apple.
type Config struct {
	Host     string // https://..., required
	BundleID string // of the app; topics are made from it
	TeamID   string
	KeyID    string
	Key      *ecdsa.PrivateKey // of the .p8 file
	RootCAs  *x509.CertPool    // nil: the system's
	Tokens   TokenStore        // nil: the provider token is lost with the process
	Logger   *slog.Logger      // nil: silent

	Timeout      time.Duration     // of one push, real time; 10 s when zero
	Connections  int               // 1 when zero
	TripAfter    uint32            // failures in a row that open the circuit; 50 when zero
	TripDuration time.Duration     // how long it stays open, real time; 15 s when zero
	Transport    http.RoundTripper // nil: our own

	now func() time.Time // for the age of bearers
}

// Client sends pushes. It is safe for many goroutines and wants to live as long as the process.
type Client struct {
	bundle   string
	inner    apns2.Client
	http     *http.Client
	bearers  *bearers
	rules    classifier
	breaker  *gobreaker.CircuitBreaker[Result]
	stopping atomic.Bool // the last failure was Stop: open the circuit at once
}

// ParseKey reads the content of a .p8 file.
func ParseKey(pem []byte) (*ecdsa.PrivateKey, error) {
	key, err := token.AuthKeyFromBytes(pem)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "apns_key", "the APNs key is not a .p8 file with an elliptic curve key")
	}
	return key, nil
}

// New makes a client; it connects with its first push.
func New(cfg Config) (*Client, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	b, err := newBearers(&cfg)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "apns_key", "the APNs key cannot be used")
	}
	transport := cfg.Transport
	if transport == nil {
		transport = newTransport(&cfg)
	}
	c := &Client{
		bundle:  cfg.BundleID,
		bearers: b,
		rules:   newClassifier(),
		http: &http.Client{
			Transport:     &recorder{next: transport, now: cfg.now},
			Timeout:       cfg.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	c.inner = apns2.Client{Host: cfg.Host, HTTPClient: c.http}
	c.breaker = gobreaker.NewCircuitBreaker[Result](gobreaker.Settings{
		Name: "apns", Timeout: cfg.TripDuration,
		ReadyToTrip: func(n gobreaker.Counts) bool {
			return c.stopping.Load() || n.ConsecutiveFailures >= cfg.TripAfter
		},
		OnStateChange: func(_ string, from, to gobreaker.State) {
			cfg.Logger.Warn("push circuit", "from", from.String(), "to", to.String())
		},
		IsExcluded: func(err error) bool { return errors.Is(err, errCallerEnded) },
	})
	return c, nil
}

func (cfg *Config) complete() error {
	switch {
	case !strings.HasPrefix(cfg.Host, "https://"):
		return fault.New(fault.Invalid, "apns_host", "the APNs host %q is not an https address", cfg.Host)
	case cfg.BundleID == "" || cfg.TeamID == "" || cfg.KeyID == "" || cfg.Key == nil:
		return fault.New(fault.Invalid, "apns_key", "push needs bundle id, team id, key id and key together")
	}
	cfg.Host = strings.TrimRight(cfg.Host, "/")
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.now == nil {
		cfg.now = time.Now
	}
	cfg.Timeout = orDefault(cfg.Timeout, 10*time.Second)
	cfg.Connections = orDefault(cfg.Connections, 1)
	cfg.TripAfter = orDefault(cfg.TripAfter, 50)
	cfg.TripDuration = orDefault(cfg.TripDuration, 15*time.Second)
	return nil
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// What a push that failed tells the breaker.
var (
	errFailed      = errors.New("push failed")
	errCallerEnded = errors.New("the caller gave up")
)

// Send delivers one push and classifies the answer. It does not wait or try again, but for one case: a provider
// token that Apple calls expired is replaced and the push sent once more. It returns within Config.Timeout (twice
// that in the one case).
func (c *Client) Send(ctx context.Context, p Push) Result {
	var res Result
	_, err := c.breaker.Execute(func() (Result, error) {
		res = c.deliver(ctx, p)
		switch res.Action {
		case Retry, Reconnect:
			c.stopping.Store(false)
			if ended(ctx) {
				return res, errCallerEnded
			}
			return res, errFailed
		case Stop:
			c.stopping.Store(true)
			return res, errFailed
		default:
			c.stopping.Store(false)
			return res, nil
		}
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return Result{Action: Retry, Reason: ReasonCircuitOpen, Err: err}
	}
	return res
}

// State is the circuit's: closed, half-open or open.
func (c *Client) State() string { return c.breaker.State().String() }

// Close lets go of idle connections.
func (c *Client) Close() {
	if rec, ok := c.http.Transport.(*recorder); ok {
		if t, ok := rec.next.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}

func (c *Client) deliver(ctx context.Context, p Push) Result {
	b, err := c.bearers.get(ctx)
	if err != nil {
		return Result{Action: Stop, Alarm: true, Reason: ReasonNoBearer, Err: err}
	}
	res := c.once(ctx, p, b)
	switch res.Action {
	case RenewToken:
		return c.renewed(ctx, p, b, res)
	case KeepToken:
		c.bearers.revert(b)
	case Reconnect:
		c.Close()
	case Stop:
		if res.Reason == "UnrelatedKeyIdInToken" {
			c.Close() // the key of a team is bound to the connection
		}
	}
	return res
}

// renewed sends again under a new provider token, once.
func (c *Client) renewed(ctx context.Context, p Push, refused *Bearer, first Result) Result {
	stop := first
	stop.Action, stop.Alarm = Stop, true
	ok, err := c.bearers.renew(ctx, refused)
	if err != nil || !ok {
		stop.Err = err // a fresh token that Apple calls expired: one of the clocks is wrong
		return stop
	}
	b, err := c.bearers.get(ctx)
	if err != nil {
		stop.Err = err
		return stop
	}
	res := c.once(ctx, p, b)
	if res.Action == RenewToken {
		res.Action, res.Alarm = Stop, true
	}
	return res
}

// once is one request.
func (c *Client) once(ctx context.Context, p Push, b *Bearer) Result {
	if !validToken(p.Token) {
		return Result{Action: Suspend, Reason: "BadDeviceToken"}
	}
	x := &exchange{bearer: b.Token}
	answer, err := c.inner.PushWithContext(context.WithValue(ctx, exchangeKey{}, x), &apns2.Notification{
		ApnsID: p.ID, CollapseID: p.CollapseID, DeviceToken: p.Token, Topic: c.topic(p.Type),
		Expiration: p.Expiration, Priority: p.Priority, Payload: p.Payload, PushType: apns2.EPushType(p.Type),
	})
	if x.status == 0 {
		return noAnswer(err)
	}
	res := Result{Status: x.status, ID: x.id, RetryAfter: x.retryAfter}
	if err == nil {
		res.Reason = answer.Reason
		res.Gone = answer.Timestamp.UTC()
	}
	v := c.rules.classify(res.Status, res.Reason)
	if v.action == Accepted && res.ID == "" {
		return Result{Action: Retry, Alarm: true, Status: res.Status, Reason: ReasonNotApple}
	}
	res.Action, res.Alarm = v.action, v.alarm
	return res
}

func noAnswer(err error) Result {
	if _, ok := errors.AsType[*json.MarshalerError](err); ok {
		return Result{Action: Stop, Alarm: true, Reason: ReasonBadPayload, Err: err}
	}
	err = withoutURL(err)
	return Result{Action: Retry, Reason: ReasonNoAnswer, Maybe: !neverLeft(err), Err: err}
}

// validToken keeps everything but hex out of the path.
func validToken(token string) bool {
	for i := range len(token) {
		c := token[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return token != ""
}

func (c *Client) topic(t Type) string {
	if t == TypeLiveActivity {
		return c.bundle + ".push-type.liveactivity"
	}
	return c.bundle
}
