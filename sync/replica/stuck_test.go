package replica

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// An answer that cannot be stored is shown, stops nobody else, and is stored when that has become possible: not only when the
// node starts anew.
func TestAnAnswerThatCannotBeKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, func(c *Config) { c.Lanes = 1 })
		letPass(time.Second)
		c.refuse(intent.TooLarge, func(op, table string) bool { return table == "prefs" && op != "get" })
		sums := func(raw []byte) {
			if err := n.st.Update(t.Context(), func(tx *store.Tx) error { return tx.Side(conflict.SideConflicts).Set([]byte("t"), raw) }); err != nil {
				t.Fatal(err)
			}
		}
		sums([]byte("damaged"))
		n.put(t, "prefs", team("x", 1)) // it becomes a record, which cannot be made
		letPass(time.Minute)
		n.put(t, "teams", team("y", 1))
		letPass(time.Minute)
		if it := c.team(t, "y"); it == nil {
			t.Error("what is behind it has to wait")
		}
		parked, unkept := n.workers[0].parkedUnits(), n.workers[0].stuckUnits()
		if unkept != 1 || len(parked) == 0 || !strings.Contains(parked[0].Why, "cannot be kept") {
			t.Errorf("%d unkept, parked %+v", unkept, parked)
		}
		asked := len(c.requests())
		sums([]byte("{}"))
		letPass(20 * time.Minute)
		if st := n.status(t); st.Unkept != 0 || st.Conflicts.Quarantined != 1 {
			t.Errorf("%d unkept, %+v", st.Unkept, st.Conflicts)
		}
		for _, what := range c.requests()[asked:] {
			if strings.HasSuffix(what, " prefs") && !strings.HasPrefix(what, "get") && !strings.HasPrefix(what, "table") {
				t.Errorf("asked again: %s", what)
			}
		}
	})
}
