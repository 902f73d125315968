package lease

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// Schedules that have broken leases, each with the required outcome.

func TestAnswerToAcquireLost(t *testing.T) {
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	a.link.fault = "answer"
	if _, err := a.Acquire(t.Context(), match); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	b.refused()
	w.pass(time.Second)
	l := a.acquire() // its own record is no reason to wait
	if want := a.firstFence(a.Now()); l.Fence() != want {
		t.Errorf("fence %d, want %d", l.Fence(), want)
	}
	b.refused()
}

func TestLateCopyOfAcquire(t *testing.T) {
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	a.link.fault = "late"
	if _, err := a.Acquire(t.Context(), match); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	l := b.acquire()
	a.link.arrive(t.Context())
	if err := l.renew(t.Context()); err != nil {
		t.Errorf("the late copy took the lock away: %v", err)
	}
	// It arrives when the lock is free: nobody works under it, and the next node waits for its term.
	a.link.fault = "late"
	w.pass(ttl)
	b.waits()
	held := b.lease(match)
	if err := held.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Acquire(t.Context(), match); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	a.link.arrive(t.Context())
	second, waited := b.waits()
	if waited < ttl || second.Fence() <= held.Fence()+1 {
		t.Errorf("taken after %v with fence %d", waited, second.Fence())
	}
}

// Two requests of one acquire: the first is applied late, between the read and the second.
func TestOwnCopyWasFirst(t *testing.T) {
	w := newWorld(t)
	a := w.node("a")
	a.link.Table = &between{Table: a.link.Table, do: func(c Change) {
		if _, err := Local(w.store, locks).Update(t.Context(), c); err != nil {
			t.Error(err)
		}
	}}
	l := a.acquire()
	if first := a.firstFence(a.Now()); l.Fence() != first+1 {
		t.Errorf("fence %d, want %d", l.Fence(), first+1)
	}
	if err := l.renew(t.Context()); err != nil {
		t.Error(err)
	}
}

// between does something once before an update.
type between struct {
	Table
	do func(Change)
}

func (b *between) Update(ctx context.Context, c Change) (Record, error) {
	if do := b.do; do != nil {
		b.do = nil
		do(c)
	}
	return b.Table.Update(ctx, c)
}

func TestAnswerToRenewalLost(t *testing.T) {
	w := newWorld(t)
	l := w.node("a").acquire()
	for _, lost := range []string{"answer", "request", "late"} {
		w.pass(2 * time.Second)
		l.m.table.(*link).fault = lost
		if err := l.renew(t.Context()); !errors.Is(err, errLost) {
			t.Errorf("%s lost: %v", lost, err)
		}
		if l.Check() != nil {
			t.Errorf("%s lost: %v", lost, l.Check())
		}
	}
	// Nothing was proved: the deadline is that of the last answered renewal.
	if want := epoch().Add(7 * time.Second); !l.Deadline().Equal(want) {
		t.Errorf("deadline %v, want %v", l.Deadline(), want)
	}
	if err := l.renew(t.Context()); err != nil {
		t.Error(err)
	}
	if want := epoch().Add(13 * time.Second); !l.Deadline().Equal(want) {
		t.Errorf("deadline %v, want %v", l.Deadline(), want)
	}
}

// A late copy of a renewal does not restore a record that another node has seen before: that node would think it had stood still since, and
// take the lock while its holder works.
func TestLateCopyOfRenewal(t *testing.T) {
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	l := a.acquire()
	a.link.fault = "late"
	if err := l.renew(t.Context()); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	for range 3 {
		a.link.late = append(a.link.late, a.link.sent[len(a.link.sent)-1])
		w.pass(3 * time.Second)
		if err := l.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.refused()
	}
	before := w.record()
	a.link.arrive(t.Context())
	if now := w.record(); !attr.EqualItems(now, before) {
		t.Errorf("the late copies made it %v, it was %v", now, before)
	}
	w.pass(2 * time.Second)
	b.refused()
	if err := l.Check(); err != nil {
		t.Error(err)
	}
}

