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

// DefaultDeadline is how long a request may take where the configuration does not say: long enough for a transaction
// over a poor line, short enough that a connection that is dead and does not know it is given up within 15 s.
const DefaultDeadline = 10 * time.Second

// Config is what a Client is told.
type Config struct {
	Endpoint string        // URL; empty: AWS_ENDPOINT_URL_DYNAMODB or the profile's, else AWS's own for the region
	Region   string        // required: nothing guesses it
	Profile  string        // of the AWS files; empty: AWS_PROFILE, else the default one
	Prefix   string        // of every table's name in the cloud; callers never see it
	Deadline time.Duration // of a request, with its connection and its body; 0: DefaultDeadline
	Log      *slog.Logger  // nil: nothing is logged
	Times    lease.Times   // the machine's clocks; nil: real ones
	Dial     Dial          // nil: of package net
}

// Dial makes a connection, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// Client speaks to one DynamoDB. Its methods may be called from any goroutine.
type Client struct {
	db       *dynamodb.Client
	http     *transport
	renew    func() // drops cached credentials, so that the next request asks for new ones
	prefix   string
	deadline time.Duration
	endpoint string
	usage    usage
	images   images
}

var (
	_ remote.Cloud     = (*Client)(nil)
	_ remote.Catalogue = (*Client)(nil)

	_ interface {
		remote.Prober
		remote.Timekeeper
		remote.Meter
	} = (*Client)(nil)
)

// New makes a client. It reads the AWS configuration files and asks nobody: a cloud that cannot be reached is found out
// by the first request.
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
	cfg.Log.Info("the cloud", "endpoint", c.endpoint, "region", cfg.Region, "prefix", cfg.Prefix, "from", c.from(cfg))
	return c, nil
}

// from returns where the endpoint comes from, for the log: a variable that somebody has forgotten sends everything
// elsewhere.
func (c *Client) from(cfg Config) string {
	switch {
	case cfg.Endpoint != "":
		return "configuration"
	case c.db.Options().BaseEndpoint != nil:
		return "AWS environment or profile"
	}
	return "region"
}

// Endpoint is the URL that requests go to, without credentials.
func (c *Client) Endpoint() string { return c.endpoint }

// Skew is the server's clock minus ours, as its latest answers tell it; 0 before the first.
func (c *Client) Skew() time.Duration { return c.http.skew.now() }

// Synced reports whether an answer has told the server's clock since the client was made.
func (c *Client) Synced() bool { return c.http.skew.known() }

// Reset closes the connections that nobody uses, so that the next request makes a new one. A node calls it when it comes
// back from being offline; the client does so itself after an error of the network and when the machine's addresses change.
func (c *Client) Reset() { c.http.reset() }

func (c *Client) table(name string) *string { return new(c.prefix + name) }
