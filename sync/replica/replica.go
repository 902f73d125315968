package replica

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/identity"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
	"github.com/touchline/touchline/sync/replica/restore"
)

// Replica keeps a store and a cloud in sync: the application's writes go out as the operations they were, exactly once, and the writes
// of others come in. Open attaches it to a store; Run does the work.
//
// Everything it must not forget is in side buckets of the store, and changes in the transaction that makes it true. Memory is only
// a window on that, updated after commits.
type Replica struct {
	cfg    Config // with defaults filled in
	limits Limits
	store  *store.Store
	cloud  remote.Cloud
	clock  clock.Clock
	log    *slog.Logger
	exprs  *expr.Cache

	workers   []*worker
	net       *flow.Link   // whether the cloud is reachable, and how many workers may send
	paces     *flow.Paces  // send rates of the tables, and which are stopped
	levels    *flow.Levels // of the budgets
	stands    standstills  // tables to which nothing is sent
	waiting   *waiters     // callers waiting for entries to settle
	events    *eventWaits  // state that waits for its events
	box       *outbox.Outbox
	conflicts *conflict.Log
	books     books         // of the housekeeping
	asked     *clock.Signal // housekeeping has something to do
	tasks     *clock.Signal // a background task is waiting
	specs     atomic.Pointer[map[string]*store.TableSpec]
	opened    atomic.Bool
	made      time.Time // creation time by its clock

	lastHindrance flow.Hindrance // why work under locks is impossible now

	transacts atomic.Uint32 // whether the cloud has transactions (client.go)
	probed    bool          // whether the cloud was asked in this run; used by connect

	identity *identity.Identity
	tables   *restore.Tables
	feed     *feed.Feed
}

// New creates a Replica. It does no I/O.
func New(c Config) (*Replica, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Replica{
		cfg: c, store: c.Store, clock: c.Clock, log: c.Log, exprs: expr.NewCache(1024),
		made: c.Clock.Now(), limits: c.Limits, levels: &flow.Levels{}, waiting: newWaiters(), events: newEventWaits(),
		asked: clock.NewSignal(), tasks: clock.NewSignal(),
	}
	r.cloud = &lineCloud{Cloud: c.Cloud, r: r}
	r.box = &outbox.Outbox{
		Heads: c.Limits.Heads, Folds: c.Limits.Folds, Reads: outbox.NewReads(), Env: r.env, Spec: r.spec, Hint: r.hint,
	}
	r.identity = &identity.Identity{
		Store: c.Store, Cloud: r.cloud, Box: r.box, Clock: c.Clock, Jumps: c.Jumps, Log: c.Log, Rand: c.Rand, Dir: c.Dir, Table: c.SyncTable, Deadline: c.Deadline,
		Signed: c.Limits.Signed, Tell: c.Limits.Tell, Ready: r.ready, Beside: r.checkTables, Wake: r.wakeTasks, Failpoint: c.Failpoint,
	}
	r.box.Lost, r.box.RunAfter = r.identity.LostMarked, r.identity.RunAfter
	r.conflicts = conflict.NewLog(c.Store, r.box, c.Clock, c.Log, c.Merge, c.Secret, r.publishHeads)
	r.paces = flow.NewPaces(r.float)
	r.tables = &restore.Tables{
		Store: c.Store, Cloud: r.cloud, Box: r.box, Paces: r.paces, Identity: r.identity, Clock: c.Clock, Log: c.Log, Rand: c.Rand,
		SyncTable: c.SyncTable, Deadline: c.Deadline, Rescan: r.rescan, Reconsider: r.reconsider, Failpoint: c.Failpoint,
	}
	r.feed = &feed.Feed{
		Store: c.Store, Cloud: r.cloud, Box: r.box, Clock: c.Clock, Log: c.Log, Rand: c.Rand, Rules: c.Poll,
		Deadline: c.Deadline, Page: c.Limits.Page, Tables: r.tables, Settle: r.settleShown, Moved: r.publishHeads,
		OtherCopy: r.identity.Suspect, Wake: r.wakeTasks, Failpoint: c.Failpoint, Written: r.lastWrites,
	}
	r.makeWorkers(c.Workers)
	return r, nil
}

// ready completes a new connection, after the node's row was written.
func (r *Replica) ready(ctx context.Context) error {
	if err := r.askTransactions(ctx); err != nil {
		return err
	}
	return r.tables.CheckUnchecked(ctx)
}

// checkTables checks the cloud's tables whenever the node has reported how far it has settled.
func (r *Replica) checkTables(ctx context.Context) {
	if err := r.tables.CheckAll(ctx, false); err != nil {
		remote.Complain(r.log, "looking at the tables of the cloud", err)
	}
	r.tables.EndReplays(ctx)
}

// wakeTasks wakes the background tasks.
func (r *Replica) wakeTasks() { r.tasks.Set() }

