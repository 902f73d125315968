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

// What is withdrawn of a table that was made anew, and is absent there because of that, is withdrawn when all have sent again
// what they know: it does not wait for ever, and while it waits the status says why.
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
			for i := range st.Lanes {
				for _, p := range st.Lanes[i].Parked {
					if p.Why == "" {
						t.Errorf("%s waits until %v, and does not say why", p.WriteID, p.Until)
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
			t.Error("it is back")
		}
	})
}

// A table that was made anew before a node could first look at it is known by what the node has had acknowledged before that: what
// it lacks was not deleted. One that is as old as what it has acknowledged is the one that did.
func TestMadeAnewBeforeTheFirstLook(t *testing.T) {
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
				t.Fatalf("anew: %t, and the table is stopped: %t", anew, stopped)
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

// What a lane has sent and holds while the way is gone stays sent when the outbox is read anew, because of another table: its
// own effect is no sign of another copy.
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
		n.lookAtTables(t)
		c.heal()
		letPass(10 * time.Minute)
		stop()
		n.waits(t, 0)
		if got := log.String(); strings.Contains(got, "cannot have written") {
			t.Errorf("the log: %s", got)
		}
	})
}

// A transaction that wrote to a table which is gone here goes back to a restored cloud without it: the other tables have lost
// what they have lost.
func TestRestoredWithoutATableThatIsGoneHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		passing := syncSpec()
		passing.Name, passing.Policy = "passing", store.PolicyIntent
		c.define(t, passing)
		if err := n.st.Define(t.Context(), passing); err != nil {
			t.Fatal(err)
		}
		inPassing := func(id string) store.WriteItem {
			return store.WriteItem{Put: &store.PutItem{Table: "passing", Item: team(id, 1)}}
		}
		n.together(t, inPassing("first"), newTeam("x"),
			store.WriteItem{Check: &store.ConditionCheck{Table: "teams", Key: teamKey("none"), Condition: "attribute_not_exists(id)"}})
		n.together(t, newTeam("y"), inPassing("last"))
		n.together(t, inPassing("alone"))
		backup := c.backUp(t)
		letPass(time.Second)
		n.drained(t)
		if err := n.st.DropTable(t.Context(), "passing"); err != nil {
			t.Fatal(err)
		}
		n = n.again(t)
		c.restoreTo(t, backup)
		c.set(func() { c.state["passing"] = remote.TableState{ID: "passing-2", RestoredAt: backup.at} })
		n.drained(t)
		n.cloudHas(t, teams{"x": 1, "y": 1})
	})
}

// Of a table that a node first looks at when it has sent to it, or was put back to a snapshot from before that, and finds
// restored, nobody can tell whether that was before what was sent or behind it. A transaction that waits is not proved by its
// row, which lies in another table.
func TestPutBackToBeforeTheFirstLook(t *testing.T) {
	for _, c := range []struct {
		name     string
		sent     bool // before the snapshot is taken, and not answered
		lost     bool // the machine goes on from there, and is put back
		want     int64
		recorded int
	}{
		// Nobody can tell any more what became of it there: it is recorded, and not sent over what was decided.
		{name: "sent in the time that was lost", lost: true, recorded: 1},
		{name: "not answered, and sent again in the time that was lost", sent: true, lost: true, recorded: 1},
		{name: "not answered", sent: true, want: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := beforeTheFirstLook(t, c.sent, c.lost)
				n.cloudHas(t, teams{"y": c.want, "z": c.want})
				n.recorded(t, c.recorded)
			})
		})
	}
}

// beforeTheFirstLook is a node with a transaction from before its first look at the teams, which have lost its effect.
func beforeTheFirstLook(t *testing.T, sent, lost bool) *feedNode {
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
