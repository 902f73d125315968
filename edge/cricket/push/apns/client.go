package apns

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/sideshow/apns2"
	"github.com/sideshow/apns2/token"

	"github.com/touchline/touchline/internal/fault"
)

// Apple's hosts. Tokens of one are not valid at the other.
const (
	HostProduction  = apns2.HostProduction
	HostDevelopment = apns2.HostDevelopment
)

// Our reasons where Apple gave none.
const (
	ReasonNoAnswer    = "NoAnswer"
	ReasonCircuitOpen = "CircuitOpen" // not sent: pushes are held back
	ReasonNotApple    = "NotApple"    // a 200 without apns-id: something else answered
	ReasonNoBearer    = "NoBearer"
	ReasonBadPayload  = "BadPayload" // not JSON: not sent
)

const reasonBadToken = "BadDeviceToken"

// Config configures a Client.
type Config struct {
	Host     string // https://..., required
	BundleID string // of the app; topics are derived from it
	TeamID   string
	KeyID    string
	Key      *ecdsa.PrivateKey // of the .p8 file
	RootCAs  *x509.CertPool    // nil: the system's
	Tokens   TokenStore        // nil: the provider token is lost with the process
	Fleet    bool              // other machines push with the same key: provider tokens use common dates
	Logger   *slog.Logger      // nil: silent

	DevelopmentHost string // https://..., for the tokens of apps in development, beside Host; empty: none

	ManageHost string // https://..., for broadcast channels; empty: the one that belongs to Host

	Timeout time.Duration // of one push, real time; 0: 10 s

	now func() time.Time // for the age of bearers
}

// Client sends pushes. It is safe for concurrent use and should live as long as the process.
type Client struct {
	bundle       string
	host, manage string
	inner        apns2.Client
	development  apns2.Client // for the other host
	http         *http.Client
	pool         *pool
	bearers      *bearers
	rules        classifier
	timeout      time.Duration
}

// ParseKey parses the content of a .p8 file.
func ParseKey(pem []byte) (*ecdsa.PrivateKey, error) {
	key, err := token.AuthKeyFromBytes(pem)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "apns_key", "the APNs key is not a .p8 file with an elliptic curve key")
	}
	if key.Curve != elliptic.P256() {
		return nil, fault.New(fault.Invalid, "apns_key", "the APNs key is on the curve %s: Apple's keys are on P-256", key.Curve.Params().Name)
	}
	return key, nil
}

// New returns a client; it connects with its first push.
func New(cfg Config) (*Client, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	b, err := newBearers(&cfg)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "apns_key", "the APNs key cannot be used")
	}
	c := &Client{
		bundle:  cfg.BundleID,
		host:    cfg.Host,
		manage:  cfg.ManageHost,
		pool:    newPool(&cfg),
		bearers: b,
		rules:   newClassifier(),
		timeout: cfg.Timeout,
	}
	c.http = &http.Client{
		Transport:     &recorder{pool: c.pool, now: cfg.now},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.inner = apns2.Client{Host: cfg.Host, HTTPClient: c.http}
	c.development = apns2.Client{Host: cmp.Or(cfg.DevelopmentHost, cfg.Host), HTTPClient: c.http}
	return c, nil
}

