package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Config is what a node is told. The names in the tags are those of the configuration file; a value may also come
// from a flag or from the environment (TOUCHLINE_CRICKET__FEED__TOKEN is cricket.feed.token).
type Config struct {
	DataDir  string         `koanf:"data_dir"`
	Listen   string         `koanf:"listen"`
	Log      LogConfig      `koanf:"log"`
	HTTP     HTTPConfig     `koanf:"http"`
	Auth     AuthConfig     `koanf:"auth"`
	DynamoDB DynamoDBConfig `koanf:"dynamodb"`
	Cloud    CloudConfig    `koanf:"cloud"`
	Cricket  CricketConfig  `koanf:"cricket"`
}

// LogConfig is how the node logs, always to standard error.
type LogConfig struct {
	Format string `koanf:"format"` // auto, text or json
	Level  string `koanf:"level"`  // debug, info, warn or error
}

// DynamoDBConfig is the endpoint that speaks DynamoDB's protocol.
type DynamoDBConfig struct {
	Listen string `koanf:"listen"` // empty: there is none
	Auth   string `koanf:"auth"`   // file of keys and what each may do; empty: whoever can connect may do everything
	Inject string `koanf:"inject"` // file of faults to answer with; empty: none

	TTLSweep time.Duration `koanf:"ttl_sweep"` // how often items past their TTL are deleted; 0: store.DefaultSweep
}

// DefaultConfig is what holds where nothing is said.
func DefaultConfig() Config {
	return Config{
		DataDir:  "/var/lib/touchline",
		Listen:   "127.0.0.1:8080",
		Log:      LogConfig{Format: "auto", Level: "info"},
		HTTP:     HTTPConfig{Rate: RateConfig{PerMinute: 600, Burst: 120}, MaxStreams: 8192, TrustedProxies: []string{}},
		Auth:     AuthConfig{AdminGroup: "admin"},
		DynamoDB: DynamoDBConfig{TTLSweep: store.DefaultSweep},
		Cloud:    defaultCloud(),
		Cricket:  defaultCricket(),
	}
}

// Problem is one thing wrong with a configuration. Key is its path, "cricket.feed.base_url".
type Problem struct {
	Key  string
	Text string
}

// Problems returns everything that is wrong, so that it can be fixed in one go.
func (c Config) Problems() []Problem {
	var out []Problem
	bad := func(key, format string, args ...any) {
		out = append(out, Problem{key, fmt.Sprintf(format, args...)})
	}
	if c.DataDir == "" {
		bad("data_dir", "must name a directory")
	}
	out = append(out, c.identityProblems()...)
	if p := c.DynamoDB.problem(); p != "" {
		bad("dynamodb.listen", "%s", p)
	}
	if p := c.DynamoDB.sweepProblem(); p != "" {
		bad("dynamodb.ttl_sweep", "%s", p)
	}
	if sameAddress(c.Listen, c.DynamoDB.Listen) {
		bad("dynamodb.listen", "cannot be the address of listen: choose another port")
	}
	out = append(out, c.DynamoDB.fileProblems()...)
	switch c.Log.Format {
	case "auto", "text", "json":
	default:
		bad("log.format", "must be auto, text or json, not %q", c.Log.Format)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		bad("log.level", "must be debug, info, warn or error, not %q", c.Log.Level)
	}
	return slices.Concat(out, c.HTTP.problems(), c.Cloud.problems(), c.Cricket.problems())
}

// loopbackOnly refuses an address that others can reach: the demo takes whoever can connect for its user.
func loopbackOnly(listen string) error {
	local, err := isLoopback(listen)
	if err == nil && !local {
		return fault.New(fault.Invalid, "not_loopback",
			"must be a loopback address (127.0.0.1, [::1] or localhost), not %q: the demo signs in everyone who can connect", listen)
	}
	return err
}

// isLoopback reports whether only this machine can reach an address to listen on.
func isLoopback(listen string) (bool, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "" {
		return false, fault.New(fault.Invalid, "bad_listen", "must be host:port, such as 127.0.0.1:8080, not %q", listen)
	}
	if _, err := new(net.Resolver).LookupPort(context.Background(), "tcp", port); err != nil {
		return false, fault.New(fault.Invalid, "bad_listen", "must have a port from 0 to 65535, not %q", port)
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback(), nil
}

// sameAddress reports whether two addresses cannot both be listened on: one port, and one host, or every host.
func sameAddress(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil || portA != portB || portA == "0" {
		return false
	}
	plain := func(host string) string {
		addr, err := netip.ParseAddr(host)
		switch {
		case host == "" || err == nil && addr.IsUnspecified():
			return ""
		case host == "localhost":
			return "127.0.0.1"
		}
		return host
	}
	hostA, hostB = plain(hostA), plain(hostB)
	return hostA == hostB || hostA == "" || hostB == ""
}

// fileProblems returns what is wrong with the files that the section names.
func (c DynamoDBConfig) fileProblems() (out []Problem) {
	bad := func(key string, err error) {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			out = append(out, Problem{key, f.Message})
		}
	}
	if c.Auth != "" {
		_, err := sigv4.Load(c.Auth)
		bad("dynamodb.auth", err)
	}
	if c.Inject != "" {
		_, err := inject.Load(c.Inject)
		bad("dynamodb.inject", err)
	}
	return out
}

// sweepProblem is what is wrong with the time between two passes over expired items; empty: nothing.
func (c DynamoDBConfig) sweepProblem() string {
	if c.TTLSweep != 0 && (c.TTLSweep < time.Second || c.TTLSweep > 24*time.Hour) {
		return fmt.Sprintf("must be from 1s to 24h0m0s, not %s", c.TTLSweep)
	}
	return ""
}

// problem is what is wrong with the address; empty: nothing.
func (c DynamoDBConfig) problem() string {
	if c.Listen == "" {
		return ""
	}
	local, err := isLoopback(c.Listen)
	switch {
	case err != nil:
		return err.Error()
	case !local && c.Auth == "":
		return fmt.Sprintf("%q can be reached from other machines, and anyone who can reach it may do everything: name a file of "+
			"keys (dynamodb.auth, --dynamodb-auth), or listen on 127.0.0.1", c.Listen)
	}
	return ""
}

// secureURL wants https, but for a server on this machine.
func secureURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return fault.New(fault.Invalid, "bad_url", "must be an https URL")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fault.New(fault.Invalid, "bad_url", "must hold no user, password or query: secrets have keys of their own")
	}
	host := u.Hostname()
	addr, err := netip.ParseAddr(host)
	local := host == "localhost" || err == nil && addr.IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && local) {
		return fault.New(fault.Invalid, "bad_url", "must be an https URL, or http on a loopback address")
	}
	return nil
}

// Validate is Problems as one error.
func (c Config) Validate() error {
	problems := c.Problems()
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Key + ": " + p.Text
	}
	return fault.New(fault.Invalid, "bad_config", "%s", strings.Join(texts, "; "))
}
