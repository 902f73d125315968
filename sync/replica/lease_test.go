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
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// guarded are the rows that the lock match:7 guards.
var guarded = []Rows{{"states", attr.Item{"match": attr.S("7")}}}

func state(fence, score int64) attr.Item {
	return attr.Item{"match": attr.S("7"), "_f": attr.Int(fence), "score": attr.Int(score)}
}

// Schedule 22: what a fenced-off holder has queued does not come back after the lock is taken again, and work continues from what the
// cloud has.
func TestTookLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		letPass(time.Second)
		c.set(func() { c.fail = away })
		key := attr.Item{"match": attr.S("7")}
		n.put(t, "states", state(5, 1)) // a first image, written while cut off
		letPass(time.Minute)
		if err := n.TookLease(t.Context(), "match:7", 9, guarded); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("the cloud being away: %v", err)
		}
		c.foreign(t, "states", nil, state(8, 44))
		c.set(func() {
			c.fail = func(op, table string) error {
				if table == "states" && op != "get" { // the workers send nothing
					return &intent.Error{Class: intent.Throttled, Err: errors.New("slow down")}
				}
				return nil
			}
		})
		letPass(time.Minute)
		if err := n.TookLease(t.Context(), "match:7", 9, guarded); err != nil {
			t.Fatal(err)
		}
		if got := n.row(t, "states", key); !attr.EqualItems(got, state(8, 44)) {
			t.Errorf("work begins from %v", got)
		}
		records := n.conflicts(t)
		if len(records) != 1 || records[0].Kind != conflict.KindFencedOff {
			t.Errorf("records %v", records)
		}
		if len(records) > 0 && !strings.HasPrefix(records[0].Text, "set aside by this node") { // otherwise the cloud refused it
			t.Errorf("the record says %q", records[0].Text)
		}
		c.set(func() { c.fail = nil })
		letPass(10 * time.Minute)
		if it, _ := c.item("states", key); !attr.EqualItems(it, state(8, 44)) {
			t.Errorf("the cloud has %v", it)
		}
		if got := n.waitingNow(t); got != 0 {
			t.Errorf("%d writes wait", got)
		}
	})
}

// A state that follows an earlier queued one is set aside with it, and recorded once.
func TestTookLeaseOfTwoStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		letPass(time.Second)
		c.set(func() {
			c.fail = func(op, table string) error {
				if table == "states" && op != "get" {
					return &intent.Error{Class: intent.Throttled, Err: errors.New("slow down")}
				}
				return nil
			}
		})
		n.put(t, "states", state(5, 1))
		letPass(time.Second) // it was sent, so nothing is folded into it
		n.put(t, "states", state(5, 2))
		if got := n.waitingNow(t); got != 2 {
			t.Fatalf("%d writes wait", got)
		}
		c.foreign(t, "states", nil, state(8, 44))
		if err := n.TookLease(t.Context(), "match:7", 9, guarded); err != nil {
			t.Fatal(err)
		}
		records := map[uint64]int{}
		for _, c := range n.conflicts(t) {
			for _, e := range c.Entries() {
				records[e.Seq]++
			}
		}
		for seq, times := range records {
			if times != 1 {
				t.Errorf("%d is in %d records", seq, times)
			}
		}
		if len(records) != 2 {
			t.Errorf("%d writes are recorded", len(records))
		}
		if got := n.waitingNow(t); got != 0 {
			t.Errorf("%d writes wait", got)
		}
	})
}

// Rows of a table without a lock are read too. If the cloud refuses them, work begins with what is here; fenced rows must be read.
func TestTookLeaseOfOtherRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		other := Rows{"teams", attr.Item{"id": attr.S("1")}}
		c.foreign(t, "teams", nil, attr.Item{"id": attr.S("1"), "n": attr.Int(1)})
		n.online(t)
		denied := ""
		c.set(func() {
			c.fail = func(_, table string) error {
				if table == denied {
					return &intent.Error{Class: intent.Denied, Err: errors.New("not authorized")}
				}
				return nil
			}
		})
		took := func(table string, ok bool) {
			t.Helper()
			c.set(func() { denied = table })
			if err := n.TookLease(t.Context(), "match:7", 6, append(guarded, other)); (err == nil) != ok {
				t.Errorf("%s denied: %v", table, err)
			}
		}
		took("states", false)
		took("teams", true)
		took("", true)
		if n.row(t, "teams", other.Key) == nil {
			t.Error("the row was not read")
		}
	})
}

