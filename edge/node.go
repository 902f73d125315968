package edge

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

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	cricketpage "github.com/touchline/touchline/httpapi/cricket/page"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
)

// storeFile is the name of the database in its directory.
const storeFile = "touchline.db"

// Parts are what a node is given besides its configuration: the ways out of the process, and time.
type Parts struct {
	Clock    clock.Clock
	Speed    string      // of the clock, for the page: real, max or 30x
	Feed     poll.Feed   // nil: nothing is polled
	Sender   SenderMaker // nil: nothing is pushed
	Phones   func() []cricketpage.PhoneView
	Featured string // the match that the page opens with
	Gallery  bool   // serve the gallery of page parts
	Version  string
	Log      *slog.Logger

	Cricket CricketConfig
	HTTP    HTTPConfig
	Auth    AuthMaker              // nil: nobody can sign in
	Demo    func() (string, error) // signs in whoever comes from this machine; nil: nobody
	Deck    *deck                  // the replays that are the feed; nil: it is real

	DynamoDB *Endpoint // nil: none; Run closes it
	Cloud    *Cloud    // nil: the node is alone with its store

	Connections int // that the node's own address may have open; 0: as many as HTTP wants

	JournalBytes int64         // kept for readers that lag; 0: the store's default
	TTLSweep     time.Duration // how often items past their TTL are deleted; 0: the store's default

	Store *store.Store // nil: the one in the node's directory; a given one outlives the node
}

// SenderMaker makes the way to the push service, given where its provider token is kept.
type SenderMaker func(s *store.Store) (push.Sender, error)

// Node is a running edge node: one store, and everything that reads and writes it.
type Node struct {
	parts   Parts
	wall    clock.Clock // real time, for the uptime
	store   *store.Store
	cricket *cricket.Service
	sync    *replica.Replica // nil without a cloud
	leases  *lease.Manager
	pool    *lease.Pool       // of leases, which several parts of the node share
	poller  *poll.Poller      // nil without a feed
	push    *push.Coordinator // nil without a sender
	api     *httpapi.Server
	users   *auth.Verifier // nil: nobody can sign in
	notices *notifier      // nil without a sender
	started time.Time

	hold func()             // lets a stepped clock go, once the loops have joined it
	rest context.CancelFunc // ends the work, not the serving
	work context.Context    //nolint:containedctx // the life of the loops, which Rest ends before Run's own
}

