package replica

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// snapshot copies what a table has, so that it can be restored.
func (c *shelf) snapshot(t testing.TB, table string) (items []attr.Item) {
	t.Helper()
	err := c.st.View(t.Context(), func(tx *store.Tx) error {
		page, err := tx.Scan(store.Scan{Table: table})
		items = page.Items
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// restore puts a table back to a snapshot (nil: made anew, empty). at is the restore point, zero: it is none.
func (c *shelf) restore(t testing.TB, table string, items []attr.Item, id string, at time.Time) {
	t.Helper()
	for _, it := range c.snapshot(t, table) {
		c.foreign(t, table, attr.Item{"id": it["id"]}, nil)
	}
	for _, it := range items {
		c.foreign(t, table, nil, it)
	}
	c.set(func() { c.state[table] = TableState{ID: id, CreatedAt: time.Now(), RestoredAt: at} })
}

// A restored table gets again what it has lost, once, and in order; what is absent meanwhile is not deleted here; what others
// deleted before the restore point stays deleted.
func TestTableRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), scanTeams(20*time.Second))
		stop := n.run(t)
		c.foreign(t, "teams", nil, team("theirs", 1))
		n.put(t, "teams", team("old", 1))
		n.put(t, "teams", team("deleted", 1))
		letPass(time.Minute)
		c.foreign(t, "teams", teamKey("deleted"), nil)
		letPass(10 * time.Minute)
		point, then := time.Now(), c.snapshot(t, "teams")
		letPass(10 * time.Minute)
		n.bump(t, "old")
		letPass(time.Second)
		n.bump(t, "old")
		n.put(t, "teams", team("new", 1))
		letPass(time.Second)
		n.bump(t, "new")
		c.foreign(t, "teams", nil, team("late", 1)) // lost: it is nobody's to send again
		letPass(time.Minute)
		if c.n(t, "old") != 3 || c.n(t, "new") != 2 || n.row(t, "teams", teamKey("late")) == nil {
			t.Fatal("before the restore not everything is there")
		}

		c.restore(t, "teams", then, "teams-2", point)
		for range 30 {
			letPass(10 * time.Second)
			for id, want := range map[string]int64{"old": 3, "new": 2} {
				if got, _ := n.row(t, "teams", teamKey(id))["n"].Int(); got != want {
					t.Fatalf("readers see %s as %d", id, got)
				}
			}
		}
		letPass(10 * time.Minute)
		if c.n(t, "old") != 3 || c.n(t, "new") != 2 {
			t.Errorf("after the restore old is %d, new %d", c.n(t, "old"), c.n(t, "new"))
		}
		if it, _ := c.item("teams", teamKey("deleted")); it != nil {
			t.Errorf("what was deleted before the restore point is back: %v", it)
		}
		if got := n.lostConflicts(t); len(got) != 0 {
			t.Errorf("conflicts %v", got)
		}
		if n.replaying() {
			t.Error("all nodes have replayed, and it is still waited for")
		}
		letPass(10 * time.Minute)
		if n.row(t, "teams", teamKey("late")) != nil {
			t.Error("when all have replayed, what is absent is deleted")
		}
		stop()
		row, _ := c.item("touchline-sync", nodeKey("a"))
		if row[attrReplayed].Map()["teams"].Str() != "teams-2" {
			t.Errorf("the row does not tell: %v", row)
		}
	})
}

// Another node that has not replayed is waited for, an hour at most.
func TestReplayWaitsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		c.foreign(t, "touchline-sync", nil, attr.Item{"id": attr.S("node:b"), attrNonce: attr.S("x")})
		n := openNode(t, c, t.TempDir(), scanTeams(20*time.Second))
		stop := n.run(t)
		defer stop()
		c.foreign(t, "teams", nil, team("theirs", 1))
		letPass(time.Minute)
		c.restore(t, "teams", nil, "teams-2", time.Now().Add(-time.Minute))
		letPass(40 * time.Minute)
		if n.row(t, "teams", teamKey("theirs")) == nil {
			t.Error("what another node may send again was deleted")
		}
		letPass(40 * time.Minute)
		if n.row(t, "teams", teamKey("theirs")) != nil {
			t.Error("after the hour it is still here")
		}
	})
}

// A table that was written to before it could first be looked at, and was restored in between, gets again what it has lost.
func TestRestoredBeforeTheFirstLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, away := newShelf(t), true
		c.set(func() {
			c.fail = func(op, table string) error {
				if away && op == "table" && table == "teams" {
					return &intent.Error{Class: intent.Throttled}
				}
				return nil
			}
		})
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		letPass(time.Minute)
		point := time.Now()
		letPass(time.Second)
		n.put(t, "teams", team("x", 1))
		letPass(time.Second)
		c.restore(t, "teams", nil, "teams-2", point)
		c.set(func() { away = false })
		letPass(3 * time.Minute)
		if c.n(t, "x") != 1 {
			t.Error("what the table has lost is not sent again")
		}
		if got := n.lostConflicts(t); len(got) != 0 {
			t.Errorf("conflicts %v", got)
		}
	})
}

