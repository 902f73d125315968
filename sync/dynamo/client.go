package dynamo

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/remote"
)

// DefaultDeadline is the default time limit of a request: long enough for a transaction over a poor connection, short enough to
// give up a half-open connection within 15 s.
const DefaultDeadline = 10 * time.Second

// Config configures a Client.
type Config struct {
	Endpoint string        // URL; "": AWS_ENDPOINT_URL_DYNAMODB or the profile's, else AWS's own for the region
	Region   string        // required, never guessed
	Profile  string        // in the AWS files; "": AWS_PROFILE, else the default profile
	Prefix   string        // of every table name in the cloud; callers never see it
	Deadline time.Duration // per request, including its connection and body; 0: DefaultDeadline
	Log      *slog.Logger  // nil: no logging
	Times    lease.Times   // the machine's clocks; nil: RealTimes
	Dial     Dial          // nil: package net's
}

// Dial opens a connection, like net.Dialer.DialContext.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// Client talks to one DynamoDB. It is safe for concurrent use.
type Client struct {
	db       *dynamodb.Client
	http     *transport
	renew    func() // drops cached credentials, so that the next request fetches new ones
	prefix   string
	deadline time.Duration
	endpoint string
	usage    usage
	images   images
}

var _ remote.Cloud = (*Client)(nil)

// New returns a client. It reads the AWS configuration files but makes no request: the first request finds out whether the cloud
// can be reached.
func New(ctx context.Context, cfg Config) (*Client, error) {
	if cfg.Region == "" {
		return nil, fault.New(fault.Invalid, "no_region", "the cloud needs a region (cloud.region), such as eu-west-1; "+
			"for a server of your own any word will do")
	}
	if cfg.Deadline <= 0 {
		cfg.Deadline = DefaultDeadline
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Times == nil {
		cfg.Times = lease.RealTimes()
	}
	c := &Client{prefix: cfg.Prefix, deadline: cfg.Deadline}
	if err := c.connect(ctx, cfg); err != nil {
		return nil, err
	}
	cfg.Log.Info("the cloud", "endpoint", c.endpoint, "region", cfg.Region, "prefix", cfg.Prefix, "from", c.endpointSource(cfg))
	return c, nil
}

// endpointSource returns the source of the endpoint for the log: a forgotten environment variable would send everything elsewhere.
func (c *Client) endpointSource(cfg Config) string {
	switch {
	case cfg.Endpoint != "":
		return "configuration"
	case c.db.Options().BaseEndpoint != nil:
		return "AWS environment or profile"
	}
	return "region"
}

// Endpoint returns the URL that requests go to, without credentials.
func (c *Client) Endpoint() string { return c.endpoint }

// Skew returns the server's clock minus ours, estimated from its latest answers; 0 before the first.
func (c *Client) Skew() time.Duration { return c.http.skew.now() }

// KnowsServerTime reports whether an answer has shown the server's clock since the client was created.
func (c *Client) KnowsServerTime() bool { return c.http.skew.isKnown() }

// Reset closes idle connections, so that the next request opens a new one. A node calls it when it comes back online; the client
// does so itself after a network error and when the machine's addresses change.
func (c *Client) Reset() { c.http.reset() }

func (c *Client) table(name string) *string { return new(c.prefix + name) }
