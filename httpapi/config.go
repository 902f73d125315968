package httpapi

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Cricket is what the routes need of the cricket service. cricket.Service is one. An unknown match is
// fault.NotFound.
type Cricket interface { //nolint:interfacebloat // what pages and routes read of one application
	// Matches returns a page of fixtures; next is the cursor of the following one, "" on the last.
	Matches(ctx context.Context, f cricket.MatchFilter) (fixtures []cricket.Fixture, next string, err error)
	// Live returns the fixtures of the matches that are on.
	Live(ctx context.Context) ([]cricket.Fixture, error)
	// Match returns the fixture of a match.
	Match(ctx context.Context, id string) (cricket.Fixture, error)
	// Display returns the display state; a match that has not been read yet has none.
	Display(ctx context.Context, id string) (cricket.Display, error)
	// Card returns the scorecard, which is empty before the first ball.
	Card(ctx context.Context, id string) (cricket.Card, error)
	// Events returns what happened, in the order it became sure; none for an unknown match.
	Events(ctx context.Context, id string) ([]cricket.Event, error)
}

// Journal is what the streams need of the store. store.Store is one.
type Journal interface {
	// Journal returns up to limit records behind a sequence, in order. Trimmed records are left out.
	Journal(ctx context.Context, after uint64, limit int) ([]store.Record, error)
	// Seq is the sequence of the last record.
	Seq() uint64
	// FirstSeq is the sequence of the first record that has not been trimmed.
	FirstSeq() uint64
	// Watch has sig set after each commit with a record in it.
	Watch(sig *clock.Signal) (stop func())
}

// The plain structures that the node hands in for its own state. They are declared where they are drawn.
type (
	// NodeStatus is how the node is doing.
	NodeStatus = page.NodeStatus
	// LeaseStatus is the lease under which the node works.
	LeaseStatus = page.LeaseStatus
	// CloudStatus is how far the node is in step with the cloud.
	CloudStatus = page.CloudStatus
	// FeedStatus is how the polling of the live feed goes.
	FeedStatus = page.FeedStatus
	// FeedRead is which endpoint of the feed is asked about a match.
	FeedRead = page.FeedRead
	// Audience is who follows a match, as far as a node knows.
	Audience = page.Audience
	// PushStatus counts pushes and their answers.
	PushStatus = page.PushStatus
	// JournalStatus gives the sequence numbers that the journal holds.
	JournalStatus = page.JournalStatus
	// ChoreStatus is what the store does that nobody waits for.
	ChoreStatus = page.ChoreStatus
	// VerifyStatus is what the daily pass over all items has found.
	VerifyStatus = page.VerifyStatus
	// Chore is one piece of work and how far it is.
	Chore = page.Chore
	// EndpointStatus is what the DynamoDB endpoint has answered.
	EndpointStatus = page.EndpointStatus
	// RequestCount counts requests by operation and outcome.
	RequestCount = page.RequestCount
	// FaultCount is how a rule of faults on demand fares.
	FaultCount = page.FaultCount
	// CommitStatus is how the store's commits go.
	CommitStatus = page.CommitStatus
	// ClockStatus is the node's notion of time.
	ClockStatus = page.ClockStatus
	// Tape is a finished match that can be played again.
	Tape = page.Tape
	// Playing is a tape that is played as if it were live.
	Playing = page.Playing
	// PhoneView is what one phone shows.
	PhoneView = page.PhoneView
	// CompactView is what stands beside a phone's camera.
	CompactView = page.CompactView
	// PhoneAlert is an alert on a phone.
	PhoneAlert = page.PhoneAlert
	// PhonePushes counts the pushes of a phone.
	PhonePushes = page.PhonePushes
)

// CheckCloud names the check of the room for what waits for the cloud. It is good offline too, so it must not read as if
// the cloud were there.
const CheckCloud = "cloud backlog"

// Check is one answer to the question whether the node is ready. A nil Err is a yes. Its text is shown to whoever
// asks. With a Warning the node is ready all the same, but a person should look.
type Check struct {
	Name    string
	Err     error
	Warning string
}

// Store is where users' rows are read and written. store.Store is one; see it for what the functions may do.
type Store interface {
	// Update runs fn in a transaction that is committed where fn gives no error.
	Update(ctx context.Context, fn func(*store.Tx) error) error
	// View runs fn in a transaction that sees one instant and writes nothing.
	View(ctx context.Context, fn func(*store.Tx) error) error
}