// A transaction whose answer was lost has its proof in a table that was not restored: it is made sure of in those that were.
func TestUnansweredOverARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, deaf, away := newShelf(t), false, false
		c.set(func() {
			c.after = func(op, _ string) error {
				if deaf && op == "transact" {
					away = true
					return &intent.Error{Class: intent.Unknown}
				}
				return nil
			}
			c.fail = func(op, _ string) error {
				if away && op != "table" {
					return &intent.Error{Class: intent.Offline}
				}
				return nil
			}
		})
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		letPass(time.Minute)
		point := time.Now()
		letPass(time.Second)
		c.set(func() { deaf = true })
		n.pair(t, "x", "y")
		letPass(time.Minute)
		if c.n(t, "x") != 1 || n.waitingNow(t) != 2 {
			t.Fatalf("the transaction is not unanswered: x is %d, %d wait", c.n(t, "x"), n.waitingNow(t))
		}
		c.restore(t, "teams", nil, "teams-2", point)
		if err := n.checkTables(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		c.set(func() { deaf, away = false, false })
		letPass(10 * time.Minute)
		if c.n(t, "x") != 1 || c.n(t, "y") != 1 {
			t.Errorf("x is %d, y is %d, recorded are %v", c.n(t, "x"), c.n(t, "y"), n.lostConflicts(t))
		}
	})
}

// The row goes on telling of a table that this node has done with: others may yet wait for it.
func TestReplayedStaysTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		stop := n.run(t)
		defer stop()
		n.put(t, "teams", team("x", 1))
		letPass(time.Minute)
		point := time.Now()
		told := attr.M(attr.Item{"teams": attr.S("teams-2")})
		b := attr.Item{"id": attr.S("node:b"), attrNonce: attr.S("x"), attrReplayed: told}
		c.foreign(t, "touchline-sync", nil, b) // it has replayed the first, and not the second
		letPass(time.Minute)
		c.restore(t, "teams", c.snapshot(t, "teams"), "teams-2", point)
		letPass(6 * time.Minute)
		c.set(func() { c.state["follows"] = TableState{ID: "follows-2", RestoredAt: point} })
		letPass(10 * time.Minute)
		row, _ := c.item("touchline-sync", nodeKey("a"))
		if got := row[attrReplayed].Map(); got["teams"].Str() != "teams-2" || got["follows"].Str() != "follows-2" {
			t.Errorf("the row tells %v", row)
		}
	})
}

// What stands behind a write that waits for the other nodes only waits for them too: a node that has nothing else left has
// replayed.
func TestWhatStandsBehindTheWaitingIsReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), scanTeams(20*time.Second))
		stop := n.run(t)
		defer stop()
		letPass(time.Minute)
		point := time.Now()
		letPass(time.Minute)
		c.foreign(t, "teams", nil, team("theirs", 1)) // lost: it is nobody's to send again
		letPass(time.Minute)
		for range 2 {
			n.bump(t, "theirs")
			letPass(time.Second)
		}
		c.restore(t, "teams", nil, "teams-2", point)
		letPass(15 * time.Minute)
		if n.replaying() {
			t.Error("the only node has nothing else left, and waits for itself")
		}
		if got := n.lostConflicts(t); len(got) == 0 {
			t.Error("what has no item any more is not recorded")
		}
	})
}

// A table that is made anew: nothing is sent to it and nothing is deleted here, until somebody restarts the node; then it
// gets what the log has, and what it does not have stays here.
func TestTableMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		n := openNode(t, c, dir, scanTeams(20*time.Second))
		stop := n.run(t)
		c.foreign(t, "teams", nil, team("theirs", 1))
		n.put(t, "teams", team("ours", 1))
		letPass(time.Minute)
		c.restore(t, "teams", nil, "teams-2", time.Time{})
		letPass(10 * time.Minute)
		n.bump(t, "ours")
		letPass(2 * time.Hour)
		if got := c.snapshot(t, "teams"); len(got) != 0 {
			t.Errorf("the new table was sent %v", got)
		}
		if n.row(t, "teams", teamKey("theirs")) == nil || n.row(t, "teams", teamKey("ours")) == nil {
			t.Error("local data was deleted to match")
		}
		st, err := n.Status(t.Context())
		if err != nil || len(st.Alarms()) == 0 {
			t.Errorf("no alarm: %v, %v", st.Tables, err)
		}
		stop()
		n.close(t)
		n = openNode(t, c, dir, scanTeams(20*time.Second))
		n.drained(t)
		if c.n(t, "ours") != 2 {
			t.Errorf("after the restart ours is %d", c.n(t, "ours"))
		}
		stop = n.run(t)
		letPass(3 * time.Hour)
		if n.row(t, "teams", teamKey("theirs")) == nil {
			t.Error("in the end local data was deleted to match")
		}
		stop()
	})
}

