package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/session"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica"
)

// StoreFile is the name of the database in the data directory.
const StoreFile = "touchline.db"

// Parts are the dependencies and the configuration of a node.
type Parts struct {
	Clock   clock.Clock
	Jumps   *clock.Jumps // jumps of the machine's clocks, which wake the loops; nil: nobody looks
	Speed   string       // of the clock, as shown to people: real, max or 30x
	Gallery bool         // serve the gallery of page parts
	Version string
	Log     *slog.Logger

	Apps []*app.App // the applications to run

	HTTP HTTPConfig
	Mail mail.Config
	TLS  *httpapi.TLS // nil: plain HTTP
	Auth AuthMaker    // nil: nobody can sign in
	// IssuersOf returns the issuers whose users sign in to an application; nil, or a nil list: all issuers.
	IssuersOf func(application string) []string

	Session SessionConfig          // of browsers; zero: no sessions
	Tokens  bool                   // development: people can sign in with a pasted token
	Demo    func() (string, error) // signs in local requests without credentials; nil: nobody

	DynamoDB *Endpoint // nil: none; Run closes it
	Cloud    *Cloud    // nil: no cloud

	Connections int // limit of open connections at the node's own address; 0: as many as HTTP wants

	JournalBytes int64         // kept for lagging readers; 0: the store's default
	TTLSweep     time.Duration // how often items past their TTL are deleted; 0: the store's default

	Store *store.Store // nil: open the one in the node's directory; otherwise the caller closes it
}

// Schema returns what a node with these applications stores. Applications without a lease table of their own share one.
func Schema(apps []*app.App) migrations.Schema {
	all := make([]migrations.Schema, 0, len(apps)+2)
	shared := false
	for _, a := range apps {
		all = append(all, a.Schema())
		shared = shared || a.Cloud().Locks == ""
	}
	if shared {
		all = append(all, migrations.Schema{Tables: []store.TableSpec{{
			Name: app.LocksTable, Key: store.KeySpec{Partition: store.KeyAttr{Name: "lockKey", Type: store.KeyString}},
			Policy: store.PolicyLock, Why: "leases are decided where all nodes see them; never expired by TTL",
		}}})
	}
	all = append(all, migrations.Schema{Tables: session.Tables()}, migrations.Schema{Tables: handover.Tables()})
	all = append(all, migrations.Schema{Tables: []store.TableSpec{migrations.Private(mail.Table, "id", "sent from this node alone")}})
	return migrations.WithNode(all...)
}

// Node is a running edge node: one store, and everything that reads and writes it.
type Node struct {
	parts   Parts       // with a clock whose wall clock the cloud corrects
	machine clock.Clock // the same without that, for what asks the cloud
	schema  migrations.Schema
	wall    clock.Clock // real time, for the uptime
	store   *store.Store
	sync    *replica.Replica // nil without a cloud
	locks   []*locks         // one per table
	shared  []app.Cloud      // what the applications share, in the order of parts.Apps
	apps    []*app.Instance  // in that order too

	upkeep *maintenance
	mail   *mail.Outbox // nil: no mail

	consumers []*consumer
	derivers  []*deriver
	api       *httpapi.Server
	users     *auth.Verifier // nil: nobody can sign in
	started   time.Time

	hold func()             // releases a stepped clock once the loops have joined it
	rest context.CancelFunc // ends the loops, but not the server
	work context.Context    //nolint:containedctx // lifetime of the loops, which ends before Run does
}

