package replica

import (
	"testing"
	"testing/synctest"
	"time"
)

// What was on its way when a table was found restored is in the outbox as never sent, but for its mark: it is made sure of like
// what is known to be unanswered. The proof of a transaction lies in another table, and proves nothing of what that has lost.
func TestOnItsWayOverARestore(t *testing.T) {
	for _, c := range []struct {
		name, held string
		lost       bool // the held answer never comes
		dies       bool // the node dies over it
	}{
		{name: "the images are not read", held: "get", lost: true},
		{name: "the images are read late", held: "get"},
		{name: "the answer is late", held: "transact"},
		{name: "the answer is lost", held: "transact", lost: true},
		{name: "the node dies", held: "get", lost: true, dies: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { onItsWay(t, c.held, c.lost, c.dies) })
		})
	}
}

func onItsWay(t *testing.T, held string, lost, dies bool) {
	c, n := opened(t, nil)
	stop := n.run(t)
	letPass(time.Minute)
	backup := c.backUp(t)
	letPass(time.Second)
	hold, release := true, make(chan struct{})
	c.loseAnswers(func(op, table string) bool {
		if !hold || op != held || table != "teams" {
			return false
		}
		hold = false
		c.unlocked(func() { <-release })
		return lost
	})
	n.pair(t, "x", "y")
	letPass(2 * time.Second)
	if c.n(t, "x") != 1 || n.waitingNow(t) != 2 {
		t.Fatalf("the transaction is not on its way: x is %d, %d wait", c.n(t, "x"), n.waitingNow(t))
	}
	c.restoreTo(t, backup)
	n.lookAtTables(t)
	disk := n.disk(t)
	close(release)
	if dies {
		stop()
		c.replaceTeams(t, backup) // of what the end has let go on
		n = n.backTo(t, disk)
		stop = n.run(t)
	}
	letPass(10 * time.Minute)
	n.cloudHas(t, teams{"x": 1, "y": 1})
	n.waits(t, 0)
	stop()
}
