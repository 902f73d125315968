package replica

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// usable looks for why a node is to do nothing under locks; code empty: it may.
func (n *feedNode) usable(t testing.TB, when, code, do string) {
	t.Helper()
	err := n.Usable()
	e, _ := errors.AsType[*fault.Error](err)
	switch {
	case code == "" && err == nil:
	case code == "" || e == nil || e.Code != code || e.Kind != fault.Unavailable || !strings.Contains(e.Message, do):
		t.Errorf("%s: usable is %v, want %q", when, err, code)
	}
}

// A node that would refuse the state of its own matches for want of room leaves them to others, and takes them again when
// there has been room for a while.
func TestUsableWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, func(c *Config) { c.Budget.Entries = 10 })
		n.online(t)
		look := func() { n.doChores(t, n.clock.Now()) }
		fill := func(id string) { n.put(t, "teams", team(id, 1)) }
		for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			fill(id)
		}
		look()
		n.usable(t, "at 80 %", "", "")
		fill("i")
		look()
		err := n.st.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "states", Item: attr.Item{"match": attr.S("7"), "_f": attr.Int(1)}})
			return err
		})
		if refused, ok := errors.AsType[*flow.RefusedError](err); !ok || refused.State.Level != flow.LevelRebuildable {
			t.Errorf("the state at 90 %%: %v", err)
		}
		n.usable(t, "at 90 %", "no_room", "touchline sync status")
		for range 3 { // what waits hovers about the limit
			n.withWaiting(t, "teams", teamKey("i"), func(w *outbox.Work, entries []*intent.Entry) error { return w.DropAll(entries) })
			look()
			letPass(flow.UsableAfter / 2)
			n.usable(t, "soon after there was room", "no_room", "")
			fill("i")
			look()
			n.usable(t, "at 90 % again", "no_room", "")
		}
		n.drained(t)
		look()
		n.usable(t, "soon after everything was sent", "no_room", "")
		letPass(flow.UsableAfter)
		n.usable(t, "with room for a while", "", "")
		n.levels.Announce(flow.BudgetState{Level: flow.LevelReadOnly, Used: 0.99, Which: "disk"})
		n.usable(t, "on a full disk", "no_room", "free some disk space")
	})
}

// A node that may not write a table with a lock leaves the work under its locks to others until it may; other tables do not matter.
func TestUsableWithDeniedTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		denied := "teams"
		c.refuse(intent.Denied, func(op, table string) bool { return op != "read" && op != "get" && table == denied })
		n.put(t, "teams", team("x", 1))
		letPass(10 * time.Second)
		if len(n.paces.StoppedTables()) != 1 {
			t.Error("the table is not stopped")
		}
		n.usable(t, "a table without a lock", "", "")
		c.set(func() { denied = "states" })
		n.put(t, "states", attr.Item{"match": attr.S("7"), "_f": attr.Int(1)})
		for range 60 { // also where it is due to be tried
			letPass(10 * time.Second)
			n.usable(t, "a table with a lock", "table_denied", "docs/cloud.md has the policy")
		}
		c.heal()
		letPass(6 * time.Minute)
		if n.waitingNow(t) > 0 {
			t.Error("something waits")
		}
		n.usable(t, "healed", "", "")
		n.paces.Halt("states", intent.NoTable.String(), "a test", n.clock.Now())
		n.usable(t, "a table that nobody has", "", "")
		n.paces.Halt("states", intent.Denied.String(), "a test", n.clock.Now())
		n.usable(t, "denied again", "table_denied", "docs/cloud.md has the policy")
		letPass(flow.UsableAfter + time.Minute) // nothing waits for it: nobody but the next holder tries
		n.usable(t, "a stop that nobody tries", "", "")
	})
}