// The deadline counts from before the renewal was sent, not from its answer.
func TestSlowRenewal(t *testing.T) {
	w := newWorld(t)
	a := w.node("a")
	l := a.acquire()
	w.pass(3 * time.Second)
	a.link.Table = &between{Table: a.link.Table, do: func(Change) { w.pass(3 * time.Second) }}
	if err := l.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := epoch().Add(10 * time.Second); !l.Deadline().Equal(want) {
		t.Errorf("deadline %v, want %v", l.Deadline(), want)
	}
	// An answer after the deadline does not revive the lease.
	a.link.Table = &between{Table: Local(w.store, locks), do: func(Change) { w.pass(5 * time.Second) }}
	if err := l.renew(t.Context()); !fault.Is(err, fault.Unavailable) || l.Check() == nil {
		t.Errorf("renewed after the deadline: %v", err)
	}
	// Nor does an answer to an acquire that took too long.
	a.link.Table = &between{Table: Local(w.store, locks), do: func(Change) { w.pass(8 * time.Second) }}
	if _, err := a.Acquire(t.Context(), match); !fault.Is(err, fault.Unavailable) {
		t.Errorf("acquired after the deadline: %v", err)
	}
}

func TestRecordDeletedByHand(t *testing.T) {
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	l := a.acquire()
	w.pass(time.Second)
	w.drop()
	second := b.acquire()
	if second.Fence() <= l.Fence() {
		t.Errorf("the fence began again: %d, then %d", l.Fence(), second.Fence())
	}
	if err := l.renew(t.Context()); err == nil || l.Check() == nil {
		t.Error("the first holder went on")
	}
	if err := l.Release(t.Context()); err != nil || second.renew(t.Context()) != nil {
		t.Errorf("the former holder released the new holder's lock: %v", err)
	}
}

// A record is deleted by hand, and another node takes the lock in the same millisecond.
func TestFirstFencesDiffer(t *testing.T) {
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	l := a.acquire()
	w.drop()
	if second := b.acquire(); second.Fence() == l.Fence() {
		t.Errorf("two holders under fence %d", l.Fence())
	}
}

// A record is deleted by hand while an old copy of an acquire is on its way: the copy makes a record with a fence below that of the earlier
// lease. That lease is over, and the next holder, whoever it is, has a higher fence.
func TestLateCopyOnADeletedRecord(t *testing.T) {
	for _, next := range []string{"the same node", "another node"} {
		t.Run(next, func(t *testing.T) {
			w := newWorld(t)
			a, b := w.node("a"), w.node("b")
			a.link.fault = "late"
			if _, err := a.Acquire(t.Context(), match); !errors.Is(err, errLost) {
				t.Fatal(err)
			}
			w.pass(time.Second)
			l := a.acquire()
			w.drop()
			a.link.arrive(t.Context())
			if r, err := ParseRecord(w.record()); err != nil || r.Fence >= l.Fence() {
				t.Fatalf("fence %d after %d, %v: this test tests nothing", r.Fence, l.Fence(), err)
			}
			if err := l.renew(t.Context()); err == nil || l.Check() == nil {
				t.Errorf("renewed with fence %d, was it lost? %v", l.Fence(), l.Check())
			}
			taker := map[string]*node{"the same node": a, "another node": b}[next]
			if second, _ := taker.waits(); second.Fence() <= l.Fence() {
				t.Errorf("fence %d after %d", second.Fence(), l.Fence())
			}
		})
	}
}

// The original application replaces our record: it knows no fences, so the item's fence ends here.
func TestRecordReplacedByTheOriginal(t *testing.T) {
	w := newWorld(t)
	a := w.node("a")
	l := a.acquire()
	w.pass(time.Second)
	w.put(attr.Item{attrHolder: attr.S("orig"), attrExpiresAt: attr.Int(epoch().Add(time.Second).UnixMilli())})
	if err := l.renew(t.Context()); err == nil {
		t.Fatal("another node's lock was renewed")
	}
	second, waited := a.waits()
	if waited < ttl || second.Fence() <= l.Fence() {
		t.Errorf("after %v fence %d, was %d", waited, second.Fence(), l.Fence())
	}
}

