package replica

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Rows selects items by key: one item, or a whole partition if the key has no sort attribute.
type Rows struct {
	Table string
	Key   attr.Item
}

// TookLease prepares the node for work under a lock it has just acquired. Unsent writes of lower fences go to the conflict log, and the
// rows of tables with a lock are read consistently, so that the work continues from the cloud's state. On an error, for example because
// the cloud is away, the work must not begin. Rows of other tables are ensured: if the cloud refuses them, the local state stands.
func (r *Replica) TookLease(ctx context.Context, lock string, fence int64, rows []Rows) error {
	if !r.net.Online() {
		return fault.New(fault.Unavailable, "cloud_away", "the cloud cannot be reached to read what the lock %s guards", lock)
	}
	for limit := r.clock.Now().Add(r.cfg.Deadline); ; {
		waits, err := r.fenceOff(ctx, lock, fence)
		if err != nil {
			return err
		}
		if !waits {
			break
		}
		// What was sent may still arrive. Wait for its answer: it must not come after the reads below.
		if !r.clock.Now().Before(limit) {
			return fault.New(fault.Unavailable, "cloud_slow", "earlier writes under the lock %s are not settled yet", lock)
		}
		if err := clock.Sleep(ctx, r.clock, fenceOffWait); err != nil {
			return err
		}
	}
	for _, it := range rows {
		spec := r.spec(it.Table)
		if spec == nil {
			return fault.New(fault.NotFound, "no_table", "there is no table %s", it.Table)
		}
		read := func() error { return r.feed.ReadNow(ctx, spec, it.Key) }
		if spec.Lock == "" {
			read = func() error { return r.feed.Ensure(ctx, it.Table, it.Key) }
		}
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// AwaitCloud waits until the cloud has been reached once since the start, at most for one request's deadline. It is for callers that
// start with the node and would otherwise take the first moment for an outage. The error is the context's.
func (r *Replica) AwaitCloud(ctx context.Context) error {
	there := clock.NewSignal()
	limit := r.clock.Now().Add(r.cfg.Deadline)
	for !r.net.State(r.clock.Now()).Reached && !r.net.WhenOnline(there) && r.clock.Now().Before(limit) {
		if err := r.clock.Wait(ctx, limit, there); err != nil {
			return err
		}
	}
	return nil
}

const fenceOffWait = 50 * time.Millisecond

// fenceOff removes from the outbox what this node wrote with policy state under the lock and lower fences, if it cannot have been
// applied. waits reports whether some of it was sent and not answered.
func (r *Replica) fenceOff(ctx context.Context, lock string, fence int64) (waits bool, err error) {
	// Search the outbox outside the write transaction: anything written meanwhile carries the new fence.
	var ids []outbox.ID
	err = r.store.View(ctx, func(tx *store.Tx) (err error) {
		ids, err = outbox.BelowFence(tx, lock, fence)
		return err
	})
	if err != nil || len(ids) == 0 {
		return false, err
	}
	var w *outbox.Work
	err = r.store.Update(ctx, func(tx *store.Tx) error {
		w = r.box.Begin(tx)
		var records []*conflict.Record
		if records, waits, err = r.fenceOffBatches(w, ids, lock, fence); err != nil {
			return err
		}
		return r.finish(w, records)
	})
	if err == nil {
		r.publishHeads(w)
	}
	return waits, err
}

// fenceOffBatches is fenceOff within its transaction. The caller stores the records after all views are computed.
func (r *Replica) fenceOffBatches(w *outbox.Work, ids []outbox.ID, lock string, fence int64) (records []*conflict.Record, waits bool, err error) {
	for _, id := range ids {
		u, err := w.Batch(id)
		switch {
		case err != nil:
			return nil, false, err
		case u == nil:
			continue
		case u.MayApply() && !u.IsHeld():
			waits = true
			continue
		}
		f := &flight{Batch: u, outcome: intent.Outcome{
			Result: intent.OutConflict, Code: intent.CodeFencedOff, Lock: lock, Fence: fence,
			Text: "set aside by this node: it was written under an earlier lease of this node, and the lock has been taken again since",
		}}
		c, err := r.removeBatch(w, f)
		if err != nil {
			return nil, false, err
		}
		records = append(records, c...)
	}
	return records, waits, nil
}

// fencedOffBy records that a higher fence refused a write under a lock; 0: the fence was not seen.
func (r *Replica) fencedOffBy(lock string, fence int64) {
	if r.cfg.FencedOff == nil || lock == "" || fence == 0 {
		return
	}
	r.books.mu.Lock()
	if r.books.fences == nil {
		r.books.fences = map[string]int64{}
	}
	r.books.fences[lock] = max(r.books.fences[lock], fence)
	r.books.mu.Unlock()
	r.wakeTasks()
}

// reportFences notifies the holder of each recorded lock. Failures are not retried here: the holder's next write is refused too.
func (r *Replica) reportFences(ctx context.Context) {
	r.books.mu.Lock()
	booked := r.books.fences
	r.books.fences = nil
	r.books.mu.Unlock()
	for _, lock := range slices.Sorted(maps.Keys(booked)) {
		within, cancel := context.WithTimeout(ctx, r.cfg.Deadline)
		raised, err := r.cfg.FencedOff(within, lock, booked[lock])
		cancel()
		switch {
		case err != nil:
			r.log.Warn("the fence of a lock is below that of its items, and could not be raised", "lock", lock, "fence", booked[lock], "error", err)
		case raised > 0:
			r.log.Warn("the fence of a lock was below that of its items, and has been raised", "lock", lock, "was", booked[lock], "fence", raised)
		}
	}
}

const (
	// unusableAfter is how long the cloud may be away before a node leaves work done on behalf of all nodes to others.
	unusableAfter = 30 * time.Second
)

// Usable returns nil while writes under a lock are accepted here and reach the cloud, or may do so soon. Otherwise this node should
// leave work under leases to others. The locks table is asked separately and may still answer.
func (r *Replica) Usable() error {
	switch st := r.net.State(r.clock.Now()); {
	case st.Why != "":
		return fault.New(fault.Unavailable, "cloud_unusable", "no write from this node reaches the cloud: %s", st.Why)
	case !st.Up && !st.Away.IsZero() && r.clock.Now().Sub(st.Away) > unusableAfter:
		return fault.New(fault.Unavailable, "cloud_away", "no write from this node has reached the cloud for %v", unusableAfter)
	}
	now := r.clock.Now()
	return r.lastHindrance.SetPresent(r.hindrance(now), now)
}

// hindrance returns why work under locks is impossible here although the cloud is reachable; nil: it is possible.
func (r *Replica) hindrance(now time.Time) error {
	if s := r.levels.Last(); s.Level >= flow.LevelRebuildable {
		do := "touchline sync status shows what waits"
		switch s.Which {
		case "disk":
			do = "free some disk space"
		case "conflicts":
			do = "decide the open conflicts"
		}
		return fault.New(fault.Unavailable, "no_room", "writes under locks are refused: the queue for the cloud is nearly full (%s): %s", s.Which, do)
	}
	for _, stopped := range r.paces.StoppedTables() {
		spec := r.spec(stopped.Table)
		// A missing or recreated table stops every node alike, and the lock's holder goes on for its venue. A stopped table that is due
		// is tried by the writes waiting for it; if none wait, the next holder's write is the try.
		if spec == nil || spec.Lock == "" || !stopped.Denied || !now.Before(stopped.Until) {
			continue
		}
		return fault.New(fault.Unavailable, "table_denied", "the cloud accepts nothing for table %s, which is written under locks: %s; %s",
			stopped.Table, remote.FirstLine(stopped.Why), remedyPolicy)
	}
	return nil
}