// makeWorkers creates n workers and one for what goes ahead.
func (r *Replica) makeWorkers(n int) {
	r.workers, r.box.Workers = make([]*worker, n+1), n+1
	for i := range r.workers {
		r.workers[i] = newWorker(r, i)
	}
	r.net = flow.NewLink(n+1, r.float)
	r.feed.Link, r.identity.Link, r.tables.Link = r.net, r.net, r.net
}

// Outbox returns the outbox: what waits for the cloud, and what is known of the items there.
func (r *Replica) Outbox() *outbox.Outbox { return r.box }

// Ensure fetches items, or whole partitions, from the cloud before they are read; see feed.Feed.Ensure.
func (r *Replica) Ensure(ctx context.Context, table string, keys ...attr.Item) error {
	return r.feed.Ensure(ctx, table, keys...)
}

// LatestPass returns the number of the read of a table or partition that began last; see feed.Feed.IsWhole.
func (r *Replica) LatestPass() uint64 { return r.feed.LatestPass() }

// IsWhole reports whether a partition, or the whole table if partition is absent, was read from start to end by a pass that began after
// the one with the given number, and since the cloud was last away.
func (r *Replica) IsWhole(table string, partition attr.Value, after uint64) (bool, error) {
	return r.feed.IsWhole(table, partition, after)
}

// WantWhole has a partition, or the whole table if partition is absent, read from start to end soon.
func (r *Replica) WantWhole(table string, partition attr.Value) error {
	return r.feed.WantWhole(table, partition)
}

// WatchWhole sets sig whenever something was read whole, until stop is called.
func (r *Replica) WatchWhole(sig *clock.Signal) (stop func()) { return r.feed.WatchWhole(sig) }

// ReadFresh reads items, or whole partitions, from the cloud, however recently that was done; see feed.Feed.ReadFresh.
func (r *Replica) ReadFresh(ctx context.Context, table string, keys ...attr.Item) error {
	return r.feed.ReadFresh(ctx, table, keys...)
}

// SendsOnly reports whether a table is sent to the cloud but not read from it: what others write there does not arrive here. Tables
// written under a lock do not count, because their rows are read when the lock is taken.
func (r *Replica) SendsOnly(table string) bool {
	spec := r.spec(table)
	return spec != nil && spec.Sends() && spec.Lock == "" && !r.feed.Covers(table)
}

