package dynamo

import (
	"context"
	"crypto/tls"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"github.com/touchline/touchline/internal/fault"
)

// dialLimit is how long a connection may take: a black hole is given up soon, the network's round trips are far below it.
const dialLimit = 2 * time.Second

// connect makes the SDK's client: credentials and profiles as operators know them, and none of its own ideas of when to
// try again, where to go and how long to wait.
func (c *Client) connect(ctx context.Context, cfg Config) error {
	conf, err := load(ctx, cfg)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "aws_config", "the AWS configuration cannot be used: %s", firstLine(err.Error()))
	}
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{
			Timeout:         dialLimit,
			KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
		}).DialContext
	}
	c.http = newTransport(cfg, rootsOf(conf))
	c.db = dynamodb.NewFromConfig(conf, func(o *dynamodb.Options) {
		o.HTTPClient = c.http
		// One attempt, whatever AWS_RETRY_MODE, AWS_MAX_ATTEMPTS and AWS_NEW_RETRIES_2026 say, and no bucket of tokens
		// that an outage empties.
		o.Retryer = aws.NopRetryer{}
		o.RetryMaxAttempts = 0
		o.RetryMode = aws.RetryModeStandard
		// The host stays the one that firewalls know.
		o.AccountIDEndpointMode = aws.AccountIDEndpointModeDisabled
		o.EndpointDiscovery.EnableEndpointDiscovery = aws.EndpointDiscoveryDisabled
		o.DisableValidateResponseChecksum = true // whole does it
		o.Logger = logging.Nop{}                 // what it has to say is in its errors
		if cfg.Endpoint != "" {
			o.BaseEndpoint = new(cfg.Endpoint)
		}
	})
	c.renew = func() {
		if cache, ok := c.db.Options().Credentials.(*aws.CredentialsCache); ok {
			cache.Invalidate()
		}
	}
	return c.resolve(ctx)
}

// resolve finds out where requests will go.
func (c *Client) resolve(ctx context.Context) error {
	o := c.db.Options()
	to, err := o.EndpointResolverV2.ResolveEndpoint(ctx, dynamodb.EndpointParameters{
		Region: new(o.Region), Endpoint: o.BaseEndpoint, AccountIdEndpointMode: new(string(o.AccountIDEndpointMode)),
		UseDualStack: new(o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled),
		UseFIPS:      new(o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled),
	})
	if err != nil || to.URI.Host == "" || to.URI.Scheme != "http" && to.URI.Scheme != "https" {
		return fault.Wrap(err, fault.Invalid, "bad_endpoint", "the cloud's endpoint must be a URL, such as http://127.0.0.1:8000")
	}
	c.endpoint = shown(to.URI)
	c.http.official = o.BaseEndpoint == nil
	return nil
}

// shown is a URL without what may be secret in it.
func shown(u url.URL) string {
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// load reads what operators have set for AWS: profile, roles, environment.
func load(ctx context.Context, cfg Config) (aws.Config, error) {
	state := imds.ClientDisabled
	if onEC2(os.DirFS("/sys")) {
		state = imds.ClientDefaultEnableState
	}
	// The services that give credentials are asked by a client of their own: a dead one must not hold a request for long.
	calls := awshttp.NewBuildableClient().WithTimeout(cfg.Deadline / 2).WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialLimit })
	options := []func(*config.LoadOptions) error{
		config.WithRegion(cfg.Region),
		config.WithHTTPClient(calls),
		config.WithEC2IMDSClientEnableState(state), // elsewhere each call would wait 12 s for it
		config.WithRetryMode(aws.RetryModeStandard),
		config.WithAccountIDEndpointMode(aws.AccountIDEndpointModeDisabled),
	}
	if cfg.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(cfg.Profile))
	}
	return config.LoadDefaultConfig(ctx, options...)
}

// rootsOf takes over the certificates that AWS_CA_BUNDLE has added.
func rootsOf(conf aws.Config) *tls.Config {
	if b, ok := conf.HTTPClient.(*awshttp.BuildableClient); ok {
		if own := b.GetTransport().TLSClientConfig; own != nil {
			return own.Clone()
		}
	}
	return &tls.Config{MinVersion: tls.VersionTLS12}
}

// onEC2 reports whether this machine is Amazon's, by what its firmware says. Nobody is asked for it.
func onEC2(sys fs.FS) bool {
	read := func(name string) string {
		b, _ := fs.ReadFile(sys, name) // not there: no
		return strings.ToLower(strings.TrimSpace(string(b)))
	}
	return read("class/dmi/id/sys_vendor") == "amazon ec2" || read("class/dmi/id/board_vendor") == "amazon ec2" ||
		strings.HasPrefix(read("hypervisor/uuid"), "ec2")
}

// newHTTP is a client whose every wait has an end.
func newHTTP(cfg Config, tlsConfig *tls.Config) *http.Client {
	own := new(http.Protocols)
	own.SetHTTP1(true) // a request has its connection to itself: one that hangs holds nobody else
	return &http.Client{
		// A redirect is an answer of somebody else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           counted(cfg.Dial),
			TLSClientConfig:       tlsConfig,
			TLSHandshakeTimeout:   dialLimit,
			ResponseHeaderTimeout: cfg.Deadline / 2,
			IdleConnTimeout:       30 * time.Second,
			MaxIdleConns:          64,
			MaxIdleConnsPerHost:   64,
			Protocols:             own,
		},
	}
}
