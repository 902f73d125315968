package replica

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
	"github.com/touchline/touchline/sync/replica/restore"
)

// A restored table gets back what it has lost, once and in order. What is absent meanwhile is not deleted here, and what others deleted
// before the restore point stays deleted.
func TestTableRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, scanTeams(20*time.Second))
		stop := n.run(t)
		c.foreign(t, "teams", nil, team("theirs", 1))
		n.put(t, "teams", team("old", 1))
		n.put(t, "teams", team("deleted", 1))
		letPass(time.Minute)
		c.foreign(t, "teams", teamKey("deleted"), nil)
		letPass(10 * time.Minute)
		backup := c.backUp(t)
		letPass(10 * time.Minute)
		n.bump(t, "old")
		letPass(time.Second)
		n.bump(t, "old")
		n.put(t, "teams", team("new", 1))
		letPass(time.Second)
		n.bump(t, "new")
		c.foreign(t, "teams", nil, team("late", 1)) // lost: no node can send it again
		letPass(time.Minute)
		n.cloudHas(t, teams{"old": 3, "new": 2})
		if n.row(t, "teams", teamKey("late")) == nil {
			t.Fatal("not everything is here before the restore")
		}

		c.restoreTo(t, backup)
		for range 30 {
			letPass(10 * time.Second)
			for id, want := range map[string]int64{"old": 3, "new": 2} {
				if got, _ := n.row(t, "teams", teamKey(id))["n"].Int(); got != want {
					t.Fatalf("readers see %s as %d", id, got)
				}
			}
		}
		letPass(10 * time.Minute)
		n.cloudHas(t, teams{"old": 3, "new": 2})
		if it := c.team(t, "deleted"); it != nil {
			t.Errorf("what was deleted before the restore point is back: %v", it)
		}
		n.recorded(t, 0)
		if n.tables.Replaying() {
			t.Error("all nodes have replayed, and the node still waits")
		}
		letPass(10 * time.Minute)
		if n.row(t, "teams", teamKey("late")) != nil {
			t.Error("all have replayed, and the absent item was not deleted")
		}
		stop()
		row := c.nodeRow(t)
		if row[attrReplayed].Map()["teams"].Str() != "teams-2" {
			t.Errorf("the row does not report the replay: %v", row)
		}
	})
}

// The node waits for another node that has not replayed, for an hour at most.
func TestReplayWaitsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, scanTeams(20*time.Second))
		c.foreign(t, "touchline-sync", nil, attr.Item{"id": attr.S("node:b"), attrNonce: attr.S("x")})
		defer n.run(t)()
		backup := c.backUp(t)
		c.foreign(t, "teams", nil, team("theirs", 1))
		letPass(time.Minute)
		c.restoreTo(t, backup)
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

// A table that was written to before it was first checked, and was restored in between, gets back what it has lost.
func TestRestoredBeforeTheFirstCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		c.refuse(intent.Throttled, func(op, table string) bool { return op == "table" && table == "teams" })
		stop := n.run(t)
		defer stop()
		letPass(time.Minute)
		backup := c.backUp(t)
		letPass(time.Second)
		n.put(t, "teams", team("x", 1))
		letPass(time.Second)
		c.restoreTo(t, backup)
		c.heal()
		letPass(3 * time.Minute)
		n.cloudHas(t, teams{"x": 1})
		n.recorded(t, 0)
	})
}

// A transaction whose answer was lost has its proof in a table that was not restored: it is verified in those that were.
func TestUnansweredOverARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		letPass(time.Minute)
		backup := c.backUp(t)
		letPass(time.Second)
		away := false
		c.refuse(intent.Offline, func(op, _ string) bool { return away && op != "table" })
		c.loseAnswers(func(op, _ string) bool {
			away = away || op == "transact"
			return op == "transact"
		})
		n.pair(t, "x", "y")
		letPass(time.Minute)
		if c.n(t, "x") != 1 || n.waitingNow(t) != 2 {
			t.Fatalf("the transaction is not unanswered: x is %d, %d wait", c.n(t, "x"), n.waitingNow(t))
		}
		c.restoreTo(t, backup)
		n.checkAllTables(t)
		c.heal()
		letPass(10 * time.Minute)
		n.cloudHas(t, teams{"x": 1, "y": 1})
	})
}

// The row keeps reporting a table that this node has finished: other nodes may still wait for it.
func TestReplayedStaysReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		n.put(t, "teams", team("x", 1))
		letPass(time.Minute)
		backup := c.backUp(t)
		replayed := attr.M(attr.Item{"teams": attr.S("teams-2")})
		b := attr.Item{"id": attr.S("node:b"), attrNonce: attr.S("x"), attrReplayed: replayed}
		c.foreign(t, "touchline-sync", nil, b) // it has replayed teams, and not follows
		letPass(time.Minute)
		c.restoreTo(t, backup)
		letPass(6 * time.Minute)
		c.set(func() { c.state["follows"] = remote.TableState{ID: "follows-2", RestoredAt: backup.at} })
		letPass(10 * time.Minute)
		row := c.nodeRow(t)
		if got := row[attrReplayed].Map(); got["teams"].Str() != "teams-2" || got["follows"].Str() != "follows-2" {
			t.Errorf("the row reports %v", row)
		}
	})
}

