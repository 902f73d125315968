package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// What was read before a table was found restored proves nothing about the present table: the write keeps waiting, and is verified.
func TestReadOverARestore(t *testing.T) {
	for _, c := range []struct {
		name string
		ids  []string
		slow int // which read of an item of the table takes long
	}{
		{name: "one write", ids: []string{"x"}, slow: 1},
		{name: "a transaction", ids: []string{"x", "y"}, slow: 3}, // once one shows it, all are read
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { readOver(t, c.ids, c.slow) })
		})
	}
}

func readOver(t *testing.T, ids []string, slow int) {
	reads, release := 0, make(chan struct{})
	u, n, backup, stop := backedUp(t)
	defer stop()
	u.lose(func() {
		var items []store.WriteItem
		for _, id := range ids {
			items = append(items, newTeam(id))
		}
		n.together(t, items...)
	})
	if got := n.waitingNow(t); got != int64(len(ids)) || u.n(t, "x") != 1 {
		t.Fatalf("%d wait, x is %d", got, u.n(t, "x"))
	}
	u.set(func() {
		u.read = func() {
			if reads++; reads == slow {
				u.unlocked(func() { <-release })
			}
		}
	})
	done := make(chan error, 1)
	go func() { done <- n.feed.ReadNow(t.Context(), n.spec("teams"), teamKey("x")) }()
	letPass(time.Second)
	u.restoreTo(t, backup)
	n.checkAllTables(t)
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	n.waits(t, int64(len(ids))) // after a read of the table as it was before the restore
	u.set(func() { u.away = false })
	letPass(10 * time.Minute)
	for _, id := range ids {
		n.cloudHas(t, teams{id: 1})
	}
}

// unanswered is a cloud that can apply a write, lose its answer and then be unreachable for everything except reads of items and table
// descriptions.
type unanswered struct {
	*shelf

	deaf, away bool
	read       func() // after an item of teams was read; the lock is held
}

func newUnanswered(t *testing.T) *unanswered {
	u := &unanswered{shelf: newShelf(t)}
	u.after = func(op, table string) error {
		switch {
		case u.deaf && table == "teams" && (op == "transact" || op == "write"):
			u.away = true
			return &intent.Error{Class: intent.Unknown}
		case u.read != nil && table == "teams" && op == "get":
			u.read()
		}
		return nil
	}
	u.fail = func(op, _ string) error {
		if u.away && op != "table" && op != "get" {
			return &intent.Error{Class: intent.Offline}
		}
		return nil
	}
	return u
}

// lose makes a write whose answer is lost. Afterwards the cloud is unreachable.
func (u *unanswered) lose(write func()) {
	u.set(func() { u.deaf = true })
	write()
	letPass(time.Minute)
	u.set(func() { u.deaf = false })
}

// The mark in the second table proves nothing either if the first table was recreated, although its losses are put back only when the
// node restarts.
func TestOneTableShowsATransactionOverATableMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, n, _, stop := backedUp(t)
		defer stop()
		u.lose(func() {
			n.together(t, newTeam("x"), store.WriteItem{Put: &store.PutItem{Table: "follows", Item: follow("m", "u")}})
		})
		u.makeAnew(t)
		n.checkAllTables(t)
		if err := n.feed.ReadNow(t.Context(), n.spec("follows"), follow("m", "u")); err != nil {
			t.Fatal(err)
		}
		n.waits(t, 2)
	})
}

// backedUp runs a node on an unanswered cloud, with a backup from before anything is written.
func backedUp(t *testing.T) (u *unanswered, n *feedNode, before backup, stop func()) {
	t.Helper()
	u = newUnanswered(t)
	n = openNode(t, u.shelf, t.TempDir(), nil)
	stop = n.run(t)
	letPass(time.Minute)
	before = u.backUp(t)
	letPass(time.Second)
	return u, n, before, stop
}

// A transaction over a restored table and one that was not restored is not proved by the mark that the second still has.
func TestOneTableShowsATransactionOverARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, n, backup, stop := backedUp(t)
		defer stop()
		u.lose(func() {
			n.together(t, newTeam("x"), store.WriteItem{Put: &store.PutItem{Table: "follows", Item: follow("m", "u")}})
		})
		u.restoreTo(t, backup)
		n.checkAllTables(t)
		if err := n.feed.ReadNow(t.Context(), n.spec("follows"), follow("m", "u")); err != nil {
			t.Fatal(err)
		}
		n.waits(t, 2) // after a read of the table that was not restored
		u.set(func() { u.away = false })
		letPass(2 * time.Hour)
		if u.n(t, "x") != 1 && len(n.conflicts(t)) == 0 {
			t.Errorf("x is lost, and nothing is recorded: %d wait", n.waitingNow(t))
		}
	})
}

// What is put back was applied before, and readers have seen it. They see it once, whether the row is from before or after the restore.
func TestReadersSeeWhatIsPutBackOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(t *testing.T, n *feedNode)
		want  attr.Item
		again attr.Item // what they see on the row of the restored table
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
				n.checkAllTables(t)
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

// An item that a restored table has lost, and that another node may create again, is not absent for readers while a write of this node on
// it is put back and waits for that, even after a restart.
func TestReadersSeeWhatAnotherMayMakeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n, theirs, stop := waitsForAnother(t, func(n *feedNode) { n.bump(t, "x") })
		stop()
		n = n.again(t)
		defer n.run(t)()
		n.sees(t, "x", team("x", 2))
		n.bump(t, "x") // behind the waiting write
		n.sees(t, "x", team("x", 3))
		c.foreign(t, "teams", nil, theirs) // the other node has created it again
		for range 30 {
			letPass(10 * time.Second)
			n.sees(t, "x", team("x", 3))
		}
		n.cloudHas(t, teams{"x": 3})
		n.waits(t, 0)
		n.recorded(t, 0)
	})
}

// Nothing is sent based on the image that readers are shown meanwhile: a Put that finds another image under the same count removes no
// mark.
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

// After an hour, an item that no node has created again is gone.
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

// waitsForAnother returns a node with a write on another node's item; a restored table has lost both. The write waits for the other node
// to create the item again.
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
	n.checkAllTables(t)
	for range 30 {
		letPass(10 * time.Second)
		n.sees(t, "x", team("x", 2))
	}
	return c, n, theirs, stop
}
