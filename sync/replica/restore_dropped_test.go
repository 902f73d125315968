package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/remote"
)

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