// Ensure has items here, or whole partitions, before they are read, where another node may have written them. A cloud that
// cannot be reached is no error.
type Ensure func(ctx context.Context, table string, keys ...attr.Item) error

// RateConfig is how much one user, key or address may ask.
type RateConfig struct {
	PerMinute int // 0: no limit
	Burst     int
}

// Notifier pushes to users what an admin wants them to have: a text as an alert to their devices, without one the display
// of a match once more to the phones that show it. A match whose display is not known yet is fault.Conflict; while
// nothing can be pushed it is fault.Unavailable, which says why.
type Notifier interface {
	// Notify queues the pushes and returns how many phones will get one; it does not wait for Apple.
	Notify(ctx context.Context, n Notice) (phones int, err error)
}

// Notice is what an admin has pushed about a match.
type Notice struct {
	MatchID string
	UserIDs []string // of a text: whose devices get it; nil: all followers'
	Title   string   // of the alert; both empty: the display is refreshed in silence
	Body    string
}

// Config is what a server works with. Cricket, Journal and Clock are needed; of the rest the zero value will do.
type Config struct {
	Cricket Cricket
	Journal Journal
	Clock   clock.Clock // the node's, which may run fast; deadlines and heartbeats keep real time

	Mount       string   // where the application's routes lie; "/cricket" when empty; "/" moves the pages under "/_"
	Store       Store    // nil: what users keep answers 503
	MultiDevice bool     // several devices a user
	CORS        []string // origins of web applications that may call; none: only our own pages
	Rate        RateConfig
	Proxies     []netip.Prefix   // whose X-Forwarded-For and X-Forwarded-Proto are believed; none: nobody's
	Sync        Sync             // nil: there is no cloud
	Ensure      Ensure           // nil: what is not in the store is nowhere
	Replay      ReplayDeck       // nil: there are no replays here
	Notifier    Notifier         // nil: nothing can be pushed
	Hub         func() HubHealth // nil: only what the store tells
	App         AppInfo          // what an app asks about itself

	Node     func() NodeStatus                                           // nil: only what httpapi knows itself
	Audience func(ctx context.Context, matchID string) (Audience, error) // nil: nobody follows a match
	Phones   func() []PhoneView                                          // nil: none
	Ready    func(ctx context.Context) []Check                           // nil: ready while it runs
	Featured func() string                                               // the match that / opens with; nil or "": the node picks
	Metrics  *prometheus.Registry                                        // nil: an empty one of its own
	Auth     auth.Authenticator                                          // nil: nobody can sign in
	Demo     func() (token string, err error)                            // signs in whoever comes from this machine without credentials; nil: nobody
	Logger   *slog.Logger                                                // nil: silent
	Version  string

	Development bool          // serves /_/gallery
	Heartbeat   time.Duration // of silent streams; 15 s when zero
	PageTick    time.Duration // how often a page looks at phones and node; 1 s when zero
	MaxStreams  int           // open at once; 8192 when zero, and fewer where there are few connections
	UserStreams int           // of them of one user or address; 16 when zero
	Drain       time.Duration // for requests to end at shutdown; 10 s when zero

	MaxConnections int // open at once; MaxStreams and ShortConnections when zero
}

func (c Config) withDefaults() Config {
	if c.Node == nil {
		c.Node = func() NodeStatus { return NodeStatus{Version: c.Version, Clock: ClockStatus{Now: c.Clock.Now()}} }
	}
	if c.Phones == nil {
		c.Phones = func() []PhoneView { return nil }
	}
	if c.Ready == nil {
		c.Ready = func(context.Context) []Check { return nil }
	}
	if c.Featured == nil {
		c.Featured = func() string { return "" }
	}
	if c.Metrics == nil {
		c.Metrics = prometheus.NewRegistry()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Hub == nil {
		c.Hub = func() HubHealth { return HubHealth{} }
	}
	if c.Mount == "" {
		c.Mount = "/cricket"
	}
	if c.UserStreams == 0 {
		c.UserStreams = defaultUserStreams
	}
	for _, d := range []struct {
		v     *time.Duration
		usual time.Duration
	}{{&c.Heartbeat, 15 * time.Second}, {&c.PageTick, time.Second}, {&c.Drain, 10 * time.Second}} {
		if *d.v == 0 {
			*d.v = d.usual
		}
	}
	return c
}