// Open opens the node's store in dir and puts the node together. Close it by Run, or by Close if Run is never called.
func Open(ctx context.Context, dir string, p Parts) (*Node, error) {
	s, err := p.openStore(dir)
	if err != nil {
		return nil, err
	}
	n := &Node{parts: p, store: s, cricket: cricket.NewService(s, p.options()), wall: clock.Real()}
	n.started = n.wall.Now()
	namesLongTurns(s, p.Log)
	n.tellCompaction()
	n.hold = p.Clock.Join()
	n.work, n.rest = context.WithCancel(context.WithoutCancel(ctx))
	if err := n.assemble(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// openStore opens the node's store in dir, or takes the one it was given.
func (p *Parts) openStore(dir string) (*store.Store, error) {
	if p.Store != nil {
		return p.Store, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "no_data_dir", "cannot create the data directory %s: %s", dir, reasonOf(err))
	}
	return store.Open(filepath.Join(dir, storeFile), store.Options{Now: p.Clock.Now, JournalBytes: p.JournalBytes, SweepEvery: p.TTLSweep})
}

// closeStore closes the store that the node has opened, after what reads it by itself.
func (n *Node) closeStore() error {
	n.notices.wait()
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
	if err := migrations.Apply(ctx, n.store); err != nil {
		return err
	}
	if d := n.parts.Deck; d != nil {
		if err := d.open(ctx, n.store); err != nil {
			return err
		}
	}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics.MustRegister(n.collector())
	if e := n.parts.DynamoDB; e != nil {
		e.open(n.store, store.PolicyIntent, migrations.Tables()...)
		metrics.MustRegister(e.api)
	}
	if n.sync != nil {
		metrics.MustRegister(n.sync.Collector())
	}
	var err error
	if n.leases, err = n.newLeases(ctx); err != nil {
		return err
	}
	n.pool = lease.NewPool(n.leases)
	n.assemblePoller(metrics)
	if err := n.assemblePush(metrics); err != nil {
		return err
	}
	api, err := n.apiConfig(metrics)
	if err != nil {
		return err
	}
	n.api, err = httpapi.New(api)
	return err
}

func (n *Node) assemblePoller(metrics *prometheus.Registry) {
	if n.parts.Feed == nil {
		return
	}
	if c, ok := n.parts.Feed.(feedClient); ok {
		metrics.MustRegister(c.Collector())
	}
	reference, _ := n.parts.Feed.(poll.Reference)
	budgets, _ := n.parts.Feed.(poll.Budgets)
	c := poll.Config{
		Node: n.store.Node(), Feed: n.parts.Feed, Leases: newHeld(n.pool), Ahead: newHeld(n.pool), Match: n.cricket, Data: n.store,
		Clock: n.parts.Clock, Log: n.parts.Log, Reference: reference, Budgets: budgets, Leagues: n.parts.Cricket.Leagues,
	}
	if n.sync != nil {
		c.Cloud = n.sync
		if n.parts.Cloud.Config.Offline == offlineObserve {
			c.Observe = n.cricket
		}
	}
	n.poller = n.parts.Deck.polled(c)
	metrics.MustRegister(n.poller.Collector())
}

func (n *Node) assemblePush(metrics *prometheus.Registry) error {
	if n.parts.Sender == nil {
		return nil
	}
	sender, err := n.parts.Sender(n.store)
	if err != nil {
		return err
	}
	c := push.Config{Store: n.store, Sender: sender, Clock: n.parts.Clock, Logger: n.parts.Log, Registerer: metrics}
	if n.parts.Cricket.Push.Channels {
		c.Channels, _ = sender.(push.Channels)
	}
	if n.sync != nil {
		c.Proofs, c.Rights = proofs{n.sync}, rights{n.pool, n.pool.User()}
	}
	n.push, err = push.New(c)
	return err
}

// Close lets go of the store of a node that does not run.
func (n *Node) Close() error {
	n.hold()
	n.rest()
	return n.closeStore()
}

// Run serves on ln and works until ctx ends or the store fails, and closes the store. The order of the end: no new
// readers, streams and requests finish, those of the DynamoDB API too, the poller gives its leases back, the store is closed.
func (n *Node) Run(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end := n.begin(ctx, cancel)
	stopWatching := failWith(n.store, cancel)
	stopAdmin := n.startAdmin(ctx)
	stopEndpoint := n.startEndpoint(ctx, cancel)
	err := n.api.Run(ctx, ln)
	err = errors.Join(err, stopEndpoint())
	stopAdmin()
	stopWatching()
	end()
	return errors.Join(causeOf(ctx), err, n.closeStore())
}

// begin sets the node to work: it keeps in step with its cloud, its leases are kept, its loops run. end stops the loops,
// lets what they wrote go to the cloud for a moment, and then gives the leases back: nobody works under them any more.
func (n *Node) begin(ctx context.Context, fail context.CancelCauseFunc) (end func()) {
	var loops, leases sync.WaitGroup
	endCloud := n.runCloud(ctx, fail)
	holding, letGo := context.WithCancel(context.WithoutCancel(ctx))
	leases.Go(func() {
		if err := n.leases.Run(holding); err != nil && holding.Err() == nil {
			fail(err)
		}
	})
	n.start(&loops, fail)
	return func() {
		n.rest()
		loops.Wait()
		endCloud()
		letGo()
		leases.Wait()
	}
}

// start runs the loops of the node. All of them join the clock before the first one runs, and since the node was
// opened no other loop could move a stepped clock on without them.
func (n *Node) start(loops *sync.WaitGroup, fail context.CancelCauseFunc) {
	runs := []func(context.Context) error{
		func(ctx context.Context) error { return housekeep(ctx, n.store, n.parts.Clock, n.parts.Log) },
	}
	if n.sync != nil {
		runs = append(runs, n.mirror)
	}
	if n.poller != nil {
		runs = append(runs, n.poller.Run)
	}
	if n.push != nil {
		runs = append(runs, n.push.Run)
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

// Rest ends polling, pushing and housekeeping; the node goes on serving what it holds.
func (n *Node) Rest() { n.rest() }

// ready reports whether the node can serve. It can without a cloud, without a feed, and on a full disk, which it says.
func (n *Node) ready(ctx context.Context) []operator.Check {
	st := n.store.Stats()
	checks := []operator.Check{
		{Name: "store", Err: n.store.Err(), Warning: noRoom(&st, n.wall.Now())},
		{Name: "writer", Err: heldWriter(&st)},
		{Name: "tables", Err: missingTables(n.store)},
	}
	if n.sync != nil {
		refuses, err := n.sync.Refusing(ctx)
		checks = append(checks, operator.Check{Name: operator.CheckCloud, Err: err, Warning: refuses})
	}
	return checks
}

// missingTables reports the first table that the node or an application works with and that is not there.
func missingTables(s *store.Store) error {
	for _, spec := range migrations.Tables() {
		if _, err := s.Describe(spec.Name); err != nil {
			return fault.Wrap(err, fault.Unavailable, "table_missing", "table %s is missing: a restart creates an empty one", spec.Name)
		}
	}
	return nil
}

// listenError is what a person is told of a port that cannot be had.
func listenError(err error, addr, flag string) error {
	reason := err.Error()
	if op, ok := errors.AsType[*net.OpError](err); ok {
		reason = op.Err.Error()
	}
	return fault.Wrap(err, fault.Unavailable, "cannot_listen", "cannot listen on %s: %s (%s chooses another address)", addr, reason, flag)
}

// listen takes the port before anything is started, so that a port in use is the first thing a person learns. The flag
// is the one by which to choose another.
func listen(ctx context.Context, addr, flag string) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, listenError(err, addr, flag)
	}
	return ln, nil
}

// serveUntil runs an HTTP server until ctx ends.
func serveUntil(ctx context.Context, s *http.Server, ln net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// reasonOf is the operating system's word for what is wrong, without the path.
func reasonOf(err error) string {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
