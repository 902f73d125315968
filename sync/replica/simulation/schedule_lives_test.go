package simulation_test

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

func lifeOfEntry(sc *scene, deletes bool) {
	a, b := both(sc, "items", row("x", "v", "first life"))
	a.tap.with(func(t *tap) { t.deaf = true })
	var seq uint64
	if deletes {
		seq = a.remove("items", "x", "", values())
	} else {
		seq = a.update("items", "x", "SET w = :w", "", values(":w", "for the first life"))
	}
	b.remove("items", "x", "", values())
	b.settle()
	b.put("items", row("x", "v", "second life"), ifAbsent, values())
	b.settle()
	sc.round() // the feed brings the second life
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "x", row("x", "v", "second life"))
	if !deletes {
		a.recorded(seq)
	}
	sc.oneWith("items", "x")
}

func noSkeleton(sc *scene) {
	a, b := both(sc, "items", row("x", "v", 1))
	a.tap.offline()
	a.update("items", "x", "SET w = :w", "", values(":w", 1))
	a.update("items", "x", "ADD n :one", "", values(":one", 1))
	b.remove("items", "x", "", values())
	b.settle()
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "x", nil)
	sc.oneWith("items", "x")
}

func lostBeforeArrival(sc *scene, put bool) {
	a, b := sc.node("A"), sc.node("B")
	if put {
		a.put("items", row("x", "v", 0), "", values())
		a.settle()
		sc.oneWith("items", "x")
	}
	a.tap.offline()
	var seq uint64
	want := row("x", "v", 2, "w", 1)
	if put {
		want = row("x", "w", 1)
		seq = a.put("items", row("x", "w", 1), "", values())
	} else {
		seq = a.update("items", "x", "SET w = :w", "", values(":w", 1))
	}
	b.update("items", "x", "SET v = :v", "", values(":v", 2))
	b.settle()
	a.tap.loseAnswers(1) // of the refusal
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "x", want)
	a.unrecorded(seq)
	sc.oneWith("items", "x")
}

func lostTransaction(sc *scene) {
	a, b := both(sc, "pairs", nil)
	a.transact([]string{"left", "right"}, 1)
	a.settle()
	sc.oneWith("pairs", "left")
	a.tap.offline()
	seq := a.transact([]string{"left", "right"}, 2)
	b.remove("pairs", "left", "", values())
	b.settle()
	a.tap.loseAnswers(1)
	a.tap.online()
	a.settle()
	sc.cloudHas("pairs", "left", nil)
	sc.cloudHas("pairs", "right", row("right", "v", 1))
	a.recorded(seq)
	sc.oneWith("pairs", "right")
}

func snapshotWithQueue(sc *scene, after bool) {
	a, _ := both(sc, "counters", row("c", "n", 0))
	a.tap.offline()
	var snapshot string
	if after {
		a.tap.online()
		a.update("counters", "c", "ADD n :one", "", values(":one", 1))
		a.settle()
		snapshot = a.snapshot()
		a.update("counters", "c", "ADD n :ten", "", values(":ten", 10))
	} else {
		a.update("counters", "c", "ADD n :eleven", "", values(":eleven", 11))
		snapshot = a.snapshot()
		a.tap.online()
	}
	a.settle()
	sc.cloudHas("counters", "c", row("c", "n", 11))
	a.restore(snapshot)
	a.settle()
	sc.cloudHas("counters", "c", row("c", "n", 11))
	a.update("counters", "c", "ADD n :one", "", values(":one", 1))
	a.settle()
	sc.cloudHas("counters", "c", row("c", "n", 12))
	sc.oneWith("counters", "c")
}

// The create in the snapshot's queue was applied, and the node itself has deleted its item: at once, or after it had reported the create
// settled, which requires no tombstone.
func snapshotWithCreate(sc *scene, later, plain bool) {
	a := sc.node("A")
	a.put("items", row("other", "v", 1), "", values())
	a.settle()
	a.tap.offline()
	created := a.put("items", row("x", "v", 1), ifAbsent, values())
	snapshot := a.snapshot()
	a.tap.online()
	a.settle()
	sc.cloudHas("items", "x", row("x", "v", 1))
	life := sc.image("items", pk("x"))[intent.AttrLife].Str()
	if later {
		sc.pass(5 * time.Minute)
	}
	a.remove("items", "x", "", values())
	a.settle()
	sc.cloudHas("items", "x", nil)
	dead := sc.image(simSync, attr.Item{intent.SyncKey: attr.S(intent.DeadID(life))})
	if later && dead != nil {
		sc.Errorf("a create reported settled left the tombstone %v", dead)
	}
	if _, virtual := sc.stage.(*simStage); !later && virtual && dead == nil { // in real time the node may have reported it by now
		sc.Error("the delete of a new item left no tombstone")
	}
	a.restore(snapshot)
	a.settle()
	sc.cloudHas("items", "x", nil)
	if plain {
		a.recorded(created)
	} else {
		a.wasApplied(created)
	}
	sc.oneWith("items", "x")
}

