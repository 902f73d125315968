package edge

import (
	"log/slog"
	"net"
	"net/netip"
	"slices"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/strictyaml"
	"github.com/touchline/touchline/store"
)

// Config is the configuration of a node. The tags are the keys in the configuration file; values may also come from flags or the
// environment (TOUCHLINE_HTTP__RATE__BURST is http.rate.burst). Each application adds a section of its own.
type Config struct {
	DataDir  string              `yaml:"data_dir"`
	Listen   string              `yaml:"listen"`
	Log      node.LogConfig      `yaml:"log"`
	HTTP     node.HTTPConfig     `yaml:"http"`
	Auth     node.AuthConfig     `yaml:"auth"`
	DynamoDB node.DynamoDBConfig `yaml:"dynamodb"`
	Cloud    node.CloudConfig    `yaml:"cloud"`
	Mail     mail.Config         `yaml:"mail"`

	Apps []*app.App      `yaml:"-"` // every application, with its settings
	Said map[string]bool `yaml:"-"` // sections that the configuration contains
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	return Config{
		DataDir: "/var/lib/touchline",
		Listen:  "127.0.0.1:8080",
		Log:     node.LogConfig{Format: "auto", Level: "info"},
		HTTP: node.HTTPConfig{
			Rate: httpapi.RateConfig{PerMinute: 600, Burst: 120}, MaxStreams: 8192, TrustedProxies: []string{}, TLS: node.DefaultTLS(),
		},
		Auth:     node.AuthConfig{AdminGroup: "admin", Session: node.DefaultSession()},
		DynamoDB: node.DynamoDBConfig{TTLSweep: store.DefaultSweep},
		Cloud:    node.DefaultCloud(),
		Mail:     mail.Defaults(),
		Apps:     applications(),
	}
}

// Sections returns the applications' settings by section name.
func (c *Config) Sections() map[string]any {
	out := map[string]any{}
	for _, a := range c.Apps {
		out[a.Name] = a.Settings
	}
	return out
}

// running returns the applications that this node runs: those with a section, and those with App.Default.
func (c *Config) running() (on []*app.App) {
	for _, a := range c.Apps {
		if a.Default || c.Said[a.Name] {
			on = append(on, a)
		}
	}
	return on
}

// applicationNames returns the names of every application, running or not.
func (c *Config) applicationNames() (names []string) {
	for _, a := range c.Apps {
		names = append(names, a.Name)
	}
	return names
}

// Problems returns all errors, so that they can be fixed in one go.
func (c Config) Problems() []app.Problem {
	var out []app.Problem
	bad := strictyaml.AddTo(&out, "")
	if c.DataDir == "" {
		bad("data_dir", "must name a directory")
	}
	out = append(out, node.IdentityProblems(c.Listen, &c.Auth, &c.HTTP)...)
	out = append(out, c.Auth.NamedProblems(c.applicationNames())...)
	if sameAddress(c.Listen, c.DynamoDB.Listen) {
		bad("dynamodb.listen", "must differ from listen: choose another port")
	}
	if c.DynamoDB.TLS && !c.HTTP.TLS.IsEnabled() {
		bad("dynamodb.tls", "needs the certificate of http.tls: http.tls.mode is off")
	}
	if plain := c.HTTP.TLS.PlainListen; sameAddress(c.Listen, plain) || sameAddress(c.DynamoDB.Listen, plain) {
		bad("http.tls.plain_listen", "must differ from listen and dynamodb.listen: choose another port")
	}
	out = append(out, c.DynamoDB.Problems()...)
	switch c.Log.Format {
	case "auto", "text", "json":
	default:
		bad("log.format", "must be auto, text or json, not %q", c.Log.Format)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		bad("log.level", "must be debug, info, warn or error, not %q", c.Log.Level)
	}
	out = slices.Concat(out, c.HTTP.Problems(), c.Cloud.Problems(node.Schema(c.running()).Tables))
	c.Mail.Problems(bad)
	mounts := map[string]string{}
	for _, a := range c.running() {
		mount := a.Settings.Path()
		if text := app.MountProblem(a.Name, mount); text != "" {
			bad(a.Name+".mount", "%s", text)
		}
		for _, p := range a.Settings.Problems() {
			bad(a.Name+"."+p.Key, "%s", p.Text)
		}
		if other := mounts[mount]; other != "" {
			bad(a.Name+".mount", "is also the mount of %s", other)
		}
		mounts[mount] = a.Name
	}
	return out
}

// sameAddress reports whether two addresses conflict: they have the same port, and the same host or one covers every host.
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

// Validate returns all Problems as one error.
func (c Config) Validate() error {
	problems := c.Problems()
	if len(problems) == 0 {
		return nil
	}
	return fault.New(fault.Invalid, "bad_config", "%s", strictyaml.Join(problems))
}
