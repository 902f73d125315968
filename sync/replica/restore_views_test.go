package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// What is put back was applied before, and readers have seen it: they see it once, whether the row is from before the restore
// or from behind it.
func TestReadersSeeWhatIsPutBackOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(t *testing.T, n *feedNode)
		want  attr.Item
		again attr.Item // on the row as the restored table has it
	}{
		{name: "an ADD", write: func(t *testing.T, n *feedNode) { n.bump(t, "x") }, want: team("x", 2), again: team("x", 2)},
		{name: "two of them", write: func(t *testing.T, n *feedNode) {
			n.bump(t, "x")
			letPass(time.Second)
			n.bump(t, "x")
		}, want: team("x", 3), again: team("x", 3)},
		{name: "a Put, and what another has written on it", write: func(t *testing.T, n *feedNode) {
			n.put(t, "teams", team("x", 5))
			letPass(time.Second)
			n.cloud.foreign(t, "teams", nil, with(n.cloud.team(t, "x"), attr.Item{"n": attr.Int(7)}))
		}, want: team("x", 7), again: team("x", 5)},
		{name: "a delete", write: func(t *testing.T, n *feedNode) { n.remove(t, "teams", teamKey("x")) }},
		{name: "a delete, a create and an ADD", write: func(t *testing.T, n *feedNode) {
			n.remove(t, "teams", teamKey("x"))
			letPass(time.Second)
			n.put(t, "teams", team("x", 5))
			letPass(time.Second)
			n.bump(t, "x")
		}, want: team("x", 6), again: team("x", 6)},
		{name: "a delete, a create and a delete", write: func(t *testing.T, n *feedNode) {
			n.remove(t, "teams", teamKey("x"))
			letPass(time.Second)
			n.put(t, "teams", team("x", 5))
			letPass(time.Second)
			n.remove(t, "teams", teamKey("x"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl, n := running(t, scanTeams(time.Second))
				n.put(t, "teams", team("x", 1))
				letPass(10 * time.Minute)
				backup := cl.backUp(t)
				letPass(time.Second)
				c.write(t, n)
				letPass(10 * time.Second)
				n.waits(t, 0)
				n.sees(t, "x", c.want)
				cl.refuse(intent.Throttled, func(op, _ string) bool { return op != "table" })
				cl.restoreTo(t, backup)
				n.lookAtTables(t)
				if n.waitingNow(t) == 0 {
					t.Fatal("nothing is put back")
				}
				n.sees(t, "x", c.want)
				cl.refuse(intent.Throttled, func(op, _ string) bool { return op == "write" || op == "transact" })
				letPass(time.Minute) // the feed shows it
				n.sees(t, "x", c.again)
			})
		})
	}
}

// What a restored table has lost, and another node may make again, is not absent to readers while a write of this node that is
// put back waits for that: not behind a restart either.
func TestReadersSeeWhatAnotherMayMakeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n, theirs, stop := waitsForAnother(t, func(n *feedNode) { n.bump(t, "x") })
		stop()
		n = n.again(t)
		defer n.run(t)()
		n.sees(t, "x", team("x", 2))
		n.bump(t, "x") // behind what waits
		n.sees(t, "x", team("x", 3))
		c.foreign(t, "teams", nil, theirs) // the other has made it again
		for range 30 {
			letPass(10 * time.Second)
			n.sees(t, "x", team("x", 3))
		}
		n.cloudHas(t, teams{"x": 3})
		n.waits(t, 0)
		n.recorded(t, 0)
	})
}

// Nothing is sent upon what readers are shown of it: a Put that finds another image under the same count takes no mark back.
func TestNothingIsSentUponWhatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n, theirs, stop := waitsForAnother(t, func(n *feedNode) { n.put(t, "teams", team("x", 2)) })
		defer stop()
		c.foreign(t, "teams", nil, with(theirs, attr.Item{intent.AttrCount: attr.Int(2), intent.AttrMark + "b": attr.Int(9)}))
		letPass(2 * time.Minute)
		n.cloudHas(t, teams{"x": 2})
		if mark := c.team(t, "x")[intent.AttrMark+"b"]; !attr.Equal(mark, attr.Int(9)) {
			t.Errorf("the other's mark is %v", mark)
		}
	})
}

// When the hour is over, what nobody has made again is gone.
func TestReadersSeeWhatIsLostForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n, _, stop := waitsForAnother(t, func(n *feedNode) { n.bump(t, "x") })
		defer stop()
		letPass(50 * time.Minute)
		n.sees(t, "x", team("x", 2))
		letPass(10 * time.Minute)
		n.waits(t, 0)
		n.recorded(t, 1)
		n.sees(t, "x", nil)
	})
}

// waitsForAnother is a node with a write of another node's item, which a restored table has lost with it: it waits for the
// other to make it again.
func waitsForAnother(t *testing.T, write func(n *feedNode)) (c *shelf, n *feedNode, theirs attr.Item, stop func()) {
	t.Helper()
	c, n = opened(t, scanTeams(20*time.Second))
	stop = n.run(t)
	c.foreign(t, "touchline-sync", nil, attr.Item{"id": attr.S("node:b"), attrNonce: attr.S("x")}) // has not replayed
	letPass(time.Minute)
	backup := c.backUp(t)
	theirs = with(team("x", 1), attr.Item{
		intent.AttrLife: attr.S("b.1.5"), intent.AttrCount: attr.Int(1), intent.AttrMark + "b": attr.Int(5),
	})
	c.foreign(t, "teams", nil, theirs)
	letPass(time.Minute)
	write(n)
	letPass(time.Minute)
	n.sees(t, "x", team("x", 2))
	c.restoreTo(t, backup)
	n.lookAtTables(t)
	for range 30 {
		letPass(10 * time.Second)
		n.sees(t, "x", team("x", 2))
	}
	return c, n, theirs, stop
}
