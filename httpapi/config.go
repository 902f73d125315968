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
	"github.com/touchline/touchline/store/attr"
)

// RateConfig limits the requests of one user, key or address.
type RateConfig struct {
	PerMinute int `yaml:"per_minute"` // 0: no limit
	Burst     int `yaml:"burst"`
}

// People configures sign-in by browser: the issuers and the sessions.
type People struct {
	Issuers  *auth.Verifier
	Sessions *session.Keeper
}

// Config configures a server. Clock and Store are required; everything else may be zero.
type Config struct {
	Apps  []App
	Clock clock.Clock // the node's, which may run fast; deadlines and heartbeats use real time

	Store *store.Store
	Limits
	Sync    operator.Sync        // nil: no cloud
	Derives operator.Derivations // nil: nothing is derived
	// ReadCloud reads a row, or a whole partition if the key is only the partition key, from the cloud into the store, however recently
	// that was done. It fails if the cloud does not answer. nil: no cloud.
	ReadCloud func(ctx context.Context, table string, key attr.Item) error

	TLS       *TLS   // nil: plain HTTP
	PublicURL string // public address, such as https://scores.example; empty: as in the request

	Node    func() operator.NodeStatus                 // nil: version and time only
	Ready   func(ctx context.Context) []operator.Check // nil: always ready while running
	Metrics *prometheus.Registry                       // nil: a new registry
	Auth    auth.Authenticator                         // nil: nobody can sign in
	People  *People                                    // sign-in by browser; nil: only by a token
	Devices bool                                       // the store has the tables of package handover
	Tokens  bool                                       // development: people can sign in with a pasted token, and SignIn.Header counts
	Demo    func() (token string, err error)           // signs in local requests without credentials; nil: nobody
	Logger  *slog.Logger                               // nil: silent
	Version string

	Development bool          // serves /_/gallery
	Heartbeat   time.Duration // interval on silent streams; 15 s when zero
	PageTick    time.Duration // how often pages check for changes outside the journal; 1 s when zero
	UserStreams int           // limit of open streams per user or address; 16 when zero
	Drain       time.Duration // time for requests to finish at shutdown; 10 s when zero
}

func (c Config) withDefaults() Config {
	if c.Node == nil {
		c.Node = func() operator.NodeStatus {
			return operator.NodeStatus{Version: c.Version, Clock: operator.ClockStatus{Now: c.Clock.Wall()}}
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