func (cfg *Config) complete() error {
	switch {
	case !strings.HasPrefix(cfg.Host, "https://"):
		return fault.New(fault.Invalid, "apns_host", "the APNs host %q is not an https address", cfg.Host)
	case cfg.BundleID == "" || cfg.TeamID == "" || cfg.KeyID == "" || cfg.Key == nil:
		return fault.New(fault.Invalid, "apns_key", "push needs bundle id, team id, key id and key together")
	}
	cfg.Host, cfg.DevelopmentHost = strings.TrimRight(cfg.Host, "/"), strings.TrimRight(cfg.DevelopmentHost, "/")
	if cfg.DevelopmentHost != "" && !strings.HasPrefix(cfg.DevelopmentHost, "https://") {
		return fault.New(fault.Invalid, "apns_host", "the APNs development host %q is not an https address", cfg.DevelopmentHost)
	}
	cfg.ManageHost = strings.TrimRight(cmp.Or(cfg.ManageHost, manageHost(cfg.Host)), "/")
	if !strings.HasPrefix(cfg.ManageHost, "https://") {
		return fault.New(fault.Invalid, "apns_host", "the APNs management host %q is not an https address", cfg.ManageHost)
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.now == nil {
		cfg.now = time.Now
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	return nil
}

// Send delivers one push and classifies the answer. It neither waits nor retries, except that it replaces a provider token
// that Apple calls expired and sends the push once more. It returns within Config.Timeout, or twice that in the exceptional
// case.
func (c *Client) Send(ctx context.Context, p Push) Result {
	if p.Channel != "" {
		return c.authorized(ctx, func(b *Bearer) Result { return c.broadcast(ctx, p, b) })
	}
	if !validToken(p.Token) {
		return Result{Action: Suspend, Reason: reasonBadToken}
	}
	return c.authorized(ctx, func(b *Bearer) Result { return c.once(ctx, p, b) })
}

// Close closes idle connections.
func (c *Client) Close() { c.pool.close() }

// authorized makes a request with the provider token, and does what the answer requires for token and connection.
func (c *Client) authorized(ctx context.Context, once func(*Bearer) Result) Result {
	b, err := c.bearers.get(ctx)
	if err != nil {
		// No token may be created for a while, or none can be.
		return Result{Action: Stop, Alarm: true, Reason: ReasonNoBearer, RetryAfter: c.bearers.held(), Err: err}
	}
	res := once(b)
	switch res.Action {
	case RenewToken:
		return c.renewed(ctx, once, b, res)
	case KeepToken:
		if wait := c.bearers.revert(ctx, b); wait > 0 {
			res.Action, res.RetryAfter = Stop, wait
		}
	case Reconnect:
		c.pool.replace(res.conn)
	case Stop:
		if res.Reason == "UnrelatedKeyIdInToken" {
			c.pool.replace(res.conn) // a team's key is bound to the connection
		}
	}
	return res
}

// renewed repeats a request once with a new provider token.
func (c *Client) renewed(ctx context.Context, once func(*Bearer) Result, refused *Bearer, first Result) Result {
	stop := first
	stop.Action, stop.Alarm = Stop, true
	ok, err := c.bearers.renew(ctx, refused)
	if err != nil || !ok {
		stop.Err = err // Apple calls a fresh token expired: one of the clocks is wrong
		return stop
	}
	b, err := c.bearers.get(ctx)
	if err != nil {
		stop.Err = err
		return stop
	}
	res := once(b)
	if res.Action == RenewToken {
		res.Action, res.Alarm = Stop, true
	}
	return res
}

// once makes one request for a device.
func (c *Client) once(ctx context.Context, p Push, b *Bearer) Result {
	ctx, cancel := context.WithTimeout(ctx, c.timeout) // the client's own timeout would cost two goroutines per push
	defer cancel()
	x := &exchange{bearer: b.Token}
	host := &c.inner
	if p.Development {
		host = &c.development
	}
	answer, err := host.PushWithContext(context.WithValue(ctx, exchangeKey{}, x), &apns2.Notification{
		ApnsID: p.ID, CollapseID: p.CollapseID, DeviceToken: p.Token, Topic: c.topic(p.Type),
		Expiration: p.Expiration, Priority: p.Priority, Payload: p.Payload, PushType: apns2.EPushType(p.Type),
	})
	if x.status == 0 {
		return noAnswer(err, x.conn)
	}
	res := x.result()
	if err == nil {
		res.Reason = answer.Reason
		res.Gone = answer.Timestamp.UTC()
	}
	return c.classified(res)
}

// classified adds the action that an answer requires.
func (c *Client) classified(res Result) Result {
	v := c.rules.classify(res.Status, res.Reason)
	if v.action == Accepted && res.ID == "" {
		res.Action, res.Alarm, res.Reason = Retry, true, ReasonNotApple
		return res
	}
	res.Action, res.Alarm = v.action, v.alarm
	return res
}

func noAnswer(err error, conn *connection) Result {
	if _, ok := errors.AsType[*json.MarshalerError](err); ok {
		return Result{Action: Stop, Alarm: true, Reason: ReasonBadPayload, Err: err}
	}
	err = withoutURL(err)
	return Result{Action: Retry, Reason: ReasonNoAnswer, Maybe: !errors.Is(err, errNeverLeft), Err: err, conn: conn}
}

// validToken reports whether token is hexadecimal, because it becomes part of a path.
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