// sendsOnly returns the names of the tables for which SendsOnly holds.
func (r *Replica) sendsOnly() (names []string) {
	for name := range r.learnSpecs() {
		if r.SendsOnly(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// lastWrites returns when the cloud last took a write of each table that is sent only, since the start.
func (r *Replica) lastWrites() map[string]time.Time {
	all := map[string]time.Time{}
	for _, name := range r.sendsOnly() {
		if at := r.paces.LastTaken(name); !at.IsZero() {
			all[name] = at
		}
	}
	return all
}

// Conflicts returns the log of decisions, through which an operator decides open conflicts.
func (r *Replica) Conflicts() *conflict.Log { return r.conflicts }

// float returns a random number in [0, 1).
func (r *Replica) float() float64 { return backoff.Float(r.cfg.Rand) }

// Open attaches the replica to its store and loads what earlier runs left there. Call it before the store's first write. It makes no
// request to the cloud.
func (r *Replica) Open(ctx context.Context) error {
	if !r.opened.CompareAndSwap(false, true) {
		return fault.New(fault.Internal, "replica_open", "the replicator is open already")
	}
	if err := r.store.Define(ctx, ownTable()); err != nil {
		return err
	}
	r.learnSpecs()
	if err := r.tables.Open(ctx); err != nil {
		return err
	}
	if err := r.identity.Open(ctx); err != nil {
		return err
	}
	if err := r.store.Update(ctx, r.openOutbox); err != nil {
		return err
	}
	r.store.Replicate(r)
	return nil
}

// openOutbox determines how many workers the outbox was written for, and which batches may have been on their way when the last run
// ended. Those count as sent and unanswered.
func (r *Replica) openOutbox(tx *store.Tx) error {
	all, err := outbox.ReadCounts(tx)
	if err != nil {
		return err
	}
	workers := []byte{byte(r.cfg.Workers)}
	had, err := tx.Side(outbox.SideMeta).Get([]byte("lanes"))
	if err != nil {
		return err
	}
	if len(had) == 1 && had[0] != workers[0] && had[0] > 0 && all.Total().Entries > 0 {
		r.log.Warn("the outbox is not empty, so it keeps its number of workers", "workers", had[0], "configured", workers[0])
		workers = had
	}
	if workers[0] != r.box.Express() {
		r.makeWorkers(int(workers[0]))
	}
	if err := tx.Side(outbox.SideMeta).Set([]byte("lanes"), workers); err != nil {
		return err
	}
	if err := r.loadTransactions(tx); err != nil {
		return err
	}
	t := outbox.Tally{}
	for _, l := range r.workers {
		if err := l.suspect(tx, t); err != nil {
			return err
		}
	}
	return t.AddToCounts(tx)
}

// suspect marks a worker's attempted batches as possibly sent.
func (l *worker) suspect(tx *store.Tx, t outbox.Tally) error {
	marked, err := outbox.ReadAttempted(tx, l.no)
	if err != nil {
		return err
	}
	for _, seq := range marked {
		u, err := outbox.Get(tx, outbox.ID{Worker: l.no, Seq: seq})
		if err != nil {
			return err
		}
		if u == nil {
			continue
		}
		u.Suspect(l.r.box.Lost())
		if err := outbox.Put(tx, u, t); err != nil {
			return err
		}
	}
	return outbox.MarkAttempted(tx, l.no, nil)
}

// Run sends, receives and maintains until ctx ends. It returns the context's cause once everything it started has ended.
func (r *Replica) Run(ctx context.Context) error {
	if !r.opened.Load() {
		return fault.New(fault.Internal, "replica_open", "the replicator runs before it is open")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.net.Begin(r.clock.Now())
	loops := []struct {
		name string
		run  func(context.Context) error
	}{
		{"housekeeping", r.keepHouse}, {"background tasks", r.runTasks}, {"identity", r.identity.Run}, {"resumes", r.identity.RunResumes},
		{"feed", r.feed.Run},
	}
	for _, l := range r.workers {
		loops = append(loops, struct {
			name string
			run  func(context.Context) error
		}{fmt.Sprintf("worker %d", l.no), l.run})
	}
	var wg sync.WaitGroup
	for _, loop := range loops {
		leave := r.clock.Join()
		wg.Go(func() {
			defer leave()
			if err := loop.run(ctx); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("replicator, %s: %w", loop.name, err))
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// env returns the protocol's environment within a transaction. Without one, its functions open their own.
func (r *Replica) env(tx *store.Tx) intent.Env {
	skew := r.cloud.Skew()
	env := intent.Env{
		Node: r.store.Node(), Now: r.clock.Wall().Add(skew), Skew: skew, Synced: r.cloud.KnowsServerTime(),
		SyncTable: r.cfg.SyncTable, LockTable: r.cfg.LockTable, Transactions: r.transactions(), Replaying: r.tables.Replaying(),
		Spec: r.spec, Rand: r.cfg.Rand, Exprs: r.exprs, Marks: r.limits.Marks, Signed: r.limits.Signed,
		Events: func(lock string, fence int64, group uint64) bool {
			return r.holds(tx, func(tx *store.Tx) (bool, error) { return outbox.EventsDone(tx, lock, fence, group) })
		},
		Kept: func(table string, key attr.Item, mark attr.Value) bool {
			return r.holds(tx, func(tx *store.Tx) (bool, error) { return outbox.KeptMark(tx, r.spec(table), key, mark) })
		},
	}
	if len(r.cfg.SendBy) > 0 {
		env.SendBy = func(w *intent.Write) (by time.Time) {
			if rule := r.cfg.SendBy[w.Table]; rule != nil {
				r.holds(tx, func(tx *store.Tx) (_ bool, err error) {
					by, err = rule(tx, w)
					return false, err
				})
			}
			return by
		}
	}
	r.identity.Describe(&env)
	return env
}

// holds evaluates ask on the outbox, in its own transaction if tx is nil; false if the outbox cannot be read.
func (r *Replica) holds(tx *store.Tx, ask func(*store.Tx) (bool, error)) (yes bool) {
	read := func(tx *store.Tx) (err error) {
		yes, err = ask(tx)
		return err
	}
	var err error
	if tx != nil {
		err = read(tx)
	} else {
		err = r.store.View(context.Background(), read)
	}
	if err != nil {
		r.log.Error("the outbox cannot be read", "error", err)
	}
	return yes && err == nil
}

// spec returns a table's declaration, or nil.
func (r *Replica) spec(table string) *store.TableSpec {
	if specs := r.specs.Load(); specs != nil {
		if s := (*specs)[table]; s != nil {
			return s
		}
	}
	return r.learnSpecs()[table]
}

// learnSpecs reads the store's catalogue.
func (r *Replica) learnSpecs() map[string]*store.TableSpec {
	list := r.store.Tables()
	specs := make(map[string]*store.TableSpec, len(list))
	for i := range list {
		specs[list[i].Name] = &list[i]
	}
	r.specs.Store(&specs)
	return specs
}

// systemRand returns a generator for production; tests bring their own.
func systemRand() func() uint64 {
	var mu sync.Mutex
	g := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	return func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return g.Uint64()
	}
}
