package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/session"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// RateConfig is how much one user, key or address may ask.
type RateConfig struct {
	PerMinute int `yaml:"per_minute"` // 0: no limit
	Burst     int `yaml:"burst"`
}

// People are those who sign in with a browser: at which issuers, and what the node remembers of them.
type People struct {
	Issuers  *auth.Verifier
	Sessions *session.Keeper
}

// Config is what a server works with. Clock and Store are needed; of the rest the zero value will do.
type Config struct {
	Apps  []App
	Clock clock.Clock // the node's, which may run fast; deadlines and heartbeats keep real time

	Store *store.Store
	Limits
	Sync operator.Sync // nil: there is no cloud

	TLS       *TLS   // nil: plain HTTP
	PublicURL string // where people reach the node, such as https://scores.example; empty: wherever they do

	Node    func() operator.NodeStatus                 // nil: only what httpapi knows itself
	Ready   func(ctx context.Context) []operator.Check // nil: ready while it runs
	Metrics *prometheus.Registry                       // nil: an empty one of its own
	Auth    auth.Authenticator                         // nil: nobody can sign in
	People  *People                                    // who sign in with a browser; nil: nobody does, but by a token
	Tokens  bool                                       // development: a token can be pasted to sign in, and applications' SignIn.Header counts
	Demo    func() (token string, err error)           // signs in whoever comes from this machine without credentials; nil: nobody
	Logger  *slog.Logger                               // nil: silent
	Version string

	Development bool          // serves /_/gallery
	Heartbeat   time.Duration // of silent streams; 15 s when zero
	PageTick    time.Duration // how often a page looks at what is not in the journal; 1 s when zero
	UserStreams int           // open at once of one user or address; 16 when zero
	Drain       time.Duration // for requests to end at shutdown; 10 s when zero
}

func (c Config) withDefaults() Config {
	if c.Node == nil {
		c.Node = func() operator.NodeStatus {
			return operator.NodeStatus{Version: c.Version, Clock: operator.ClockStatus{Now: c.Clock.Now()}}
		}
	}
	if c.Ready == nil {
		c.Ready = func(context.Context) []operator.Check { return nil }
	}
	c.Metrics = cmp.Or(c.Metrics, prometheus.NewRegistry())
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.UserStreams = cmp.Or(c.UserStreams, defaultUserStreams)
	c.Heartbeat = cmp.Or(c.Heartbeat, 15*time.Second)
	c.PageTick = cmp.Or(c.PageTick, time.Second)
	c.Drain = cmp.Or(c.Drain, 10*time.Second)
	return c
}
