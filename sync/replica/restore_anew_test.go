package replica

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

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