func TestRaiseFence(t *testing.T) {
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	l := a.acquire()
	above := l.Fence() + 1000
	if err := l.RaiseFence(t.Context(), above); err != nil || l.Fence() != above+1 {
		t.Fatalf("%v, fence %d, want %d", err, l.Fence(), above+1)
	}
	if err := l.RaiseFence(t.Context(), above-5); err != nil || l.Fence() != above+1 {
		t.Errorf("an item below: %v, fence %d", err, l.Fence())
	}
	// The answer is lost: the next renewal learns the fence from the record, which is still ours.
	a.link.fault = "answer"
	if err := l.RaiseFence(t.Context(), above+10); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	if err := l.renew(t.Context()); err != nil || l.Fence() != above+11 {
		t.Errorf("%v, fence %d, want %d", err, l.Fence(), above+11)
	}
	for _, bad := range []int64{-1, 1<<63 - 1} {
		if err := l.RaiseFence(t.Context(), bad); !fault.Is(err, fault.Damaged) {
			t.Errorf("%d: %v", bad, err)
		}
	}
	// A former holder cannot raise the fence: that would shut the holder out.
	b.refused()
	a.suspend(ttl)
	second := b.acquire()
	if err := l.RaiseFence(t.Context(), second.Fence()); err == nil {
		t.Error("the former holder raised the fence")
	}
	if err := second.renew(t.Context()); err != nil || second.Fence() <= above+11 {
		t.Errorf("%v, fence %d", err, second.Fence())
	}
}

// Raise finds the lease by its lock, and leaves locks alone that this node does not hold.
func TestRaise(t *testing.T) {
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	l := a.acquire()
	fence := l.Fence()
	if got, err := b.Raise(t.Context(), l.Key(), fence+5); got != 0 || err != nil || l.renew(t.Context()) != nil || l.Fence() != fence {
		t.Errorf("Raise of another's lock: %d, %v, its fence %d, was %d", got, err, l.Fence(), fence)
	}
	if got, err := a.Raise(t.Context(), l.Key(), fence+5); got != fence+6 || err != nil || l.Fence() != got {
		t.Errorf("fence %d, %v, want %d", got, err, fence+6)
	}
	a.suspend(ttl)
	if got, err := a.Raise(t.Context(), l.Key(), fence+50); got != 0 || err != nil {
		t.Errorf("after its end: %d, %v", got, err)
	}
}

// The same, but the record is taken while the holder's clocks do not show it.
func TestRaiseFenceOfATakenLock(t *testing.T) {
	w := newWorld(t)
	l := w.node("a").acquire()
	w.drop()
	w.node("b").acquire()
	if err := l.RaiseFence(t.Context(), l.Fence()+5); err == nil || l.Check() == nil {
		t.Errorf("another node's lock was raised: %v", err)
	}
}

func TestRelease(t *testing.T) {
	w := newWorld(t)
	a, b := w.node("a"), w.node("b")
	l := a.acquire()
	ctx, cancel := l.Context(t.Context())
	defer cancel()
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if v, _ := w.record()[attrExpiresAt].Int(); v != 0 || l.Check() == nil || l.Release(t.Context()) != nil {
		t.Errorf("expiresAt %d, %v", v, l.Check())
	}
	second := b.acquire() // at once
	if second.Fence() != l.Fence()+1 {
		t.Errorf("fence %d after %d", second.Fence(), l.Fence())
	}
	if late, cancel := l.Context(t.Context()); late.Err() == nil {
		t.Error("work began under a lease that is over")
	} else {
		cancel()
	}
}

// Earlier runs of this node: without a cloud they are known dead, with one they must be waited for.
func TestEarlierBoot(t *testing.T) {
	tests := []struct {
		name    string
		options []func(*node, *Config)
		wait    time.Duration
	}{
		{"without a cloud", []func(*node, *Config){alone, boot("b2")}, 0},
		{"with a cloud", []func(*node, *Config){boot("b2")}, ttl},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			l := w.node("a").acquire()
			w.pass(time.Second)
			second, waited := w.node("a", tt.options...).waits()
			if waited != tt.wait || second.Fence() <= l.Fence() {
				t.Errorf("after %v fence %d, was %d", waited, second.Fence(), l.Fence())
			}
		})
	}
	w := newWorld(t)
	w.node("a").acquire()
	if other := w.node("ab", alone); other.refused().Holder != "a#b1" {
		t.Error("another node's lock counts as one of an earlier run")
	}
}

