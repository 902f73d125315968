// Package sportmonks reads the SportMonks Cricket API v2.0: a client that spares the feed and its own node, and
// the decoding of its JSON into cricket.Snapshot.
//
// A Client never follows redirects, waits only on the injected clock, never exposes the token, and trusts no
// reply: bodies are capped, HTML and broken JSON are errors of their own kind, and a match that cannot be
// decoded does not affect the others. A poller paces itself by Error.Until and Budget.
//
// Every attempt is charged to its endpoint's hourly budget before it is sent; the last tenth is reserved for
// reads marked Final. Health, Budgets, Oddities and Collector show the state of the feed.
package sportmonks

import (
	"cmp"
	"context"
	"hash/maphash"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// DefaultBaseURL is the feed's own address.
const DefaultBaseURL = "https://cricket.sportmonks.com/api/v2.0"

// Config configures a Client. Only Token is required.
type Config struct {
	BaseURL string         // default DefaultBaseURL; https, or http to a loopback address
	Token   string         // the api_token
	Clock   clock.Clock    // default clock.Real(); for waits and ages, while HTTP deadlines use real time
	Timeout time.Duration  // per attempt, headers and body, real time; default 10 s
	MaxBody int64          // bytes after decompression; default 16 MB
	Logger  *slog.Logger   // retries at debug level, unknown values as warnings, once each; default none
	Random  func() float64 // in [0,1), for jitter; default math/rand/v2

	// CallsPerHour is the plan's limit per endpoint, until the feed reports another; default DefaultCallsPerHour.
	CallsPerHour int
	// Transport sends the requests; nil: the network. A feed in the same process supplies its own.
	Transport http.RoundTripper
}

// Reading is an answer of the feed.
type Reading struct {
	// Snapshots are shared with later readings and must not be changed.
	Snapshots []cricket.Snapshot
	// Unchanged reports that the body equals the last one of the same request, by a 304 or byte by byte. It was not
	// decoded again: Snapshots are the previous ones, with the ReadAt of their own reading.
	Unchanged bool
	// At is when the answer came, by Now of the client's clock.
	At time.Time
	// Skew is the feed's clock minus ours, from the Date header; 0 if they agree within its precision of whole
	// seconds. The age of anything the feed has stamped is ReadAt + Skew - updated_at.
	Skew time.Duration
	// Skipped are the errors of matches in a list that could not be decoded.
	Skipped []error
}

// Client reads the feed with one token. It is safe for concurrent use. Create one per upstream: a failure closes
// the idle connections of its transport.
type Client struct {
	base      *url.URL
	token     string
	clock     clock.Clock
	maxBody   int64
	log       *slog.Logger
	random    func() float64
	http      *retryablehttp.Client
	endpoints map[Endpoint]*endpoint
	scores    *scores
	seed      maphash.Seed
	memories  *memories
	bodies    *bodies
	oddities  *oddities
}

// New returns a Client after checking the configuration. It does no I/O.
func New(cfg Config) (*Client, error) {
	base, err := parseBase(cmp.Or(cfg.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(cfg.Token) == "" {
		return nil, invalid(CodeConfig, "the feed needs a token")
	}
	if cfg.Timeout < 0 || cfg.MaxBody < 0 || cfg.CallsPerHour < 0 {
		return nil, invalid(CodeConfig, "the feed's timeout, body cap and calls an hour cannot be negative")
	}
	c := &Client{
		base: base, token: cfg.Token, clock: cmp.Or(cfg.Clock, clock.Real()), maxBody: cmp.Or(cfg.MaxBody, 16<<20),
		log: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), random: cfg.Random,
		endpoints: map[Endpoint]*endpoint{}, scores: &scores{byID: map[int64]wireScore{}}, seed: maphash.MakeSeed(), memories: &memories{byKey: map[string]*memory{}}, bodies: &bodies{},
	}
	if c.random == nil {
		c.random = rand.Float64
	}
	for _, name := range []Endpoint{Livescores, Fixture, Fixtures, Leagues, Seasons, Teams, Squads, Scores} {
		c.endpoints[name] = newEndpoint(name, cmp.Or(cfg.CallsPerHour, DefaultCallsPerHour), c.clock)
	}
	c.oddities = newOddities(c.log, c.redact)
	c.http = c.newHTTP(cfg.Timeout, cfg.Transport)
	return c, nil
}

// parseBase accepts only addresses that cannot leak the token: https, or http on this machine.
func parseBase(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, invalid(CodeConfig, "the feed's address must look like %s", DefaultBaseURL)
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme == "http" && loopback(u.Hostname()):
	default:
		return nil, invalid(CodeConfig, "the feed's address must be https, or http to a loopback address")
	}
	return u, nil
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// The includes of a fixture. The feed limits nested ones; these are all flat.
const (
	includes      = "league,stage,venue,localteam,visitorteam,runs,scoreboards,batting,bowling,lineup"
	includesBalls = includes + ",balls"
	includesList  = "league,stage,venue,localteam,visitorteam,runs"
)

func withBalls(balls bool) url.Values {
	if balls {
		return url.Values{"include": {includesBalls}}
	}
	return url.Values{"include": {includes}}
}

// Livescores reads all matches in play, with balls if requested. A match is in the list from its start to its
// end; before and after, use Fixture.
func (c *Client) Livescores(ctx context.Context, balls bool) (Reading, error) {
	r, err := c.read(ctx, request{endpoint: Livescores, path: "livescores", query: withBalls(balls)})
	return r.Reading, err
}

// Fixture reads one match in any state. An unknown id is fault.NotFound; a reply about another match is an error.
func (c *Client) Fixture(ctx context.Context, id string, balls bool) (Reading, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 {
		return Reading{}, invalid(CodeBadRequest, "%q is not the id of a match", id)
	}
	r, err := c.read(ctx, request{endpoint: Fixture, path: "fixtures/" + id, query: withBalls(balls), one: true})
	if err != nil {
		return r.Reading, err
	}
	for i := range r.Snapshots {
		if other := r.Snapshots[i].MatchID; other != strconv.FormatInt(n, 10) {
			return Reading{}, &Error{Endpoint: Fixture, Status: http.StatusOK,
				Fault: fault.New(fault.Unavailable, CodeBadJSON, "answered with match %s instead of match %s", other, id)}
		}
	}
	return r.Reading, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.HTTPClient.CloseIdleConnections() }
