package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/sync/replica/intent"
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
	c, dir, old := newShelf(t), t.TempDir(), t.TempDir()
	hold := false
	release := make(chan struct{})
	c.set(func() {
		c.after = func(op, table string) error {
			if !hold || op != held || table != "teams" {
				return nil
			}
			hold = false
			c.mu.Unlock()
			<-release
			c.mu.Lock()
			if lost {
				return &intent.Error{Class: intent.Unknown}
			}
			return nil
		}
	})
	n := openNode(t, c, dir, nil)
	stop := n.run(t)
	letPass(time.Minute)
	point := time.Now()
	letPass(time.Second)
	c.set(func() { hold = true })
	n.pair(t, "x", "y")
	letPass(2 * time.Second)
	if c.n(t, "x") != 1 || n.waitingNow(t) != 2 {
		t.Fatalf("the transaction is not on its way: x is %d, %d wait", c.n(t, "x"), n.waitingNow(t))
	}
	c.restore(t, "teams", nil, "teams-2", point)
	if err := n.checkTables(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if dies {
		copyDir(t, dir, old)
	}
	close(release)
	if dies {
		stop()
		n.close(t)
		c.restore(t, "teams", nil, "teams-2", point) // of what the end has let go on
		n = openNode(t, c, old, nil)
		stop = n.run(t)
	}
	letPass(10 * time.Minute)
	if c.n(t, "x") != 1 || c.n(t, "y") != 1 || n.waitingNow(t) != 0 {
		t.Errorf("x is %d, y is %d, recorded are %v", c.n(t, "x"), c.n(t, "y"), n.lostConflicts(t))
	}
	stop()
}