func TestRecover(t *testing.T) {
	w := newWorld(t)
	first, other, cloud := w.node("a"), w.node("b"), w.node("a", boot("b3"))
	fences := map[string]int64{}
	for key, n := range map[string]*node{"match:1": first, "match:2": first, "match:3": other, "match:4": first} {
		l, err := n.Acquire(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		fences[key] = l.Fence()
		if key == "match:4" {
			if err := l.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n, err := cloud.Recover(t.Context()); n != 0 || err != nil {
		t.Errorf("in the cloud: %d, %v", n, err)
	}
	second := w.node("a", alone, boot("b2"))
	if n, err := second.Recover(t.Context()); n != 2 || err != nil {
		t.Errorf("freed %d, %v", n, err)
	}
	records, err := Local(w.store, locks).List(t.Context())
	if err != nil || len(records) != 4 {
		t.Fatal(records, err)
	}
	for _, r := range records {
		raised := r.Key == "match:1" || r.Key == "match:2"
		if r.IsReleased() != (r.Key != "match:3") || raised != (r.Fence == fences[r.Key]+1) {
			t.Errorf("%+v, fence was %d", r, fences[r.Key])
		}
	}
}

// Within a process a lock is held once.
func TestHeldHere(t *testing.T) {
	w := newWorld(t)
	a := w.node("a")
	l := a.acquire()
	if held := a.refused(); held.Holder != "a#b1" {
		t.Errorf("held by %s", held.Holder)
	}
	if got := a.HeldLeases(); len(got) != 1 || got[0].Key != match || got[0].Fence != l.Fence() {
		t.Errorf("held: %+v", got)
	}
	w.pass(ttl)
	if got := a.HeldLeases(); len(got) != 0 {
		t.Errorf("held: %+v", got)
	}
	if second := a.acquire(); second.Fence() <= l.Fence() || l.Check() == nil {
		t.Errorf("fence %d after %d", second.Fence(), l.Fence())
	}
}

// A lock taken while the node stops is released: nobody would renew it.
func TestTakenWhileStopping(t *testing.T) {
	w := newWorld(t)
	a := w.node("a")
	a.link.Table = &between{Table: a.link.Table, do: func(Change) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.Run(ctx); err != nil {
			t.Error(err)
		}
	}}
	if _, err := a.Acquire(t.Context(), match); !fault.Is(err, fault.Unavailable) {
		t.Errorf("acquired: %v", err)
	}
	if r, err := ParseRecord(w.record()); err != nil || !r.IsReleased() {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestConfig(t *testing.T) {
	table := Local(nil, locks)
	for name, cfg := range map[string]Config{
		"no table": {Node: "a", Boot: "b"}, "no node": {Table: table, Boot: "b"}, "no boot": {Table: table, Node: "a"},
		"a boot with a mark in it": {Table: table, Node: "a", Boot: "b#c"},
		"too short":                {Table: table, Node: "a", Boot: "b", TTL: time.Millisecond},
		"too long":                 {Table: table, Node: "a", Boot: "b", TTL: time.Hour},
	} {
		if _, err := New(cfg); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m, err := New(Config{Table: table, Node: "a#1", Boot: "b"})
	if err != nil || m.ttl != DefaultTTL || !heldBy(m.me, "a#1") || heldBy(m.me, "a") {
		t.Errorf("%v, %+v", err, m)
	}
	if first, second := m.rvn(), m.rvn(); first == second || len(first) != 16 {
		t.Errorf("rvn %s, then %s", first, second)
	}
}

// Another node takes the lock and releases it between the read and the update: the update is refused, and repeated with a fence above that
// node's.
func TestTakenAndReleasedSinceItWasRead(t *testing.T) {
	w := newWorld(t)
	a, b := w.node("a"), w.node("b", ahead(time.Hour))
	b.skew = func() time.Duration { return 0 } // it does not know that its clock is ahead, so its fence is above what the time gives others
	var other int64
	a.link.Table = &between{Table: a.link.Table, do: func(Change) {
		l := b.acquire()
		other = l.Fence()
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}}
	if l := a.acquire(); l.Fence() <= other {
		t.Errorf("fence %d after %d", l.Fence(), other)
	}
}

// Nodes with different settings share a table: who waits for a lock waits for the time that its record says, not for its own.
func TestHolderWithALongerTTL(t *testing.T) {
	w := newWorld(t)
	long := func(_ *node, c *Config) { c.TTL = 6 * ttl }
	a, b := w.node("a", long), w.node("b")
	l := a.acquire()
	b.refused()
	w.pass(2 * ttl) // its next renewal is due now
	b.refused()
	if err := l.renew(t.Context()); err != nil {
		t.Error(err)
	}
	if _, waited := b.waits(); waited < 6*ttl {
		t.Errorf("taken after %v", waited)
	}
}