// A write behind one that waits for the other nodes waits for them too: a node with nothing else left has replayed.
func TestWhatStandsBehindTheWaitingIsReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, scanTeams(20*time.Second))
		letPass(time.Minute)
		backup := c.backUp(t)
		letPass(time.Minute)
		c.foreign(t, "teams", nil, team("theirs", 1)) // lost: no node can send it again
		letPass(time.Minute)
		for range 2 {
			n.bump(t, "theirs")
			letPass(time.Second)
		}
		c.restoreTo(t, backup)
		letPass(15 * time.Minute)
		if n.tables.Replaying() {
			t.Error("the only node has nothing else left, and waits for itself")
		}
		if len(n.conflicts(t)) == 0 {
			t.Error("the write whose item is gone is not recorded")
		}
	})
}

// A recreated table: nothing is sent to it and nothing is deleted here until the node is restarted. Then it gets what the replay log has,
// and what it lacks stays here.
func TestTableMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, scanTeams(20*time.Second))
		stop := n.run(t)
		c.foreign(t, "teams", nil, team("theirs", 1))
		n.put(t, "teams", team("ours", 1))
		letPass(time.Minute)
		c.makeAnew(t)
		letPass(10 * time.Minute)
		n.bump(t, "ours")
		letPass(2 * time.Hour)
		if got := c.backUp(t).teams; len(got) != 0 {
			t.Errorf("the new table has %v", got)
		}
		if n.row(t, "teams", teamKey("theirs")) == nil || n.row(t, "teams", teamKey("ours")) == nil {
			t.Error("local data was deleted to match the new table")
		}
		if st := n.status(t); len(st.Alarms) == 0 {
			t.Errorf("no alarm: %v", st.Tables)
		}
		stop()
		n = n.again(t)
		n.drained(t)
		n.cloudHas(t, teams{"ours": 2})
		stop = n.run(t)
		letPass(3 * time.Hour)
		if n.row(t, "teams", teamKey("theirs")) == nil {
			t.Error("local data was deleted in the end to match the new table")
		}
		stop()
	})
}

// A write to an item that a recreated table lacks, and that no node sends again within the hour, is decided like any other: a delete is
// done, an update is recorded, alone or in a transaction. The item stays here, because nobody has deleted it.
func TestWritesOnWhatATableMadeAnewLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, scanTeams(20*time.Second))
		c.foreign(t, "touchline-sync", nil, attr.Item{"id": attr.S("node:b"), attrNonce: attr.S("x")}) // it does not come back
		stop := n.run(t)
		for _, id := range []string{"kept", "deleted", "updated", "together"} {
			c.foreign(t, "teams", nil, team(id, 1))
		}
		letPass(time.Minute)
		c.makeAnew(t)
		letPass(10 * time.Minute)
		stop()
		n = n.again(t)
		defer n.run(t)()
		letPass(time.Minute)
		n.bump(t, "updated")
		n.together(t, oneMore("together"), newTeam("beside"))
		n.remove(t, "teams", teamKey("deleted"))
		letPass(10 * time.Minute)
		n.waits(t, 4) // while others may send the items again
		letPass(2 * time.Hour)
		if st := n.status(t); st.Waiting != 0 || st.Conflicts.Open != 2 {
			t.Errorf("%d writes wait, %d conflicts", st.Waiting, st.Conflicts.Open)
		}
		for _, id := range []string{"updated", "together"} {
			if it := n.row(t, "teams", teamKey(id)); !attr.EqualItems(it, team(id, 1)) {
				t.Errorf("%s is %v", id, it)
			}
		}
		if n.row(t, "teams", teamKey("kept")) == nil || n.row(t, "teams", teamKey("deleted")) != nil {
			t.Error("an unwritten item is gone, or the delete is not done")
		}
	})
}

// A crash between two steps of a replay repeats nothing and omits nothing.
func TestRequeueIsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		for i := range 3 {
			n.put(t, "teams", team("x", int64(i)))
			n.drained(t)
		}
		c.restoreTo(t, backup{at: time.Now().Add(-time.Hour)})
		b := restore.Book{ID: "teams-2", RestoredAt: time.Now().Add(-time.Hour), Noticed: time.Now()}
		for range 2 { // the second time there is nothing to do
			n.setBook(t, "teams", b)
			n.checkAllTables(t)
			if got := n.waitingNow(t); got != 3 {
				t.Fatalf("%d writes wait", got)
			}
		}
		if st := n.status(t); st.Replay.Entries != 0 || st.Replay.Bytes != 0 {
			t.Errorf("the log still has %+v", st.Replay)
		}
		n.drained(t)
		n.cloudHas(t, teams{"x": 2})
	})
}

// A caller that asks about a write folded into one that waits again is not told that the cloud has it.
func TestFoldedWaitsOverARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		folded := n.put(t, "teams", team("x", 1))
		last := n.put(t, "teams", team("x", 2))
		n.drained(t)
		proof := func(want Proof) {
			t.Helper()
			for _, seq := range []uint64{folded, last} {
				if got, err := n.ProofOf(t.Context(), seq); got != want || err != nil {
					t.Errorf("%d of %d and %d is proved %d, %v", seq, folded, last, got, err)
				}
			}
		}
		proof(ProofApplied)
		c.restoreTo(t, backup{at: time.Now().Add(-time.Hour)})
		n.checkAllTables(t)
		proof(ProofPending)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := n.Wait(ctx, folded); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for it ended with %v", err)
		}
		n.drained(t)
		proof(ProofApplied)
		n.cloudHas(t, teams{"x": 2})
	})
}

// A missing permission to describe tables is no error.
func TestCatalogueDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		c.refuse(intent.Denied, func(op, _ string) bool { return op == "table" })
		n.put(t, "teams", team("x", 1))
		n.drained(t)
		n.cloudHas(t, teams{"x": 1})
	})
}
