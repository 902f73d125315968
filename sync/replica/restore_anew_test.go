package replica

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// A delete of an item that is absent from a table only because the table was recreated is done once all nodes have sent again what they
// know. It does not wait for ever, and while it waits the status says why.
func TestDeletedFromATableMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, scanTeams(20*time.Second))
		stop := n.run(t)
		c.foreign(t, "teams", nil, team("theirs", 1))
		letPass(time.Minute)
		c.makeAnew(t)
		n.remove(t, "teams", teamKey("theirs"))
		reasons := func(n *feedNode) {
			t.Helper()
			letPass(45 * time.Second)
			st := n.status(t)
			for i := range st.Workers {
				for _, p := range st.Workers[i].Parked {
					if p.Why == "" {
						t.Errorf("%s waits until %v without a reason", p.WriteID, p.Until)
					}
				}
			}
		}
		reasons(n)
		stop()
		n = n.again(t)
		defer n.run(t)()
		reasons(n)
		letPass(2 * time.Hour)
		n.waits(t, 0)
		if n.row(t, "teams", teamKey("theirs")) != nil || c.team(t, "theirs") != nil {
			t.Error("the deleted item is back")
		}
	})
}

// A table recreated before a node first checked it is recognized by writes that the node has had acknowledged before: what the table
// lacks was not deleted. A table at least as old as these acknowledgements is the one that gave them.
func TestMadeAnewBeforeTheFirstCheck(t *testing.T) {
	for _, anew := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c, n := opened(t, scanTeams(20*time.Second))
			c.refuse(intent.Throttled, func(op, table string) bool { return op == "table" && table == "teams" })
			made := remote.TableState{ID: "teams-first", CreatedAt: time.Now()}
			c.set(func() { c.state["teams"] = made })
			stop := n.run(t)
			letPass(time.Minute)
			n.put(t, "teams", team("x", 1))
			letPass(10 * time.Minute)
			n.cloudHas(t, teams{"x": 1})
			if anew {
				c.makeAnew(t)
			}
			c.heal()
			letPass(3 * time.Minute)
			if stopped := slices.ContainsFunc(n.status(t).Tables, func(s TableStatus) bool {
				return s.Table == "teams" && s.Stopped != nil
			}); stopped != anew {
				t.Fatalf("recreated %t, stopped %t", anew, stopped)
			}
			n.sees(t, "x", team("x", 1))
			stop()
			n = n.again(t)
			defer n.run(t)()
			letPass(3 * time.Minute)
			n.cloudHas(t, teams{"x": 1})
			n.recorded(t, 0)
		})
	}
}

// A batch that a worker has sent and holds during an outage still counts as sent when the outbox is read again because of another table:
// its own effect is no sign of another copy.
func TestHeldOverTheRestoreOfAnotherTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		c, n := opened(t, func(cfg *Config) { cfg.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		stop := n.run(t)
		letPass(time.Minute)
		away := false
		c.refuse(intent.Offline, func(op, _ string) bool { return away && op != "table" })
		c.loseAnswers(func(op, _ string) bool {
			away = away || op == "transact"
			return false
		})
		n.pair(t, "x", "y")
		letPass(10 * time.Second)
		c.set(func() { c.state["follows"] = remote.TableState{ID: "follows-2", RestoredAt: time.Now()} })
		n.checkAllTables(t)
		c.heal()
		letPass(10 * time.Minute)
		stop()
		n.waits(t, 0)
		if got := log.String(); strings.Contains(got, "cannot have written") {
			t.Errorf("log: %s", got)
		}
	})
}

