package replica

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// books holds what other goroutines leave for housekeeping.
type books struct {
	mu     sync.Mutex
	fences map[string]int64 // by lock: highest fence that refused a write; its holder must be notified
}

const choresEvery = 5 * time.Second

// keepHouse wakes the workers after commits, and maintains budgets and logs. It makes no requests: the workers cannot wait for
// an answer.
func (r *Replica) keepHouse(ctx context.Context) error {
	sig := r.asked
	stop := r.store.Watch(sig)
	defer stop()
	var chores time.Time
	var skew time.Duration
	for {
		now := r.clock.Now()
		r.wakeWorkers()
		skew = r.followClock(skew)
		if !now.Before(chores) {
			more, err := r.chores(ctx, r.serverNow())
			if err != nil && ctx.Err() == nil {
				r.log.Error("the replicator's housekeeping failed", "error", err)
			}
			if chores = now.Add(choresEvery); more {
				chores = now.Add(choresEvery / 50)
			}
		}
		if err := r.clock.Wait(ctx, chores, sig); err != nil {
			return err
		}
	}
}

// runTasks runs the background tasks that ask the cloud and the locks: it probes a cloud that is away, reads items again whose
// images came in an unknown order, and notifies holders whose fence was refused.
func (r *Replica) runTasks(ctx context.Context) error {
	for {
		if r.net.InDoubt() {
			r.lookForCloud(ctx)
		}
		if at, away := r.net.ProbeAt(); away && !r.clock.Now().Before(at) {
			r.probe(ctx)
			r.asked.Set() // the server's clock may be known now
		}
		r.feed.ReadBooked(ctx)
		r.reportFences(ctx)
		until, away := r.net.ProbeAt()
		if !away {
			until = time.Time{}
		}
		if err := r.clock.Wait(ctx, until, r.tasks); err != nil {
			return err
		}
	}
}

// wakeWorkers notifies workers of commits. A hint may come from a transaction that is not committed or was undone, so a worker is
// notified until there has been a commit up to it.
func (r *Replica) wakeWorkers() {
	committed := r.store.Seq()
	for _, l := range r.workers {
		if h := l.hinted.Load(); h > l.woken {
			l.woken = min(h, committed)
			l.sig.Set()
		}
	}
}

// probe checks whether the cloud is reachable by announcing this node.
func (r *Replica) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*r.cfg.Deadline)
	defer cancel()
	err := r.identity.Connect(ctx)
	if err != nil {
		r.linkFailed(err)
		return
	}
	r.net.RecordProbe("", r.clock.Now())
	r.log.Info("connected to the cloud")
}

// chores runs the periodic maintenance. now is the cloud's time, as are the times of batches.
func (r *Replica) chores(ctx context.Context, now time.Time) (more bool, err error) {
	r.learnSpecs()
	var age, conflicts float64
	var all outbox.Counts
	err = r.store.View(ctx, func(tx *store.Tx) (err error) {
		if all, err = outbox.ReadCounts(tx); err != nil {
			return err
		}
		oldest, _, err := r.oldest(tx)
		if err != nil {
			return err
		}
		if !oldest.IsZero() {
			age = float64(now.Sub(oldest)) / float64(r.cfg.Budget.Age)
		}
		l, err := conflict.Open(tx)
		if err == nil {
			conflicts = l.OpenShare()
		}
		return err
	})
	if err != nil {
		return false, err
	}
	r.stands.update(all, r.paces, r.net, r.clock.Now()) // spans are by the clock of the loops, whatever the cloud's time is
	r.levels.Measure(age, r.store.Disk().Share(), conflicts)
	s := r.levels.State(r.cfg.Budget, all.Total().Entries, all.Total().Bytes)
	if last := r.levels.Announce(s); last != s.Level {
		r.log.Warn("the queue for the cloud has reached another level", "level", s.Level.String(), "before", last.String(), "which", s.Which, "used", s.Used)
	}
	if more, err = r.trimReplay(ctx, now, r.levels.Room(r.cfg.Budget, all.Total().Entries, all.Total().Bytes)); err != nil || more {
		return more, err
	}
	return r.conflicts.Trim(ctx)
}