// Open opens the node's store in dir and assembles the node. Run closes it, or Close if Run is never called.
func Open(ctx context.Context, dir string, p Parts) (*Node, error) {
	machine := clock.Waking(p.Clock, p.Jumps)
	p.Clock = correctedClock(machine, p.Cloud)
	s, err := p.openStore(dir)
	if err != nil {
		return nil, err
	}
	n := &Node{parts: p, machine: machine, schema: Schema(p.Apps), shared: computeShared(p.Apps), store: s, wall: clock.Real(), upkeep: &maintenance{store: s}}
	n.started = n.wall.Now()
	NameLongTurns(s, p.Log)
	logUnreadable(s, p.Log)
	n.tellCompaction()
	n.tellDamages()
	n.hold = p.Clock.Join()
	n.work, n.rest = context.WithCancel(context.WithoutCancel(ctx))
	if err := n.assemble(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// Store returns the node's store.
func (n *Node) Store() *store.Store { return n.store }

// StartAttrs returns the applications' log attributes for the line "serving".
func (n *Node) StartAttrs() (attrs []any) {
	for _, a := range n.apps {
		attrs = append(attrs, a.Started...)
	}
	return attrs
}

// openStore opens the store in dir, or returns the given one.
func (p *Parts) openStore(dir string) (*store.Store, error) {
	if p.Store != nil {
		return p.Store, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "no_data_dir", "cannot create the data directory %s: %s", dir, ReasonOf(err))
	}
	return store.Open(filepath.Join(dir, StoreFile), store.Options{Now: p.Clock.Wall, JournalBytes: p.JournalBytes, SweepEvery: p.TTLSweep})
}

// closeStore closes what reads the store, then the store if the node opened it.
func (n *Node) closeStore() error {
	for _, a := range n.apps {
		if a.Close != nil {
			a.Close()
		}
	}
	if n.users != nil {
		n.users.Close()
	}
	if c := n.parts.Cloud; c != nil && c.Close != nil {
		c.Close()
	}
	if n.parts.Store != nil {
		return nil
	}
	return n.store.Close()
}

func (n *Node) assemble(ctx context.Context) error {
	if err := n.openCloud(ctx); err != nil {
		return err
	}
	if err := n.schema.Apply(ctx, n.store); err != nil {
		return err
	}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics.MustRegister(nodeCollector{n})
	if t := n.parts.TLS; t != nil {
		metrics.MustRegister(certificateMetric(t.Source))
	}
	if e := n.parts.DynamoDB; e != nil {
		e.Open(n.store, store.PolicyIntent, n.endpointCloud(), metrics, n.schema.Tables...)
	}
	if n.sync != nil {
		metrics.MustRegister(n.sync.Collector())
	}
	if n.parts.Mail.IsEnabled() {
		n.mail = mail.New(n.parts.Mail, mail.Deps{Store: n.store, Clock: n.parts.Clock, Log: n.parts.Log, Metrics: metrics})
	}
	if err := n.openLocks(ctx); err != nil {
		return err
	}
	for i, a := range n.parts.Apps {
		instance, err := a.Open(ctx, n.host(n.shared[i], metrics))
		if err != nil {
			return err
		}
		n.apps = append(n.apps, instance)
		for _, c := range instance.Consumers {
			n.consumers = append(n.consumers, n.newConsumer(a.Name, c, metrics))
		}
		for _, r := range instance.Derives {
			n.derivers = append(n.derivers, n.newDeriver(a, r))
		}
	}
	api, err := n.apiConfig(metrics)
	if err != nil {
		return err
	}
	n.api, err = httpapi.New(api)
	return err
}

// host returns what the node provides to an application.
func (n *Node) host(shared app.Cloud, metrics *prometheus.Registry) *app.Host {
	h := &app.Host{
		Node: n.store.Node(), Store: n.store, Clock: n.parts.Clock, Log: n.parts.Log, Metrics: metrics,
		Leases: n.locksOf(shared).pool, Mail: n.mail, Work: n.work, Version: n.parts.Version, PublicURL: n.parts.HTTP.PublicURL, Maintain: n.upkeep.Maintain,
	}
	if n.sync != nil {
		h.Sync, h.Observe = n.sync, n.parts.Cloud.Config.Offline == offlineObserve
	}
	return h
}

// Close closes a node that does not run.
func (n *Node) Close() error {
	n.hold()
	n.rest()
	return n.closeStore()
}

// Run serves on ln and works until ctx ends or the store fails, then closes the store. It shuts down in this order: new readers are
// refused; streams and requests finish, then those of the DynamoDB API; the loops end; outstanding writes are sent; leases are
// released; the store is closed.
func (n *Node) Run(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end := n.Begin(ctx, cancel)
	stopWatching := FailWith(n.store, cancel)
	stopAdmin := n.startAdmin(ctx)
	stopEndpoint := n.startEndpoint(ctx, cancel)
	err := n.api.Run(ctx, ln)
	err = errors.Join(err, stopEndpoint())
	stopAdmin()
	stopWatching()
	end()
	return errors.Join(CauseOf(ctx), err, n.closeStore())
}

// Begin starts the node's work, whether or not it serves: replication with the cloud, renewal of leases, and the loops. end stops the
// loops, gives their writes a moment to reach the cloud, and then releases the leases, since nobody works under them any more.
func (n *Node) Begin(ctx context.Context, fail context.CancelCauseFunc) (end func()) {
	var loops, leases sync.WaitGroup
	stopLooking := Background(context.WithoutCancel(ctx), n.parts.Jumps.Run)
	endCloud := n.runCloud(ctx, fail)
	holding, letGo := context.WithCancel(context.WithoutCancel(ctx))
	for _, l := range n.locks {
		leases.Go(func() {
			if err := l.manager.Run(holding); err != nil && holding.Err() == nil {
				fail(err)
			}
		})
	}
	n.start(&loops, fail)
	return func() {
		n.rest()
		loops.Wait()
		endCloud()
		letGo()
		leases.Wait()
		stopLooking()
	}
}

// start runs the node's loops. All of them join the clock before the first one runs. Since Open, hold has kept a stepped clock from
// advancing without them.
func (n *Node) start(loops *sync.WaitGroup, fail context.CancelCauseFunc) {
	runs := []func(context.Context) error{
		func(ctx context.Context) error { return Housekeep(ctx, n.store, n.parts.Clock, n.parts.Log) },
	}
	if n.mail != nil {
		runs = append(runs, n.mail.Run)
	}
	for _, a := range n.apps {
		runs = append(runs, a.Loops...)
	}
	for _, c := range n.consumers {
		runs = append(runs, c.run)
	}
	for _, d := range n.derivers {
		runs = append(runs, d.run)
	}
	leaves := make([]func(), len(runs))
	for i := range runs {
		leaves[i] = n.parts.Clock.Join()
	}
	n.hold()
	for i, run := range runs {
		loops.Go(func() {
			defer leaves[i]()
			if err := run(n.work); err != nil && n.work.Err() == nil {
				fail(err)
			}
		})
	}
}

// Rest ends the loops. The node continues to serve what it has.
func (n *Node) Rest() { n.rest() }

// ready returns the node's readiness checks. A node without its cloud, without a feed, or with a full disk can serve; it reports a
// warning.
func (n *Node) ready(ctx context.Context) []operator.Check {
	st := n.store.Stats()
	checks := []operator.Check{
		{Name: "store", Err: n.store.Err(), Warning: st.Warning},
		{Name: "writer", Err: heldWriter(&st)},
		{Name: "tables", Err: missingTables(n.store, n.schema.Tables)},
	}
	if n.mail != nil {
		st := n.mail.Status()
		checks = append(checks, operator.Check{Name: "mail", Warning: st.Warning()})
	}
	if n.sync != nil {
		refuses, err := n.sync.Refusing(ctx)
		checks = append(checks, operator.Check{Name: operator.CheckCloud, Err: err, Warning: refuses})
		stands, err := n.sync.Standing(ctx)
		checks = append(checks, operator.Check{Name: operator.CheckStanding, Err: err, Warning: stands})
	}
	return checks
}

// missingTables returns an error for the first missing table of the node or an application.
func missingTables(s *store.Store, tables []store.TableSpec) error {
	for _, spec := range tables {
		if _, err := s.Describe(spec.Name); err != nil {
			return fault.Wrap(err, fault.Unavailable, "table_missing", "table %s is missing: a restart creates an empty one", spec.Name)
		}
	}
	return nil
}

// Listen listens on addr. Call it before anything starts, so that a port in use is reported first. flag is the flag that chooses
// another address, for the error message.
func Listen(ctx context.Context, addr, flag string) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "cannot_listen", "cannot listen on %s: %s (%s chooses another address)", addr, ReasonOf(err), flag)
	}
	return ln, nil
}

// ServeUntil runs an HTTP server until ctx ends.
func ServeUntil(ctx context.Context, s *http.Server, ln net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Background runs do in a goroutine until stop is called, which ends its context and waits for it.
func Background(ctx context.Context, do func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var loop sync.WaitGroup
	loop.Go(func() { do(ctx) })
	return func() { cancel(); loop.Wait() }
}

// ReasonOf returns the operating system's reason for an error, without the path or address.
func ReasonOf(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err.Error()
	}
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// Reconfigure applies settings that can change while the node runs.
func (n *Node) Reconfigure(h HTTPConfig, apiKey string, connections int) error {
	if err := n.api.SetLimits(h.Limits(connections)); err != nil {
		return err
	}
	if n.users != nil {
		n.users.SetAPIKey(apiKey)
	}
	return nil
}