// bumpBeside counts on one item and makes another, in one transaction.
func (n *feedNode) bumpBeside(t *testing.T, id, beside string) {
	t.Helper()
	count := store.UpdateItem{
		Table: "teams", Key: teamKey(id), Update: "ADD n :one", Params: expr.Params{Values: attr.Item{":one": attr.Int(1)}},
	}
	put := store.PutItem{Table: "teams", Item: team(beside, 1)}
	err := n.st.Update(t.Context(), func(tx *store.Tx) error {
		return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{{Update: &count}, {Put: &put}}})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What is written to an item that a table made anew does not have, and that nobody has sent again within the hour, is decided
// like any other: a delete is done, an update is recorded, alone or in a transaction. The item stays, for nobody has deleted it.
func TestWritesOnWhatATableMadeAnewLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		c.foreign(t, "touchline-sync", nil, attr.Item{"id": attr.S("node:b"), attrNonce: attr.S("x")}) // it does not come back
		n := openNode(t, c, dir, scanTeams(20*time.Second))
		stop := n.run(t)
		for _, id := range []string{"kept", "deleted", "updated", "together"} {
			c.foreign(t, "teams", nil, team(id, 1))
		}
		letPass(time.Minute)
		c.restore(t, "teams", nil, "teams-2", time.Time{})
		letPass(10 * time.Minute)
		stop()
		n.close(t)
		n = openNode(t, c, dir, scanTeams(20*time.Second))
		stop = n.run(t)
		defer stop()
		letPass(time.Minute)
		n.bump(t, "updated")
		n.bumpBeside(t, "together", "beside")
		err := n.st.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "teams", Key: teamKey("deleted")})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		letPass(10 * time.Minute)
		if st, err := n.Status(t.Context()); err != nil || st.Waiting != 4 {
			t.Errorf("while others may send the items again: %d writes wait, %v", st.Waiting, err)
		}
		letPass(2 * time.Hour)
		st, err := n.Status(t.Context())
		if err != nil || st.Waiting != 0 || st.Conflicts.Open != 2 {
			t.Errorf("%d writes wait, %d conflicts, %v", st.Waiting, st.Conflicts.Open, err)
		}
		for _, id := range []string{"updated", "together"} {
			if it := n.row(t, "teams", teamKey(id)); !attr.EqualItems(it, team(id, 1)) {
				t.Errorf("%s is %v", id, it)
			}
		}
		if n.row(t, "teams", teamKey("kept")) == nil || n.row(t, "teams", teamKey("deleted")) != nil {
			t.Error("what nobody wrote to is not kept, or the delete is not done")
		}
	})
}

// A crash between two steps of a replay repeats nothing and forgets nothing.
func TestRequeueIsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		n := openNode(t, c, dir, nil)
		for i := range 3 {
			n.put(t, "teams", team("x", int64(i)))
			n.drained(t)
		}
		c.restore(t, "teams", nil, "teams-2", time.Now().Add(-time.Hour))
		b := tableBook{ID: "teams-2", RestoredAt: time.Now().Add(-time.Hour), Noticed: time.Now()}
		for range 2 { // the second time finds nothing to be done
			if err := n.requeue(t.Context(), "teams", b); err != nil {
				t.Fatal(err)
			}
			if got := n.waitingNow(t); got != 3 {
				t.Fatalf("%d writes wait", got)
			}
		}
		st, err := n.Status(t.Context())
		if err != nil || st.Replay.Entries != 0 || st.Replay.Bytes != 0 {
			t.Errorf("the log still has %+v, %v", st.Replay, err)
		}
		n.drained(t)
		if it, _ := c.item("teams", teamKey("x")); !it["n"].Equal(attr.Int(2)) {
			t.Errorf("the cloud has %v", it)
		}
	})
}

// Who asks for a write that was folded into one that waits again is not told that the cloud has it.
func TestFoldedWaitsOverARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		n := openNode(t, c, t.TempDir(), nil)
		folded := n.put(t, "teams", team("x", 1))
		last := n.put(t, "teams", team("x", 2))
		n.drained(t)
		proof := func(want Proof) {
			t.Helper()
			for _, seq := range []uint64{folded, last} {
				if got, err := n.Proved(t.Context(), seq); got != want || err != nil {
					t.Errorf("%d of %d and %d is proved %d, %v", seq, folded, last, got, err)
				}
			}
		}
		proof(ProofApplied)
		c.restore(t, "teams", nil, "teams-2", time.Now().Add(-time.Hour))
		if err := n.checkTables(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		proof(ProofPending)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := n.Wait(ctx, folded); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for it ended with %v", err)
		}
		n.drained(t)
		proof(ProofApplied)
		if c.n(t, "x") != 2 {
			t.Errorf("x is %d", c.n(t, "x"))
		}
	})
}

// Where tables may not be described, that is said once, and is no error.
func TestCatalogueDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newShelf(t)
		c.set(func() {
			c.fail = func(op, _ string) error {
				if op == "table" {
					return &intent.Error{Class: intent.Denied}
				}
				return nil
			}
		})
		n := openNode(t, c, t.TempDir(), nil)
		n.put(t, "teams", team("x", 1))
		n.drained(t)
		if c.n(t, "x") != 1 {
			t.Error("the node sends nothing")
		}
	})
}
