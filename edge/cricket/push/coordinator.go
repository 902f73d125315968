package push

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// cursorName is the name of the journal cursor.
const cursorName = "push"

// Sizes and waits of the loop.
const (
	readBatch    = 256              // journal records read at once
	cursorLag    = 1024             // records without a push after which the cursor is saved anyway
	passEvery    = 30 * time.Second // while a follower has no activity
	errorWait    = time.Second      // after a failed round
	rowsAtOnce   = 500              // rows changed in one transaction
	workersUsual = 512
)

// Sender delivers one push. apns.Client implements it.
type Sender interface {
	// Send returns within a bounded time; failures are in the result. It is called concurrently.
	Send(ctx context.Context, p apns.Push) apns.Result
}

// Config configures a Coordinator.
type Config struct {
	Store        *store.Store
	Sender       Sender
	Clock        clock.Clock
	Channels     Channels              // nil: phones are notified by token
	Proofs       Proofs                // nil: committed claims count as proved
	Rights       Rights                // nil: this node pushes for every match
	Environments bool                  // the sender has a host for tokens of apps in development too
	Collapse     bool                  // the states of a match have a collapse id
	Workers      int                   // concurrent pushes; 0: 512
	Random       func() float64        // jitter in [0, 1) for retries; nil: math/rand
	Logger       *slog.Logger          // nil: no logs
	Registerer   prometheus.Registerer // nil: no metrics
}

// Coordinator decides which phone is notified of what, and sends the pushes.
type Coordinator struct {
	cfg     Config
	store   *store.Store
	clock   clock.Clock // its Now is the wall clock, see followClock
	log     *slog.Logger
	changed *clock.Signal
	metrics *metrics
	circuit circuit

	patience time.Duration // how long a round waits for its last answers

	// Owned by the loop: a projection of the store as of cursor.
	matches  map[string]*match
	loaded   bool
	since    time.Time     // when the process started
	ahead    time.Duration // of the wall clock, against the time of loops
	cursor   uint64        // sequence of the last record read
	saved    uint64        // cursor value in the store
	pass     time.Time
	paused   time.Time // no pushes before then, as the circuit said
	urgent   urgentBudget
	lanes    map[string]time.Time // when a token that matches share got its last push
	recent   []tally              // rounds of the last minute
	cleaning map[string]bool      // matches whose channels from an earlier process are being cleaned up
	manage   Channels             // deletes channels, even if none are created any more; nil: cannot
	flying   sync.WaitGroup       // pushes and tasks under way
	alerts   uint64               // number of alerts released
	host     tasks                // about channels
	locks    tasks                // about leases

	manageAt time.Time // the channel host did not answer: no requests before then
	misses   int       // consecutive failures to answer

	mu     sync.Mutex
	views  map[string]MatchView
	landed []*job // answers that arrived after the loop had gone on
	alarms map[string]Alarm
}

// New returns a coordinator. It does nothing until Run.
func New(cfg Config) (*Coordinator, error) {
	cfg.Workers, cfg.Logger = cmp.Or(cfg.Workers, workersUsual), cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Random == nil {
		cfg.Random = rand.Float64
	}
	m, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	c := &Coordinator{
		cfg: cfg, store: cfg.Store, clock: clock.ByWall(cfg.Clock), log: cfg.Logger, changed: clock.NewSignal(), metrics: m,
		circuit:  circuit{clock: clock.ByWall(cfg.Clock), log: cfg.Logger, after: tripAfter},
		patience: patienceUsual,
		matches:  map[string]*match{}, urgent: urgentBudget{spent: map[string][]time.Time{}}, lanes: map[string]time.Time{}, views: map[string]MatchView{},
		alarms: map[string]Alarm{}, cleaning: map[string]bool{}, manage: cfg.manager(),
	}
	c.host.c, c.locks.c = c, c
	return c, nil
}

// manager returns the client that deletes channels.
func (cfg *Config) manager() Channels {
	if cfg.Channels != nil {
		return cfg.Channels
	}
	m, _ := cfg.Sender.(Channels)
	return m
}

// Run coordinates until ctx ends, which is not an error, or the store fails permanently. As with every loop, the
// caller must have joined the clock (Clock.Join) for Run's goroutine.
func (c *Coordinator) Run(ctx context.Context) error {
	stop := c.store.Watch(c.changed)
	defer stop()
	c.followClock()
	c.since = c.clock.Now()
	for {
		err := c.turn(ctx)
		if ctx.Err() != nil {
			return c.leave(ctx)
		}
		if c.store.Err() != nil {
			return c.store.Err()
		}
		if c.wait(ctx, err) != nil {
			return c.leave(ctx)
		}
	}
}

// wait waits for news or the next due time. After a failed round it waits errorWait, and every match is planned again.
func (c *Coordinator) wait(ctx context.Context, failed error) error {
	if failed == nil {
		return c.clock.Wait(ctx, c.nextDue(), c.changed)
	}
	c.log.Error("push round failed", "err", failed)
	for _, m := range c.matches {
		m.dirty = true
	}
	return clock.Sleep(ctx, c.clock, errorWait)
}

// turn does one round; the first one also loads the state.
func (c *Coordinator) turn(ctx context.Context) error {
	if !c.loaded {
		if err := c.load(ctx); err != nil {
			return err
		}
		c.loaded = true
	}
	if err := c.landings(ctx); err != nil {
		return err
	}
	if err := c.finishTasks(ctx); err != nil {
		return err
	}
	return c.round(ctx)
}

