package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
)

// What was read before a table was found to be restored proves nothing of the table as it is now: the write waits on, and is
// made sure of.
func TestReadOverARestore(t *testing.T) {
	for _, c := range []struct {
		name string
		ids  []string
		slow int // the read of an item of the table that takes long
	}{
		{name: "one write", ids: []string{"x"}, slow: 1},
		{name: "a transaction", ids: []string{"x", "y"}, slow: 3}, // after one has shown it, all are read
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
	n.lookAtTables(t)
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	n.waits(t, int64(len(ids))) // after a read of the table as it was
	u.set(func() { u.away = false })
	letPass(10 * time.Minute)
	for _, id := range ids {
		n.cloudHas(t, teams{id: 1})
	}
}

// unanswered is a cloud that can take a write, lose the answer and then be away to all but reads of items.
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

// lose has the answer to a write be lost. The cloud is away behind it.
func (u *unanswered) lose(write func()) {
	u.set(func() { u.deaf = true })
	write()
	letPass(time.Minute)
	u.set(func() { u.deaf = false })
}

// Nor is it where the first table was made anew, though what that has lost goes back only when the node starts again.
func TestOneTableShowsATransactionOverATableMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, n, _, stop := backedUp(t)
		defer stop()
		u.lose(func() {
			n.together(t, newTeam("x"), store.WriteItem{Put: &store.PutItem{Table: "follows", Item: follow("m", "u")}})
		})
		u.makeAnew(t)
		n.lookAtTables(t)
		if err := n.feed.ReadNow(t.Context(), n.spec("follows"), follow("m", "u")); err != nil {
			t.Fatal(err)
		}
		n.waits(t, 2)
	})
}

// backedUp runs a node with such a cloud, of which there is a backup from before anything is written.
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

// A transaction over a table that was restored and one that was not is not proved by the mark that the second has kept.
func TestOneTableShowsATransactionOverARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, n, backup, stop := backedUp(t)
		defer stop()
		u.lose(func() {
			n.together(t, newTeam("x"), store.WriteItem{Put: &store.PutItem{Table: "follows", Item: follow("m", "u")}})
		})
		u.restoreTo(t, backup)
		n.lookAtTables(t)
		if err := n.feed.ReadNow(t.Context(), n.spec("follows"), follow("m", "u")); err != nil {
			t.Fatal(err)
		}
		n.waits(t, 2) // after a read of what was not restored
		u.set(func() { u.away = false })
		letPass(2 * time.Hour)
		if u.n(t, "x") != 1 && len(n.conflicts(t)) == 0 {
			t.Errorf("x is lost, and nothing is recorded: %d wait", n.waitingNow(t))
		}
	})
}