// The match has ended and its row is gone: it stays gone.
func TestTookLeaseOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		c.foreign(t, "states", nil, state(5, 1))
		n.online(t)
		if err := n.TookLease(t.Context(), "match:7", 6, guarded); err != nil {
			t.Fatal(err)
		}
		key := attr.Item{"match": attr.S("7")}
		if n.row(t, "states", key) == nil {
			t.Fatal("the state was not read")
		}
		c.foreign(t, "states", key, nil)
		if err := n.TookLease(t.Context(), "match:7", 7, guarded); err != nil {
			t.Fatal(err)
		}
		if got := n.row(t, "states", key); got != nil {
			t.Errorf("the node still has %v", got)
		}
	})
}

// usable checks the reason why a node may not work under locks; an empty code means that it may.
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

// A node that would refuse the state of its own matches for lack of room leaves them to others, and takes them again once there has been
// room for a while.
func TestUsableWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n := opened(t, func(c *Config) { c.Budget.Entries = 10 })
		n.online(t)
		measure := func() { n.doChores(t, n.clock.Now()) }
		fill := func(id string) { n.put(t, "teams", team(id, 1)) }
		for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			fill(id)
		}
		measure()
		n.usable(t, "at 80 %", "", "")
		fill("i")
		measure()
		err := n.st.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "states", Item: attr.Item{"match": attr.S("7"), "_f": attr.Int(1)}})
			return err
		})
		if refused, ok := errors.AsType[*flow.RefusedError](err); !ok || refused.State.Level != flow.LevelRebuildable {
			t.Errorf("the state at 90 %%: %v", err)
		}
		n.usable(t, "at 90 %", "no_room", "touchline sync status")
		for range 3 { // the queue hovers around the limit
			n.withWaiting(t, "teams", teamKey("i"), func(w *outbox.Work, entries []*intent.Entry) error { return w.DropAll(entries) })
			measure()
			letPass(flow.UsableAfter / 2)
			n.usable(t, "soon after there was room", "no_room", "")
			fill("i")
			measure()
			n.usable(t, "at 90 % again", "no_room", "")
		}
		n.drained(t)
		measure()
		n.usable(t, "soon after everything was sent", "no_room", "")
		letPass(flow.UsableAfter)
		n.usable(t, "with room for a while", "", "")
		n.levels.Announce(flow.BudgetState{Level: flow.LevelReadOnly, Used: 0.99, Which: "disk"})
		n.usable(t, "on a full disk", "no_room", "free some disk space")
	})
}

// A node that may not write a table with a lock leaves the work under its locks to others until it may; tables without a lock do not
// matter.
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
		for range 60 { // including when the table is due for a try
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
		n.usable(t, "a table that does not exist", "", "")
		n.paces.Halt("states", intent.Denied.String(), "a test", n.clock.Now())
		n.usable(t, "denied again", "table_denied", "docs/cloud.md has the policy")
		letPass(flow.UsableAfter + time.Minute) // nothing waits for it, so only the next holder tries
		n.usable(t, "a stop that nobody tries", "", "")
	})
}

// A node that cannot reach its cloud does not begin work under a lock: it cannot read what the lock guards.
func TestTookLeaseOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		c.foreign(t, "states", nil, state(5, 1))
		err := n.TookLease(t.Context(), "match:7", 6, guarded)
		if e, _ := errors.AsType[*fault.Error](err); e == nil || e.Code != "cloud_away" {
			t.Errorf("not connected yet: %v", err)
		}
		n.online(t)
		if err := n.TookLease(t.Context(), "match:7", 6, guarded); err != nil {
			t.Errorf("connected: %v", err)
		}
	})
}
