package replica_test

import (
	"errors"
	"testing"

	kinds "github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/flow"
)

// What the budgets have no room for is refused, and taken again when there is room.
func TestBudget(t *testing.T) {
	n := newNode(t, newCloud(), "a", func(c *replica.Config) { c.Budget.Entries = 100 })
	put := func(table string, it attr.Item) error {
		return n.store.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: table, Item: it})
			return err
		})
	}
	remove := func(k attr.Item) error {
		return n.store.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "data", Key: k})
			return err
		})
	}
	i := 0
	fillTo := func(count int64) {
		for n.status().Waiting < count {
			if err := put("data", Item("p", string(rune('a'+i%26))+string(rune('a'+i/26)), "v", "long")); err != nil {
				t.Fatalf("at %d of %d: %v", n.status().Waiting, count, err)
			}
			i++
		}
	}
	fillTo(90)
	if err := put("state", Item("m", "now")); !overBudget(err) {
		t.Errorf("state at 90: %v", err)
	}
	fillTo(95)
	if err := put("data", Item("p", "new")); !overBudget(err) {
		t.Errorf("a new item at 95: %v", err)
	}
	for _, sk := range []string{"aa", "ba", "ca"} {
		if err := remove(key("p", sk)); err != nil {
			t.Errorf("a delete at 95: %v", err)
		}
	}
	if err := remove(key("p", "da")); !overBudget(err) {
		t.Errorf("a delete at 98: %v", err)
	}
	if err := put("screen", Item("p", "s")); err != nil {
		t.Errorf("what is not sent: %v", err)
	}
	st := n.status()
	if st.Budget.Level != flow.LevelReadOnly || st.Budget.Refused != 3 || st.Budget.Which != "entries" {
		t.Errorf("the status says %+v", st.Budget)
	}
	n.run()
	n.drained()
	if err := put("data", Item("p", "new")); err != nil {
		t.Errorf("with room again: %v", err)
	}
	n.drained()
	n.same("data")
}

func overBudget(err error) bool {
	var r *flow.RefusedError
	return errors.As(err, &r) && r.RetryAfter() > 0 && kinds.Is(err, kinds.Unavailable)
}
