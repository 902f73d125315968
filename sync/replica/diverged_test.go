package replica

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// A store is older than its file, and something in its queue was settled in the lost timeline: that is the loss noticed at open, not a
// second one. What was written since has numbers of its own.
func TestALossNoticedAtOpenIsOneLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n, snapshot := pastSnapshot(t, func(n *feedNode) { n.bump(t, "x") })
		n.drained(t)
		n.put(t, "teams", team("l", 0))
		n.drained(t)
		n.close(t)
		storeBack(t, snapshot, n.dir)
		r := n.again(t)
		seq := r.put(t, "teams", team("new", 1))
		r.drained(t)
		lost := r.known(t).Lost
		if lost == nil || lost.Fork >= seq || lost.Below > seq {
			t.Errorf("%d counts as a number of the lost timeline: %+v", seq, lost)
		}
		it := c.team(t, "new")
		if got, _ := sentAs(it); got != seq || !it[intent.AttrHold].IsZero() {
			t.Errorf("it was sent as a repeat: %v", it)
		}
		r.cloudHas(t, teams{"x": 1})
	})
}

// A restored machine reuses numbers of the lost timeline, does not connect, and is restored again: neither the items nor the transactions
// of the earlier writes with these numbers are taken for its own.
func TestPutBackTwiceBeforeItConnects(t *testing.T) {
	for _, connects := range []bool{false, true} { // the first time, before the second restore
		synctest.Test(t, func(t *testing.T) {
			c, n, snapshot := pastSnapshot(t, nil)
			theirs := n.pair(t, "l1", "l2")
			n.put(t, "teams", team("l3", 0))
			n.drained(t)

			n = n.backTo(t, snapshot)
			if got := n.pair(t, "p", "q"); got != theirs {
				t.Fatalf("the transactions are %d and %d: the test needs equal numbers", got, theirs)
			}
			single := n.put(t, "teams", team("new", 1))
			twice := n.snapshot(t)
			n = n.again(t) // no clean end: begins an incarnation
			if connects {
				if err := n.identity.Connect(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			n.close(t)
			storeBack(t, twice, n.dir)

			r := n.again(t)
			if lost := r.known(t).Lost; lost == nil || lost.Fork != math.MaxUint64 {
				t.Fatalf("the test needs a loss noticed at open: %+v", lost)
			}
			r.drained(t)
			recorded := len(r.conflicts(t))
			for _, id := range []string{"p", "q", "new"} {
				it := c.team(t, id)
				if it == nil && recorded == 0 {
					t.Errorf("%s is neither in the cloud nor recorded", id)
				}
				got, ok := sentAs(it)
				if ok && got <= single {
					t.Errorf("%s was sent as %d, the number of another write", id, got)
				}
				if !connects && !it["n"].Equal(attr.Int(1)) {
					t.Errorf("%s, which was never sent, is %v", id, it)
				}
			}
		})
	}
}

// A machine is restored, and then again to a snapshot of the timeline lost with the first restore: its queue may have been sent there,
// although the row in the cloud is that of the other timeline.
func TestPutBackToALostTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n, before := pastSnapshot(t, nil)
		n.bump(t, "x")
		n.put(t, "teams", team("new", 1))
		within := n.snapshot(t)
		n = n.again(t)
		n.drained(t)

		n = n.backTo(t, before)
		n.put(t, "teams", team("y", 1))
		n.drained(t)

		r := n.backTo(t, within)
		r.drained(t)
		r.cloudHas(t, teams{"x": 1, "new": 1, "y": 1})
	})
}

// Two copies run. What one has written since their histories diverged is not the other's: it is sent, and not recorded.
func TestWhatALiveCopyHasWrittenIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		s := openNode(t, c, n.disk(t), nil)
		for _, copied := range []*feedNode{s, n} { // n notices that s has connected, and begins a new history
			if err := copied.identity.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s.put(t, "teams", team("new", 1))
		s.drained(t)
		s.cloudHas(t, teams{"new": 1})
		s.recorded(t, 0)
	})
}