// trimReplay trims the replay log. If a budget runs short, the whole log goes. Nothing counts as old before a server has set the
// clock right.
func (r *Replica) trimReplay(ctx context.Context, now time.Time, level flow.Level) (more bool, err error) {
	limit, before := r.cfg.Budget.ReplayBytes, time.Time{}
	if level >= flow.LevelTight {
		limit = 0
	}
	if r.cloud.KnowsServerTime() {
		before = now.Add(-r.cfg.Budget.ReplayAge)
	}
	return outbox.TrimReplayLog(ctx, r.store, limit, before)
}

// oldest returns when the oldest batch at the head of a worker's queue was written; zero: unknown, or nothing waits. Held batches and
// those of a stopped table do not count: they wait for a person, who has been told.
func (r *Replica) oldest(tx *store.Tx) (at time.Time, waits bool, err error) {
	stopped := map[string]bool{}
	for _, s := range r.paces.StoppedTables() {
		stopped[s.Table] = true
	}
	for _, l := range r.workers {
		scanned := 0
		err = tx.Side(outbox.SideOutbox).Each([]byte{l.no}, nil, func(k, v []byte) (bool, error) {
			u, err := outbox.Decode(outbox.ID{Worker: k[0], Seq: outbox.SeqOf(k)}, v)
			if err != nil {
				return false, err
			}
			if u.IsHeld() {
				return true, nil
			}
			waits = true
			if slices.ContainsFunc(u.Tables(), func(table string) bool { return stopped[table] }) {
				scanned++
				return scanned < oldestScan, nil
			}
			if first := u.Entries[0].At; clock.WasSet(first) && (at.IsZero() || first.Before(at)) {
				at = first
			}
			return false, nil
		})
		if err != nil {
			return at, waits, err
		}
	}
	return at, waits, nil
}

// IsDrained reports whether the outbox is empty except for batches that wait for a person.
func (r *Replica) IsDrained(ctx context.Context) (drained bool, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		_, waits, err := r.oldest(tx)
		drained = !waits
		return err
	})
	return drained, err
}

// eventWaits tracks the batches of policy state that may wait for events of their lock.
type eventWaits struct {
	mu    sync.Mutex
	locks map[string]map[outbox.ID]struct{}
}

func newEventWaits() *eventWaits { return &eventWaits{locks: map[string]map[outbox.ID]struct{}{}} }

// expect records that a batch may have to wait. Call it before checking the events, so that none settles unnoticed.
func (w *eventWaits) expect(u *outbox.Batch) {
	e := u.Entries[0]
	if e.Policy != store.PolicyState || e.Lock == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locks[e.Lock] == nil {
		w.locks[e.Lock] = map[outbox.ID]struct{}{}
	}
	w.locks[e.Lock][u.ID] = struct{}{}
}

// notifyBehind notifies the batches that wait for settled entries.
func (w *eventWaits) notifyBehind(r *Replica, u *outbox.Batch) {
	w.mu.Lock()
	var who []outbox.ID
	for _, e := range u.Entries {
		switch {
		case e.Lock == "":
		case e.Policy == store.PolicyState:
			delete(w.locks[e.Lock], u.ID)
			if len(w.locks[e.Lock]) == 0 {
				delete(w.locks, e.Lock)
			}
		default:
			who = slices.AppendSeq(who, maps.Keys(w.locks[e.Lock]))
			delete(w.locks, e.Lock) // a batch that must go on waiting registers again
		}
	}
	w.mu.Unlock()
	slices.SortFunc(who, func(a, b outbox.ID) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, id := range who {
		r.push(id)
	}
}

// ownTable holds the node's own records, so that they have sequences: one for each renumbered entry.
func ownTable() store.TableSpec {
	return store.TableSpec{
		Name: ownTableName, Internal: true, Policy: store.PolicyLocal, TTL: "ttl",
		Why: "the node's own notes: a sequence for each entry that was given another number",
		Key: store.KeySpec{Partition: store.KeyAttr{Name: "id", Type: store.KeyString}},
	}
}

const ownTableName = "touchline-through" // an earlier version kept writes of policy through in it