// leave saves the cursor, and the alerts that no push can have delivered yet, for the next process to send.
func (c *Coordinator) leave(ctx context.Context) error {
	if !c.loaded {
		return nil // the stored cursor is right
	}
	ctx = context.WithoutCancel(ctx)
	c.clock.Suspend(c.flying.Wait)
	c.host.queue, c.locks.queue = nil, nil
	return errors.Join(c.landings(ctx), c.finishTasks(ctx), c.save(ctx, c.list()))
}

func (c *Coordinator) finishTasks(ctx context.Context) error {
	return errors.Join(c.host.finish(ctx), c.locks.finish(ctx))
}

// round reads the journal, plans, commits what must survive a crash, sends, and records the answers.
func (c *Coordinator) round(ctx context.Context) error {
	if err := c.read(ctx); err != nil {
		return err
	}
	c.followClock()
	c.heed()
	now := c.clock.Now()
	passing := !c.pass.IsZero() && !now.Before(c.pass)
	if passing {
		c.pass = now.Add(passEvery)
	}
	var jobs []*job
	var touched []*match
	for _, m := range c.list() {
		if err := m.refresh(); err != nil {
			c.log.Error("display not readable", "match", m.id, "err", err)
		}
		if passing {
			m.doubt = true
		}
		if err := c.reconcile(ctx, m, now); err != nil {
			return err
		}
		if due, planned := c.plan(m, now); planned {
			jobs = append(jobs, due...)
			touched = append(touched, m)
		}
	}
	err := c.work(ctx, now, touched, c.pick(c.admit(jobs, now)))
	c.publish(touched)
	if err != nil {
		return err
	}
	c.forget(ctx)
	return nil
}

// heed plans every match again when pushes are held back, for longer, or not any more.
func (c *Coordinator) heed() {
	until, _ := c.circuit.held()
	if until.Equal(c.paused) {
		return
	}
	c.paused = until
	for _, m := range c.matches {
		m.dirty = true
	}
}

// reconcile does what must precede planning for a match: the tasks of its holder, and checking whether this node's claims are proved.
func (c *Coordinator) reconcile(ctx context.Context, m *match, now time.Time) error {
	m.wake = time.Time{}
	if err := c.claim(ctx, m, now); err != nil {
		return err
	}
	if err := c.prove(ctx, m, now); err != nil {
		return err
	}
	if err := c.readDevices(ctx, m); err != nil {
		return err
	}
	if err := c.expire(ctx, m, now); err != nil || !m.held {
		return err
	}
	if err := c.ensure(ctx, m); err != nil {
		return err
	}
	return c.maintain(ctx, m, now)
}

// work carries out the plan of a round.
func (c *Coordinator) work(ctx context.Context, now time.Time, touched []*match, jobs []*job) error {
	if len(jobs) == 0 {
		over := c.unsaved()
		if len(over) == 0 && c.cursor-c.saved < cursorLag {
			return nil
		}
		return c.save(ctx, over)
	}
	if err := c.prepare(ctx, jobs); err != nil {
		return err
	}
	c.nameMatches(jobs, now)
	for _, m := range touched {
		c.build(m, jobs, now)
	}
	// From here on a crash loses this round's alerts but never sends one twice.
	if err := c.save(ctx, touched); err != nil {
		for _, j := range jobs {
			j.recordUndelivered()
			j.skip = true
		}
		return errors.Join(err, c.unsent(ctx, jobs))
	}
	return c.settle(ctx, c.send(ctx, jobs))
}

// unsaved lists finished matches whose last counters are not stored yet, and matches whose claims were decided
// without a push, so that a restart does not ask again.
func (c *Coordinator) unsaved() (out []*match) {
	for _, m := range c.list() {
		if m.finished() && !m.saved() || m.decided() {
			out = append(out, m)
		}
	}
	return out
}

// list returns the matches ordered by id: the same journal gives the same pushes in the same order.
func (c *Coordinator) list() []*match {
	out := make([]*match, 0, len(c.matches))
	for _, id := range slices.Sorted(maps.Keys(c.matches)) {
		out = append(out, c.matches[id])
	}
	return out
}

// nextDue returns the next time something may have to be sent, zero if only news can require it.
func (c *Coordinator) nextDue() time.Time {
	var next time.Time
	lacking := false
	for _, m := range c.matches {
		if m.dirty {
			return c.clock.Now()
		}
		next = earlier(earlier(earlier(next, m.next), m.wake), m.nextMaintenance())
		lacking = lacking || m.held && (m.lacking || m.orphans && m.playing())
	}
	switch {
	case !lacking:
		c.pass = time.Time{}
	case c.pass.IsZero():
		c.pass = c.clock.Now().Add(passEvery)
	}
	return earlier(next, c.pass)
}

// earlier returns the earlier of two times; zero means none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// forget drops finished matches that owe their phones nothing.
func (c *Coordinator) forget(ctx context.Context) {
	for id, m := range c.matches {
		if m.finished() && m.saved() {
			c.giveBack(ctx, m)
			delete(c.matches, id)
			c.mu.Lock()
			delete(c.views, id)
			c.mu.Unlock()
		}
	}
	if len(c.matches) == 0 {
		c.urgent.clear()
	}
}