// A node dies after the cloud was told of a loss and before what waits is flagged. It continues with that loss: a second one would take
// what only this history has written for something the lost one may have sent.
func TestALossThatTheCloudKnowsIsOneLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n, snapshot := pastSnapshot(t, func(n *feedNode) { n.bump(t, "x") })
		n.drained(t)
		n.put(t, "teams", team("l", 0))
		n.drained(t) // and reports this as settled

		n = n.backTo(t, snapshot)
		seq := n.put(t, "teams", team("new", 1))
		n.presents(t)
		if lost := n.known(t).Lost; lost == nil || lost.Flagged || lost.Fork >= seq {
			t.Fatalf("the test needs a known loss that is not flagged: %+v", lost)
		}
		r := n.again(t)
		r.drained(t)
		if lost := r.known(t).Lost; lost.Fork >= seq || len(lost.Twice) > 0 {
			t.Errorf("it was noticed a second time: %+v", lost)
		}
		r.cloudHas(t, teams{"new": 1, "x": 1})
	})
}

// presents writes the node's row, the first half of a connect.
func (n *feedNode) presents(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n.cloud.set(func() {
		n.cloud.after = func(op, table string) error {
			if op == "write" && table == "touchline-sync" {
				cancel()
			}
			return nil
		}
	})
	if err := n.identity.Connect(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	n.cloud.set(func() { n.cloud.after = nil })
}

// A write whose number the lost timeline had given to another write is sent under a new one, and never sets the old number as a mark,
// even if a second loss is noticed before it could be sent: a restore to a snapshot from after the first loss was noticed, or from
// before.
func TestNumberOfAnotherWriteIsNoMark(t *testing.T) {
	for _, noticed := range []bool{true, false} { // when the second snapshot is made
		synctest.Test(t, func(t *testing.T) {
			c, n, snapshot := pastSnapshot(t, func(n *feedNode) { n.keepsWaiting(t) })
			theirs := n.put(t, "teams", team("l", 1))
			n.drainsToOne(t)
			n = n.backTo(t, snapshot)
			seq := n.bumpAs(t, "x")
			if seq != theirs {
				t.Fatalf("the writes are %d and %d: the test needs equal numbers", seq, theirs)
			}
			var within string
			if !noticed {
				within = n.snapshot(t)
				n = n.again(t)
			}
			n.online(t)
			if noticed {
				within = n.snapshot(t)
				n = n.again(t)
				n.online(t)
			}
			n = n.backTo(t, within)
			before := c.count("write teams")
			n.drainsToOne(t)
			n.cloudHas(t, teams{"x": 1, "l": 1})
			n.renumbered(t, "x", seq)
			n.recorded(t, 0)
			if got := c.count("write teams") - before; got != 1 {
				t.Errorf("noticed before %v: %d writes, want 1", noticed, got)
			}
		})
	}
}

// What the lost timeline has queued keeps its meaning there, although the row that lists the numbers given twice is that of the other
// timeline: a copy that has not heard of the loss may still run, so the old number is closed before the new one is used.
func TestNumberOfALostTimelineIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n, snapshot := pastSnapshot(t, func(n *feedNode) { n.keepsWaiting(t) })
		seq := n.bumpAs(t, "x")
		within := n.snapshot(t)
		n = n.again(t)
		n.online(t)
		n = n.backTo(t, snapshot)
		n.put(t, "teams", team("y", 1))
		n.drainsToOne(t)

		n = n.backTo(t, within)
		before := c.count("write teams")
		n.drainsToOne(t)
		n.cloudHas(t, teams{"x": 1, "y": 1})
		n.renumbered(t, "x", seq)
		if lost := n.known(t).Lost; !n.env(nil).Twice(seq) || c.count("write teams")-before != 2 {
			t.Errorf("%d writes, want 2; %+v", c.count("write teams")-before, lost)
		}
	})
}

// keepsWaiting makes a write wait for ever, so that nothing written after it is reported settled.
func (n *feedNode) keepsWaiting(t *testing.T) {
	t.Helper()
	n.cloud.refuse(intent.Denied, func(op, table string) bool { return table == "follows" && op != "table" })
	n.put(t, "follows", attr.Item{"match": attr.S("m"), "user": attr.S("u")})
}

// drainsToOne runs the node until only that write waits.
func (n *feedNode) drainsToOne(t *testing.T) {
	t.Helper()
	stop := n.run(t)
	letPass(2 * time.Minute)
	stop()
	n.waits(t, 1)
}

// bumpAs is bump and returns the write's number.
func (n *feedNode) bumpAs(t *testing.T, id string) (seq uint64) {
	t.Helper()
	n.bump(t, id)
	seqs := n.pendingOn(t, id)
	if len(seqs) == 0 {
		t.Fatal("nothing waits")
	}
	return seqs[len(seqs)-1]
}