// A transaction that wrote to a table since dropped here is put back into a restored cloud without that table: the other tables have lost
// their part all the same.
func TestRestoredWithoutATableThatIsGoneHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		dropped := syncSpec()
		dropped.Name, dropped.Policy = "dropped", store.PolicyIntent
		c.define(t, dropped)
		if err := n.st.Define(t.Context(), dropped); err != nil {
			t.Fatal(err)
		}
		inDropped := func(id string) store.WriteItem {
			return store.WriteItem{Put: &store.PutItem{Table: "dropped", Item: team(id, 1)}}
		}
		n.together(t, inDropped("first"), newTeam("x"),
			store.WriteItem{Check: &store.ConditionCheck{Table: "teams", Key: teamKey("none"), Condition: "attribute_not_exists(id)"}})
		n.together(t, newTeam("y"), inDropped("last"))
		n.together(t, inDropped("alone"))
		backup := c.backUp(t)
		letPass(time.Second)
		n.drained(t)
		if err := n.st.DropTable(t.Context(), "dropped"); err != nil {
			t.Fatal(err)
		}
		n = n.again(t)
		c.restoreTo(t, backup)
		c.set(func() { c.state["dropped"] = remote.TableState{ID: "dropped-2", RestoredAt: backup.at} })
		n.drained(t)
		n.cloudHas(t, teams{"x": 1, "y": 1})
	})
}

// A node sends to a table before it first checks it, or is restored to a snapshot from before the first check, and then finds the table
// restored. Nothing shows whether the restore came before or after what was sent. A waiting transaction is not proved by its proof row,
// which lies in another table.
func TestPutBackToBeforeTheFirstCheck(t *testing.T) {
	for _, c := range []struct {
		name     string
		sent     bool // before the snapshot is made, and not answered
		lost     bool // the machine runs on, and is then restored
		want     int64
		recorded int
	}{
		// Nothing shows any more what became of it there: it is recorded, and not sent over later decisions.
		{name: "sent in the time that was lost", lost: true, recorded: 1},
		{name: "not answered, and sent again in the time that was lost", sent: true, lost: true, recorded: 1},
		{name: "not answered", sent: true, want: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := beforeTheFirstCheck(t, c.sent, c.lost)
				n.cloudHas(t, teams{"y": c.want, "z": c.want})
				n.recorded(t, c.recorded)
			})
		})
	}
}

// beforeTheFirstCheck returns a node with a transaction from before its first check of teams, a table that has lost the transaction's
// effect.
func beforeTheFirstCheck(t *testing.T, sent, lost bool) *feedNode {
	t.Helper()
	c, n := opened(t, nil)
	away := false
	c.refuse(intent.Throttled, func(op, table string) bool { return away || op == "table" && table == "teams" })
	c.loseAnswers(func(op, _ string) bool {
		away = away || op == "transact"
		return away
	})
	stop := n.run(t)
	letPass(time.Minute)
	backup := c.backUp(t)
	letPass(time.Second)
	if sent {
		n.pair(t, "y", "z")
		letPass(3 * time.Second)
	}
	stop()
	if !sent {
		n.pair(t, "y", "z")
	}
	n.waits(t, 2)
	snapshot := n.snapshot(t)
	c.heal()
	if lost {
		n = n.again(t)
		n.drained(t)
	}
	n.cloudHas(t, teams{"y": 1})
	letPass(time.Minute)
	c.restoreTo(t, backup)
	n = n.backTo(t, snapshot)
	n.drained(t)
	return n
}

// A table that was missing for a while, which the node has said, and that was created again needs no restart: that is what the node asked for. It
// does not matter who has noticed that the table was missing, nor whether the node was restarted meanwhile.
func TestMissingTableMadeAnewNeedsNoRestart(t *testing.T) {
	for name, tt := range map[string]struct{ writes, restarts bool }{
		"a write found it missing": {true, false}, "a check found it missing": {false, false}, "it was restarted meanwhile": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, n := opened(t, scanTeams(20*time.Second))
				stop := n.run(t)
				n.put(t, "teams", team("old", 1))
				letPass(time.Minute)
				n.cloudHas(t, teams{"old": 1})
				c.refuse(intent.NoTable, func(_, table string) bool { return table == "teams" })
				want := teams{"old": 1}
				if tt.writes {
					n.put(t, "teams", team("new", 2))
					want["new"] = 2
				}
				letPass(7 * time.Minute)
				if tt.restarts {
					stop()
					n = n.again(t)
					stop = n.run(t)
					letPass(2 * time.Minute)
				}
				c.makeAnew(t)
				c.heal()
				letPass(11 * time.Minute)
				n.waits(t, 0)
				n.cloudHas(t, want)
				n.wantAlarms(t, "after it was created again")
				stop()
			})
		})
	}
}
