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

// cursorName is this reader's in the journal.
const cursorName = "push"

// How the loop behaves.
const (
	readBatch    = 256              // journal records at a time
	cursorLag    = 1024             // records read without anything to send before the cursor is saved all the same
	passEvery    = 30 * time.Second // while a follower is without an activity
	pauseAfter   = time.Minute      // after an answer that says that we are wrong
	errorWait    = time.Second      // after a failed round
	rowsAtOnce   = 500              // rows changed in one transaction
	workersUsual = 512
)

// Sender delivers one push. apns.Client is one.
type Sender interface {
	// Send returns within a bounded time and never fails: what happened is in the result. It is called from many
	// goroutines at once.
	Send(ctx context.Context, p apns.Push) apns.Result
}

// Config is what a coordinator works with.
type Config struct {
	Store      *store.Store
	Sender     Sender
	Clock      clock.Clock
	Channels   Channels              // nil: every phone is told by its token
	Proofs     Proofs                // nil: what is committed here is proved
	Rights     Rights                // nil: this node pushes for every match
	Workers    int                   // pushes on their way at once; 512 when zero
	Random     func() float64        // in [0, 1), of the waits before retries; nil: math/rand's
	Logger     *slog.Logger          // nil: silent
	Registerer prometheus.Registerer // nil: no metrics
}

// Coordinator decides who is told what, and has it sent.
type Coordinator struct {
	cfg     Config
	store   *store.Store
	clock   clock.Clock
	log     *slog.Logger
	changed *clock.Signal
	metrics *metrics

	patience time.Duration // with the last answers of a round

	// The loop's own, a projection of the store as of cursor.
	matches  map[string]*match
	loaded   bool
	since    time.Time // when the process began
	cursor   uint64    // of the last record read
	saved    uint64    // of the cursor in the store
	pass     time.Time
	paused   time.Time              // nothing is sent until then
	urgent   map[string][]time.Time // pushes of priority 10 in the last hour, by device
	recent   []tally                // rounds of the last minute
	cleaning map[string]bool        // matches whose channels of an earlier process are cleaned up
	manage   Channels               // who deletes channels, even where none are made any more; nil: nobody
	flying   sync.WaitGroup         // pushes and tasks on their way
	alerts   uint64                 // released so far
	host     tasks                  // about channels
	locks    tasks                  // to the locks

	manageAt time.Time // the host that makes channels did not answer: nothing is asked of it before
	misses   int       // how often in a row

	mu     sync.Mutex
	views  map[string]MatchView
	landed []*job // answered after the loop had gone on
	alarms map[string]Alarm
	until  time.Time       // paused
	asked  map[string]bool // matches whose display is to be sent again
}

// New makes a coordinator. It does nothing until Run.
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
		cfg: cfg, store: cfg.Store, clock: cfg.Clock, log: cfg.Logger, changed: clock.NewSignal(), metrics: m,
		patience: patienceUsual,
		matches:  map[string]*match{}, urgent: map[string][]time.Time{}, views: map[string]MatchView{},
		alarms: map[string]Alarm{}, asked: map[string]bool{}, cleaning: map[string]bool{}, manage: cfg.manager(),
	}
	c.host.c, c.locks.c = c, c
	return c, nil
}

// manager is who deletes channels.
func (cfg *Config) manager() Channels {
	if cfg.Channels != nil {
		return cfg.Channels
	}
	m, _ := cfg.Sender.(Channels)
	return m
}

// Run coordinates until ctx ends, which is no error, or the store fails for good. Its goroutine must have joined the
// clock: whoever starts it calls Clock.Join first, as with every loop.
func (c *Coordinator) Run(ctx context.Context) error {
	stop := c.store.Watch(c.changed)
	defer stop()
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

// wait waits for news or the next due instant; after a failed round for a while, and then everything is decided anew.
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

// turn is one round, before the first of which the state is loaded.
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
	c.refreshAsked()
	return c.round(ctx)
}

// leave saves how far the loop came, and the alerts that no push can have brought to anybody yet: the next process tells
// them.
func (c *Coordinator) leave(ctx context.Context) error {
	if !c.loaded {
		return nil // the cursor in the store is the true one
	}
	ctx = context.WithoutCancel(ctx)
	c.clock.Suspend(c.flying.Wait)
	c.host.queue, c.locks.queue = nil, nil
	return errors.Join(c.landings(ctx), c.finishTasks(ctx), c.save(ctx, c.list()))
}

func (c *Coordinator) finishTasks(ctx context.Context) error {
	return errors.Join(c.host.finish(ctx), c.locks.finish(ctx))
}

// round reads what is new, decides, commits what must not be forgotten, sends, and notes what came of it.
func (c *Coordinator) round(ctx context.Context) error {
	if err := c.read(ctx); err != nil {
		return err
	}
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
	err := c.work(ctx, now, touched, c.pick(jobs))
	c.publish(touched)
	if err != nil {
		return err
	}
	c.forget(ctx)
	return nil
}

// reconcile does for a match what has to be done before its pushes are planned: what only its holder does, and whether claims of
// this node have been proved.
func (c *Coordinator) reconcile(ctx context.Context, m *match, now time.Time) error {
	m.wake = time.Time{}
	if err := c.claim(ctx, m, now); err != nil {
		return err
	}
	if err := c.prove(ctx, m, now); err != nil {
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

// work carries out what a round has decided.
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
	for _, m := range touched {
		c.build(m, jobs, now)
	}
	// From here on a crash loses the alerts of this round and doubles none.
	if err := c.save(ctx, touched); err != nil {
		for _, j := range jobs {
			j.stays()
			j.skip = true
		}
		return errors.Join(err, c.unsent(ctx, jobs))
	}
	return c.settle(ctx, c.send(ctx, jobs))
}

// unsaved lists the matches that are over and whose last counters are not in the store yet, and those whose claims were
// decided without a push: a restart should not ask again.
func (c *Coordinator) unsaved() (out []*match) {
	for _, m := range c.list() {
		if m.finished() && !m.saved() || m.decided() {
			out = append(out, m)
		}
	}
	return out
}

// list returns the matches in the order of their ids: the same journal makes the same pushes in the same order.
func (c *Coordinator) list() []*match {
	out := make([]*match, 0, len(c.matches))
	for _, id := range slices.Sorted(maps.Keys(c.matches)) {
		out = append(out, c.matches[id])
	}
	return out
}

// nextDue is the next instant at which something may have to be sent, zero if only news can bring that about.
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

// earlier is the earlier of two instants, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later is the later of two instants.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// forget drops matches that are over and whose phones all know it.
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
		clear(c.urgent)
	}
}