func lateCopyOfRejected(sc *scene) {
	a, _ := both(sc, "items", row("x", "st", "idle"))
	a.tap.holdWrites(1)
	sc.foreignUpdate("items", "x", "SET st = :b", values(":b", "busy")) // which A has not seen
	seq := a.update("items", "x", "SET st = :a", "st = :idle", values(":a", "active", ":idle", "idle"))
	for held := 0; held == 0; a.tap.with(func(t *tap) { held = len(t.held) }) {
		sc.pass(10 * time.Millisecond)
	}
	a.settle()
	a.recorded(seq)
	sc.foreignUpdate("items", "x", "SET st = :i", values(":i", "idle"))
	a.tap.arrive()
	sc.cloudHas("items", "x", row("x", "st", "idle"))
	sc.oneWith("items", "x")
}

func restoreLeavesDeleted(sc *scene) {
	a, b := both(sc, "items", row("x", "v", 1))
	b.remove("items", "x", "", values())
	b.settle()
	sc.pass(30 * time.Minute)
	at := sc.clock().Now()
	a.update("items", "y", "SET v = :v", "", values(":v", 1))
	a.settle()
	sc.pass(time.Minute)
	sc.stage.(*simStage).c.Restore(at, appTables()...)
	sc.cloudHas("items", "y", nil)
	sc.pass(2 * time.Hour)
	sc.cloudHas("items", "x", nil)
	sc.cloudHas("items", "y", row("y", "v", 1)) // acknowledged after the restore point: replayed
	sc.oneWith("items", "y")
}

// holderAhead: the holder's clock is an hour ahead when it dies. Leases measure real time, of the bubble or of the machine, so their TTL
// here is short.
func holderAhead(sc *scene) {
	ttl := hang.Limit(5 * time.Second)
	manager := func(node string, ahead time.Duration) *lease.Manager {
		m, err := lease.New(lease.Config{
			Table: cloudLocks{sc.cloud(node)}, Node: node, Boot: "b1", TTL: ttl, Times: aheadTimes{time.Now(), ahead},
		})
		must(sc, err)
		return m
	}
	dead, err := manager("dead", time.Hour).Acquire(context.Background(), "match:m")
	must(sc, err)
	next := manager("next", 0)
	began := time.Now()
	var taken *lease.Lease
	wait.Until(sc, "the lease of the dead holder is taken over", func() bool {
		taken, err = next.Acquire(context.Background(), "match:m")
		if _, held := errors.AsType[*lease.HeldError](err); err != nil && !held {
			sc.Fatal(err)
		}
		return err == nil
	}, func() any { return err })
	if taken.Fence() <= dead.Fence() {
		sc.Errorf("fence %d after %d", taken.Fence(), dead.Fence())
	}
	must(sc, taken.Release(context.Background()))
	if took := time.Since(began); took < ttl {
		sc.Errorf("taken over after %v", took)
	}
	_ = dead.Release(context.Background())
}

// aheadTimes is clocks with a wrong wall clock.
type aheadTimes struct {
	start time.Time
	by    time.Duration
}

// Now implements lease.Times.
func (a aheadTimes) Now() lease.Instant {
	passed := time.Since(a.start)
	return lease.Instant{Wall: a.start.Add(passed + a.by).Round(0), Mono: passed, Boot: passed}
}

// cloudLocks is a lease.Table on any remote.Cloud.
type cloudLocks struct{ remote.Cloud }

// Get implements lease.Table.
func (c cloudLocks) Get(ctx context.Context, key string) (r lease.Record, ok bool, err error) {
	it, err := c.Cloud.Get(ctx, simLocks, attr.Item{"lockKey": attr.S(key)})
	if err != nil || it == nil {
		return lease.Record{}, false, err
	}
	r, err = lease.ParseRecord(it)
	return r, err == nil, err
}

// Update implements lease.Table.
func (c cloudLocks) Update(ctx context.Context, ch lease.Change) (lease.Record, error) {
	after, err := c.Write(ctx, intent.Call{
		Op: store.OpUpdate, Table: simLocks, Key: attr.Item{"lockKey": attr.S(ch.Key)}, Update: ch.Update,
		Condition: ch.Condition, Params: expr.Params{Values: ch.Values},
	})
	if e, ok := errors.AsType[*intent.Error](err); ok && e.Class == intent.ConditionFailed {
		old, parseErr := lease.ParseRecord(e.Old)
		return lease.Record{}, &lease.ConditionFailedError{Old: old, OK: e.Old != nil && parseErr == nil}
	}
	if err != nil {
		return lease.Record{}, err
	}
	return lease.ParseRecord(after)
}

// List implements lease.Table.
func (cloudLocks) List(context.Context) ([]lease.Record, error) { return nil, nil }
