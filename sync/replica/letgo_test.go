package replica_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
)

// What an operator lets go on under its own number is proved by what becomes of it, not by the record of what it was.
func TestProvedAfterLetGo(t *testing.T) {
	c := newCloud()
	n := newNode(t, c, "a")
	n.put("data", Item("p", "s", "n", 1))
	n.run()
	n.drained()
	n.wire.setFault(func(i int, calls []intent.Call) fault {
		if i == 1 { // sent, and not answered: so it goes on under its own number
			return fault{before: unknown()}
		}
		return poison(calls, "bad")
	})
	seq := n.update(func(tx *store.Tx) error {
		u := store.UpdateItem{Table: "data", Key: key("p", "s"), Update: "SET bad = :v"}
		u.Values = attr.Item{":v": attr.S("poison")}
		_, err := tx.Update(u)
		return err
	})
	n.until("it is quarantined", func() bool { return n.status().Conflicts.Quarantined == 1 })
	if p, err := n.r.Proved(t.Context(), seq); err != nil || p != replica.ProofRefused {
		t.Errorf("quarantined: %v, %v", p, err)
	}
	n.wire.setFault(nil)
	if _, err := n.r.Conflicts().Retry(t.Context(), n.conflicts(conflict.StateOpen)[0].ID); err != nil {
		t.Fatal(err)
	}
	n.drained()
	if p, err := n.r.Proved(t.Context(), seq); err != nil || p != replica.ProofApplied {
		t.Errorf("applied after it was let go: %v, %v", p, err)
	}
	if err := n.r.Wait(t.Context(), seq); err != nil {
		t.Errorf("Wait: %v", err)
	}
}

// Where no room is left for what a merge handler writes, the conflict is recorded for a person and leaves the outbox.
func TestMergeWithoutRoom(t *testing.T) {
	c := newCloud()
	n := newNode(t, c, "a", func(c *replica.Config) {
		c.Budget.Entries = 100
		c.Merge = map[string]conflict.MergeFunc{"data": func(m conflict.MergeCase) ([]store.WriteItem, bool) {
			return []store.WriteItem{{Put: &store.PutItem{Table: "other", Item: Item("merged", "s")}}}, true
		}}
	})
	n.put("data", Item("p", "s", "status", "idle"))
	for i := range 4 {
		n.put("data", Item("gone", fmt.Sprint(i)))
	}
	n.run()
	n.drained()
	n.wire.setFault(func(int, []intent.Call) fault { return fault{before: offline()} })
	image := maps.Clone(c.Item("data", key("p", "s")))
	image["status"] = attr.S("taken")
	if err := (simcloud.Foreign{Cloud: c, Name: "console"}).Put("data", image); err != nil {
		t.Fatal(err)
	}
	n.update(func(tx *store.Tx) error { return ifIdle(tx, key("p", "s")) })
	for i := 0; n.status().Budget.Level < flow.LevelCorrections; i++ {
		n.put("other", Item(fmt.Sprint(i), "s"))
	}
	for i := range 3 {
		n.update(func(tx *store.Tx) error {
			_, err := tx.Delete(store.DeleteItem{Table: "data", Key: key("gone", fmt.Sprint(i))})
			return err
		})
	}
	n.wire.setFault(func(_ int, calls []intent.Call) fault {
		if calls[0].Table == "other" || calls[0].Key["pk"].Str() == "gone" {
			return fault{before: &intent.Error{Class: intent.Throttled, Err: errors.New("a test")}}
		}
		return fault{}
	})
	n.until("it is recorded", func() bool { return len(n.conflicts(conflict.StateOpen)) == 1 })
}

// Who waits for a write that is quarantined is told so at once.
func TestWaitForQuarantined(t *testing.T) {
	n, seqs := poisoned(t)
	for _, seq := range seqs {
		began := time.Now()
		var settled *replica.SettledError
		if err := n.r.Wait(soon(t), seq); !errors.As(err, &settled) || settled.Conflict == 0 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	}
}
