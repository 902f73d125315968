package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
)

// A transaction that wrote to a table which is gone here goes back to a restored cloud without it: the other tables have lost
// what they have lost.
func TestRestoredWithoutATableThatIsGoneHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, dir := newShelf(t), t.TempDir()
		passing := syncSpec()
		passing.Name, passing.Policy = "passing", store.PolicyIntent
		c.define(t, passing)
		n := openNode(t, c, dir, nil)
		if err := n.st.Define(t.Context(), passing); err != nil {
			t.Fatal(err)
		}
		for _, items := range [][]store.WriteItem{
			{
				{Put: &store.PutItem{Table: "passing", Item: team("first", 1)}}, {Put: &store.PutItem{Table: "teams", Item: team("x", 1)}},
				{Check: &store.ConditionCheck{Table: "teams", Key: teamKey("none"), Condition: "attribute_not_exists(id)"}},
			},
			{{Put: &store.PutItem{Table: "teams", Item: team("y", 1)}}, {Put: &store.PutItem{Table: "passing", Item: team("last", 1)}}},
			{{Put: &store.PutItem{Table: "passing", Item: team("alone", 1)}}},
		} {
			err := n.st.Update(t.Context(), func(tx *store.Tx) error { return tx.TransactWrite(store.TransactWrite{Items: items}) })
			if err != nil {
				t.Fatal(err)
			}
		}
		point := time.Now()
		letPass(time.Second)
		n.drained(t)
		if err := n.st.DropTable(t.Context(), "passing"); err != nil {
			t.Fatal(err)
		}
		n.close(t)
		n = openNode(t, c, dir, nil)
		c.restore(t, "teams", nil, "teams-2", point)
		c.set(func() { c.state["passing"] = TableState{ID: "passing-2", RestoredAt: point} })
		n.drained(t)
		if c.n(t, "x") != 1 || c.n(t, "y") != 1 {
			t.Errorf("x is %d, y is %d, recorded are %v", c.n(t, "x"), c.n(t, "y"), n.lostConflicts(t))
		}
	})
}
