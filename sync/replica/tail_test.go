package replica_test

import (
	"errors"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
)

// idleItem is a node that has made an item whose status is idle, and runs no more: what it writes waits.
func idleItem(t *testing.T) (*simcloud.Cloud, *node) {
	t.Helper()
	c := newCloud()
	n := newNode(t, c, "a").run()
	n.put("data", Item("p", "s", "status", "idle"))
	n.drained()
	n.stop()
	return c, n
}

// What was computed from an item with a rejected write on it goes with that one, into one record, and what was not goes on.
func TestTailGoesWithTheRejected(t *testing.T) {
	c, n := idleItem(t)
	write := func(u store.UpdateItem) uint64 {
		u.Table, u.Key = "data", key("p", "s")
		return n.update(func(tx *store.Tx) error {
			_, err := tx.Get(u.Table, u.Key)
			if err == nil {
				_, err = tx.Update(u)
			}
			return err
		})
	}
	one := attr.Item{":one": attr.Int(1)}
	rejected := write(store.UpdateItem{Update: "SET #s = :mine", Condition: "#s = :idle", Params: expr.Params{
		Names: map[string]string{"#s": "status"}, Values: attr.Item{":mine": attr.S("mine"), ":idle": attr.S("idle")},
	}})
	tail := write(store.UpdateItem{Update: "SET computed = if_not_exists(unheard, :one)", Params: expr.Params{Values: one}})
	write(store.UpdateItem{Update: "ADD counted :one", Params: expr.Params{Values: one}})
	if _, err := c.Write("foreign", intent.Call{
		Op: store.OpUpdate, Table: "data", Key: key("p", "s"), Update: "SET #s = :theirs",
		Params: expr.Params{Names: map[string]string{"#s": "status"}, Values: attr.Item{":theirs": attr.S("theirs")}},
	}); err != nil {
		t.Fatal(err)
	}
	n2 := nodeOn(t, n.store, c).run()
	n2.drained()
	got := n2.get("data", key("p", "s"))
	if v, _ := got["counted"].Int(); got["status"].Str() != "theirs" || !got["computed"].IsZero() || v != 1 {
		t.Errorf("readers see %v", got)
	}
	image, err := n2.wire.cloud.Get("data", key("p", "s"))
	if err != nil || !image["computed"].IsZero() {
		t.Errorf("the cloud has %v, %v", image, err)
	}
	for _, seq := range []uint64{rejected, tail} {
		if p, err := n2.r.Proved(t.Context(), seq); err != nil || p != replica.ProofRefused {
			t.Errorf("Proved of %d: %v, %v", seq, p, err)
		}
	}
}

// A request that nobody answers ends at its deadline, and the write is sent again.
func TestRequestWithoutAnAnswerEnds(t *testing.T) {
	c := newCloud()
	n := newNode(t, c, "a", func(cfg *replica.Config) { cfg.Deadline = 50 * time.Millisecond })
	never := make(chan struct{})
	n.wire.setFault(func(_ int, calls []intent.Call) (f fault) {
		sent := 0
		for _, had := range n.wire.calls {
			if had.Table == "data" {
				sent++
			}
		}
		if calls[0].Table == "data" && sent == 0 {
			f.wait = never
		}
		return f
	})
	n.run()
	n.put("data", Item("p", "s"))
	n.drained()
	if got := len(c.Items("data")); got != 1 {
		t.Errorf("%d items in the cloud", got)
	}
}

// What is quarantined is at the head of the outbox when the node starts anew: what stands behind it in the lane is sent.
func TestPoisonAtTheHead(t *testing.T) {
	c := newCloud()
	oneLane := func(cfg *replica.Config) { cfg.Lanes = 1 }
	n := newNode(t, c, "a", oneLane)
	poison := func(_ int, calls []intent.Call) fault {
		if calls[0].Item["sk"].Str() == "bad" {
			return fault{before: &intent.Error{Class: intent.TooLarge, Err: errors.New("a test")}}
		}
		return fault{}
	}
	n.wire.setFault(poison)
	n.put("data", Item("p", "bad"))
	n.run()
	n.until("it is quarantined", func() bool { return n.status().Conflicts.Quarantined == 1 })
	n.stop()
	n.put("data", Item("p", "good"))
	n2 := nodeOn(t, n.store, c, oneLane)
	n2.wire.setFault(poison)
	n2.run()
	n2.until("the other is there", func() bool { return len(c.Items("data")) == 1 })
}
