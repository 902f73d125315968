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

// dialLimit is the time limit for connecting: far above a network round trip, and short enough to give up a black hole soon.
const dialLimit = 2 * time.Second

// connect creates the SDK's client. Credentials and profiles work as operators know them, but the SDK's own retries, endpoint
// discovery and waits are off.
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
		// One attempt, whatever AWS_RETRY_MODE, AWS_MAX_ATTEMPTS and AWS_NEW_RETRIES_2026 say, and no token bucket, which a long
		// outage would empty.
		o.Retryer = aws.NopRetryer{}
		o.RetryMaxAttempts = 0
		o.RetryMode = aws.RetryModeStandard
		// Keep the host name that firewalls allow.
		o.AccountIDEndpointMode = aws.AccountIDEndpointModeDisabled
		o.EndpointDiscovery.EnableEndpointDiscovery = aws.EndpointDiscoveryDisabled
		o.DisableValidateResponseChecksum = true // see whole
		o.Logger = logging.Nop{}                 // its errors say all that matters
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

// resolve determines where requests go.
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
	c.endpoint = redactURL(to.URI)
	c.http.official = o.BaseEndpoint == nil
	return nil
}

// redactURL returns a URL without the parts that may be secret.
func redactURL(u url.URL) string {
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// load reads the operator's AWS settings: profile, roles, environment.
func load(ctx context.Context, cfg Config) (aws.Config, error) {
	state := imds.ClientDisabled
	if onEC2(os.DirFS("/sys")) {
		state = imds.ClientDefaultEnableState
	}
	// Credential services get a client of their own with a short limit: a dead one must not delay a request for long.
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

// rootsOf returns a TLS configuration that includes the certificates of AWS_CA_BUNDLE.
func rootsOf(conf aws.Config) *tls.Config {
	if b, ok := conf.HTTPClient.(*awshttp.BuildableClient); ok {
		if own := b.GetTransport().TLSClientConfig; own != nil {
			return own.Clone()
		}
	}
	return &tls.Config{MinVersion: tls.VersionTLS12}
}

// onEC2 reports whether this is an EC2 instance, judging by its firmware alone, without a request.
func onEC2(sys fs.FS) bool {
	read := func(name string) string {
		b, _ := fs.ReadFile(sys, name) // a missing file means no
		return strings.ToLower(strings.TrimSpace(string(b)))
	}
	return read("class/dmi/id/sys_vendor") == "amazon ec2" || read("class/dmi/id/board_vendor") == "amazon ec2" ||
		strings.HasPrefix(read("hypervisor/uuid"), "ec2")
}

// newHTTP returns a client in which every wait has a limit.
func newHTTP(cfg Config, tlsConfig *tls.Config) *http.Client {
	own := new(http.Protocols)
	own.SetHTTP1(true) // one request per connection, so that a hanging request blocks no other
	return &http.Client{
		// DynamoDB never redirects: a redirect comes from something else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           countDials(cfg.Dial),
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
