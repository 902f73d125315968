package replica_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
)

// idleItem returns a node that has created an item with status idle and then stopped: what it writes waits.
func idleItem(t *testing.T) (*simcloud.Cloud, *node) {
	t.Helper()
	c := newCloud()
	n := newNode(t, c, "a").run()
	n.put("data", Item("p", "s", "status", "idle"))
	n.drained()
	n.stop()
	return c, n
}

// A write computed from an item with a rejected write on it is rejected with it, in one record; an independent one is sent.
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
	image, err := n2.conn.cloud.Get("data", key("p", "s"))
	if err != nil || !image["computed"].IsZero() {
		t.Errorf("the cloud has %v, %v", image, err)
	}
	for _, seq := range []uint64{rejected, tail} {
		if p, err := n2.r.ProofOf(t.Context(), seq); err != nil || p != replica.ProofRefused {
			t.Errorf("Proved of %d: %v, %v", seq, p, err)
		}
	}
}

// A request without an answer ends at its deadline, and the write is sent again.
func TestRequestWithoutAnAnswerEnds(t *testing.T) {
	c := newCloud()
	n := newNode(t, c, "a", func(cfg *replica.Config) { cfg.Deadline = 50 * time.Millisecond })
	never := make(chan struct{})
	n.conn.setFault(func(_ int, calls []intent.Call) (f fault) {
		sent := 0
		for _, had := range n.conn.calls {
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

// A quarantined batch is at the head of the outbox when the node restarts: what follows it in the queue is sent.
func TestPoisonAtTheHead(t *testing.T) {
	c := newCloud()
	oneWorker := func(cfg *replica.Config) { cfg.Workers = 1 }
	n := newNode(t, c, "a", oneWorker)
	poison := func(_ int, calls []intent.Call) fault {
		if calls[0].Item["sk"].Str() == "bad" {
			return fault{before: &intent.Error{Class: intent.TooLarge, Err: errors.New("a test")}}
		}
		return fault{}
	}
	n.conn.setFault(poison)
	n.put("data", Item("p", "bad"))
	n.run()
	n.until("it is quarantined", func() bool { return n.status().Conflicts.Quarantined == 1 })
	n.stop()
	n.put("data", Item("p", "good"))
	n2 := nodeOn(t, n.store, c, oneWorker)
	n2.conn.setFault(poison)
	n2.run()
	n2.until("the other is there", func() bool { return len(c.Items("data")) == 1 })
}

// Without faults, sending costs at most a fifth more write units than the application's own calls would, plus three for each create's
// proof; measured over 70 % updates, 20 % creates and 10 % deletes of items of 500 bytes. Deletes of the node's own items are the
// expensive case: they leave tombstones.
func TestWriteUnits(t *testing.T) {
	const writes = 1000
	n := newNode(t, newCloud(), "a")
	text := strings.Repeat("x", 470)
	kind := func(i int) int { return i * 37 % 100 }
	n.update(func(tx *store.Tx) error {
		for i := range writes {
			if k := kind(i); k >= 70 && k < 90 {
				continue
			}
			if _, err := tx.Put(store.PutItem{Table: "data", Item: Item(fmt.Sprint("p", i), "s", "text", text)}); err != nil {
				return err
			}
		}
		return nil
	})
	n.run()
	n.drained()
	before := n.conn.cloud.Units()
	n.update(func(tx *store.Tx) (err error) {
		for i := range writes {
			switch k, key := kind(i), key(fmt.Sprint("p", i), "s"); {
			case k < 70:
				u := store.UpdateItem{Table: "data", Key: key, Update: "SET n = :n"}
				u.Values = attr.Item{":n": attr.Int(int64(i))}
				_, err = tx.Update(u)
			case k < 90:
				_, err = tx.Put(store.PutItem{Table: "data", Item: Item(fmt.Sprint("p", i), "s", "text", text), Condition: "attribute_not_exists(pk)"})
			default:
				_, err = tx.Delete(store.DeleteItem{Table: "data", Key: key})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	n.drained()
	n.same("data")
	ratio := (n.conn.cloud.Units() - before) / writes
	if proofs := 3 * 0.2; ratio > 1.2+proofs || ratio < 1+proofs {
		t.Errorf("%.3f write units for each write", ratio)
	}
	t.Logf("%.3f write units for each write", ratio)
}

// A write that an operator releases under its own number is judged by what becomes of it, not by the record of its quarantine.
func TestProvedAfterLetGo(t *testing.T) {
	c := newCloud()
	n := newNode(t, c, "a")
	n.put("data", Item("p", "s", "n", 1))
	n.run()
	n.drained()
	n.conn.setFault(func(i int, calls []intent.Call) fault {
		if i == 1 { // sent and not answered: it keeps its number
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
	if p, err := n.r.ProofOf(t.Context(), seq); err != nil || p != replica.ProofRefused {
		t.Errorf("quarantined: %v, %v", p, err)
	}
	n.conn.setFault(nil)
	if _, err := n.r.Conflicts().Retry(t.Context(), n.conflicts(conflict.StateOpen)[0].ID); err != nil {
		t.Fatal(err)
	}
	n.drained()
	if p, err := n.r.ProofOf(t.Context(), seq); err != nil || p != replica.ProofApplied {
		t.Errorf("after it was released and applied: %v, %v", p, err)
	}
	if err := n.r.Wait(t.Context(), seq); err != nil {
		t.Errorf("Wait: %v", err)
	}
}

// If there is no room for the writes of a merge handler, the conflict is recorded for a person and leaves the outbox.
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
	n.conn.setFault(func(int, []intent.Call) fault { return fault{before: offline()} })
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
	n.conn.setFault(func(_ int, calls []intent.Call) fault {
		if calls[0].Table == "other" || calls[0].Key["pk"].Str() == "gone" {
			return fault{before: &intent.Error{Class: intent.Throttled, Err: errors.New("a test")}}
		}
		return fault{}
	})
	n.until("it is recorded", func() bool { return len(n.conflicts(conflict.StateOpen)) == 1 })
}

// Wait returns at once for a quarantined write, with the conflict.
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

// Confirmed returns what the cloud has of an item, without what waits to be sent, also after a restart.
func TestConfirmed(t *testing.T) {
	c, n := idleItem(t)
	confirmed := func(n *node, table string, k attr.Item) (it attr.Item, err error) {
		err = n.store.View(t.Context(), func(tx *store.Tx) (err error) {
			it, err = n.r.ConfirmedItem(tx, table, k)
			return err
		})
		return it, err
	}
	want := func(when string, n *node, k attr.Item, status string) {
		t.Helper()
		if it, err := confirmed(n, "data", k); err != nil || it["status"].Str() != status {
			t.Errorf("%s the cloud has %v, %v", when, it, err)
		}
	}
	k, other := key("p", "s"), key("p", "other")
	want("before", n, k, "idle")
	n.put("data", Item("p", "s", "status", "mine"))
	n.put("data", Item("p", "other", "status", "mine"))
	want("while it waits", n, k, "idle")
	want("while it waits", n, other, "")
	n2 := nodeOn(t, n.store, c)
	want("opened again", n2, k, "idle")
	n2.run().drained()
	want("when it is there", n2, k, "mine")
	want("when it is there", n2, other, "mine")
	if _, err := confirmed(n2, "nowhere", k); err == nil {
		t.Error("Confirmed accepts an unknown table")
	}
}
