// Package sportmonks reads the SportMonks Cricket API v2.0: a client that is gentle to the feed and to its own
// node, and the decoding of its JSON into cricket.Snapshot.
//
// A Client never follows redirects, never waits on anything but the injected clock, never lets the token out, and
// never trusts a reply: bodies are capped, HTML and broken JSON are errors of their own kind, and one match that
// cannot be read does not silence the others. What a poller must know to pace itself is in Error.Until and Budget.
//
// Every attempt is counted against the hour's calls of its endpoint before it leaves; the last tenth of them is kept
// for the reads of Final. Health, Budgets, Oddities and Collector show how the feed does.
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

// Config is what a Client needs. The zero value of everything but Token has a meaning.
type Config struct {
	BaseURL string         // default DefaultBaseURL; https, or http to a loopback address
	Token   string         // the api_token
	Clock   clock.Clock    // default clock.Real(); waits and ages follow it, HTTP deadlines are real time
	Timeout time.Duration  // of one attempt, headers and body, real time; default 10 s
	MaxBody int64          // bytes after decompression; default 16 MB
	Logger  *slog.Logger   // retries at debug level, what is new in the feed as a warning, once; default none
	Random  func() float64 // in [0,1), for jitter; default math/rand/v2

	// CallsPerHour is what the plan allows an endpoint, till the feed says otherwise; default DefaultCallsPerHour.
	CallsPerHour int
	// Transport is what requests leave by; nil: the network. A feed in the same process gives its own.
	Transport http.RoundTripper
}

// Reading is one answer of the feed.
type Reading struct {
	// Snapshots are shared with later readings: they are to be read, not changed.
	Snapshots []cricket.Snapshot
	// Unchanged: the body is equal to the last one of the same request, by 304 or by its bytes. It was not decoded
	// again; Snapshots are the last ones, with the ReadAt of their own reading.
	Unchanged bool
	// At is when the answer came, by the client's clock.
	At time.Time
	// Skew is the feed's clock minus ours by the answer's Date header, 0 when they agree as well as whole seconds
	// can tell. Ages of what the feed has stamped are At + Skew - updated_at.
	Skew time.Duration
	// Skipped are matches of a list that could not be read.
	Skipped []error
}

// Client reads the feed for one token. It is safe for concurrent use. Create one for each upstream: a failure
// closes the idle connections of its transport.
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

// New checks the configuration. It does no I/O.
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
		c.endpoints[name] = newEndpoint(name, cmp.Or(cfg.CallsPerHour, DefaultCallsPerHour), c.clock.Now)
	}
	c.oddities = newOddities(c.log, c.redact)
	c.http = c.newHTTP(cfg.Timeout, cfg.Transport)
	return c, nil
}

// parseBase allows what cannot leak the token: https, or http that stays on this machine.
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

// The includes of a fixture. Nested ones count against a limit of the feed; these are all flat.
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

// Livescores reads all matches that are in play, with their balls if asked. A match is here from its start to its
// end; before and after, ask Fixture.
func (c *Client) Livescores(ctx context.Context, balls bool) (Reading, error) {
	r, err := c.read(ctx, request{endpoint: Livescores, path: "livescores", query: withBalls(balls)})
	return r.Reading, err
}

// Fixture reads one match in any state. An id that the feed does not know is fault.NotFound; a reply about another match
// is no reply.
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
				Fault: fault.New(fault.Unavailable, CodeBadJSON, "asked for match %s, it answered with match %s", id, other)}
		}
	}
	return r.Reading, nil
}

// Close drops idle connections.
func (c *Client) Close() { c.http.HTTPClient.CloseIdleConnections() }
