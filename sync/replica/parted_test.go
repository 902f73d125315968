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

// A store that is older than its file, with something in its queue that the lost timeline has settled: that is the loss
// which was noticed at open, and no second one. What was written since is nobody else's.
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
			t.Errorf("%d is taken for one of the lost timeline: %+v", seq, lost)
		}
		it := c.team(t, "new")
		if got, _ := sentAs(it); got != seq || !it[intent.AttrHold].IsZero() {
			t.Errorf("it was sent as if it had been before: %v", it)
		}
		r.cloudHas(t, teams{"x": 1})
	})
}

// A machine that is put back, writes under numbers that the lost timeline has given to other writes, does not connect, and
// is put back again: neither the items nor the transactions of these other writes are taken for its own.
func TestPutBackTwiceBeforeItConnects(t *testing.T) {
	for _, connects := range []bool{false, true} { // the first time, before it is put back again
		synctest.Test(t, func(t *testing.T) {
			c, n, snapshot := pastSnapshot(t, nil)
			theirs := n.pair(t, "l1", "l2")
			n.put(t, "teams", team("l3", 0))
			n.drained(t)

			n = n.backTo(t, snapshot)
			if got := n.pair(t, "p", "q"); got != theirs {
				t.Fatalf("the transactions are %d and %d: the test needs them to be one", got, theirs)
			}
			single := n.put(t, "teams", team("new", 1))
			twice := n.snapshot(t)
			n = n.again(t) // its end was none: it begins an incarnation
			if connects {
				if err := n.identity.Connect(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			n.close(t)
			storeBack(t, twice, n.dir)

			r := n.again(t)
			if lost := r.known(t).Lost; lost == nil || lost.Fork != math.MaxUint64 {
				t.Fatalf("the test needs a loss that is noticed at open: %+v", lost)
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
					t.Errorf("%s was sent as %d, which is another write's", id, got)
				}
				if !connects && !it["n"].Equal(attr.Int(1)) {
					t.Errorf("%s, which nobody has sent, is %v", id, it)
				}
			}
		})
	}
}

// A machine is put back, and then to a snapshot of the time that was lost with that: its queue may have been sent there,
// though the row in the cloud is of the other.
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

// Of two copies that run, what one has written since they parted is no number of the other's: it is sent, and not recorded.
func TestWhatALiveCopyHasWrittenIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		n.put(t, "teams", team("x", 0))
		n.drained(t)
		s := openNode(t, c, n.disk(t), nil)
		for _, copied := range []*feedNode{s, n} { // n finds that s was there, and leaves its history
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

// A node that dies when the cloud has heard of a loss, before what waits has its flag, goes on with that loss: it is no second
// one, by which what this history alone has written would be taken for what the lost one may have sent.
func TestALossThatTheCloudKnowsIsOneLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n, snapshot := pastSnapshot(t, func(n *feedNode) { n.bump(t, "x") })
		n.drained(t)
		n.put(t, "teams", team("l", 0))
		n.drained(t) // and it tells the cloud that this is settled

		n = n.backTo(t, snapshot)
		seq := n.put(t, "teams", team("new", 1))
		n.presents(t)
		if lost := n.known(t).Lost; lost == nil || lost.Flagged || lost.Fork >= seq {
			t.Fatalf("the test needs a loss that is known and not flagged: %+v", lost)
		}
		r := n.again(t)
		r.drained(t)
		if lost := r.known(t).Lost; lost.Fork >= seq || len(lost.Twice) > 0 {
			t.Errorf("it was noticed once more: %+v", lost)
		}
		r.cloudHas(t, teams{"new": 1, "x": 1})
	})
}

// presents has the cloud be told who is there: the first half of a connect.
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

// What was written under a number that the lost timeline has given to another write is sent under a new one, and never sets
// that number as a mark, also when a second loss is noticed before it could be sent: of the loss itself, or of a time before.
func TestNumberOfAnotherWriteIsNoMark(t *testing.T) {
	for _, noticed := range []bool{true, false} { // when the machine's disk is kept for the second time
		synctest.Test(t, func(t *testing.T) {
			c, n, snapshot := pastSnapshot(t, func(n *feedNode) { n.keepsWaiting(t) })
			theirs := n.put(t, "teams", team("l", 1))
			n.drainsToOne(t)
			n = n.backTo(t, snapshot)
			seq := n.bumpAs(t, "x")
			if seq != theirs {
				t.Fatalf("the writes are %d and %d: the test needs them to be one", seq, theirs)
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
				t.Errorf("noticed before %v: %d writes, want the one", noticed, got)
			}
		})
	}
}

// What the lost timeline has queued is of it, though the row that tells of the numbers given twice is that of the other: a copy
// may run that has not heard of it, and its number is closed before the new one is used.
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
			t.Errorf("%d writes, want two; %+v", c.count("write teams")-before, lost)
		}
	})
}

// keepsWaiting has something wait for ever: nothing that is written behind it is told to be settled.
func (n *feedNode) keepsWaiting(t *testing.T) {
	t.Helper()
	n.cloud.refuse(intent.Denied, func(op, table string) bool { return table == "follows" && op != "table" })
	n.put(t, "follows", attr.Item{"match": attr.S("m"), "user": attr.S("u")})
}

// drainsToOne runs the node until all but that is gone.
func (n *feedNode) drainsToOne(t *testing.T) {
	t.Helper()
	stop := n.run(t)
	letPass(2 * time.Minute)
	stop()
	n.waits(t, 1)
}

// bumpAs is bump, and returns its number.
func (n *feedNode) bumpAs(t *testing.T, id string) (seq uint64) {
	t.Helper()
	n.bump(t, id)
	seqs := n.pendingOn(t, id)
	if len(seqs) == 0 {
		t.Fatal("nothing waits")
	}
	return seqs[len(seqs)-1]
}
