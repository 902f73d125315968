package replica

import (
	"math"
	"testing"
	"testing/synctest"

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
