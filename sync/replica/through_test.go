package replica_test

import (
	"context"
	"errors"
	"testing"
	"time"

	kinds "github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
)

// taking is a write that takes a unique name for somebody.
func taking(name, who string) store.WriteItem {
	return store.WriteItem{Put: &store.PutItem{
		Table: "names", Item: item(name, "s", "owner", who), Condition: "attribute_not_exists(pk)",
	}}
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), hang.Limit(time.Minute))
	t.Cleanup(cancel)
	return ctx
}

func TestThrough(t *testing.T) {
	c := newCloud()
	n := newNode(t, c, "a").run()
	n.until("the cloud is there", func() bool { return n.status().Link.Up })
	done, err := n.r.Through(soon(t), taking("red", "ann"), "ann")
	if err != nil || done.Proof != replica.ProofApplied || done.Item["owner"].Str() != "ann" || done.Seq == 0 {
		t.Fatalf("taken: %+v, %v", done, err)
	}
	if got := n.get("names", key("red", "s")); got["owner"].Str() != "ann" {
		t.Errorf("readers see %v", got)
	}
	again, err := n.r.Through(soon(t), taking("red", "ann"), "ann")
	if err != nil || again.Seq != done.Seq || again.Proof != replica.ProofApplied {
		t.Errorf("the same once more: %+v, %v", again, err)
	}
	var failed *store.ConditionFailedError
	_, err = n.r.Through(soon(t), taking("red", "bob"), "bob")
	if !errors.As(err, &failed) || failed.Old["owner"].Str() != "ann" {
		t.Errorf("taken by another: %v", err)
	}
	if got := n.get("names", key("red", "s")); got["owner"].Str() != "ann" {
		t.Errorf("readers see %v", got)
	}
	if st := n.status(); st.Conflicts.Open != 0 {
		t.Errorf("%d open conflicts of what its caller was told", st.Conflicts.Open)
	}
	if _, err = n.r.Through(soon(t), taking("blue", "ann"), "ann"); !kinds.Is(err, kinds.Conflict) {
		t.Errorf("the key with another write: %v", err)
	}
}

// A write that is not proved does not show, another on the item waits outside, a retry joins.
func TestThroughPending(t *testing.T) {
	n := newNode(t, newCloud(), "a").run()
	n.until("the cloud is there", func() bool { return n.status().Link.Up })
	gate := make(chan struct{})
	patient, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	n.wire.setFault(func(_ int, calls []intent.Call) fault {
		if calls[0].Table == "names" {
			giveUp()
			return fault{wait: gate, after: unknown()}
		}
		return fault{}
	})
	first, err := n.r.Through(patient, taking("red", "ann"), "key-1")
	if err != nil || first.Proof != replica.ProofPending || first.Seq == 0 {
		t.Fatalf("without an answer: %+v, %v", first, err)
	}
	if got := n.get("names", key("red", "s")); got != nil {
		t.Errorf("what is not proved shows: %v", got)
	}
	if _, err := n.r.Through(soon(t), taking("red", "bob"), "key-2"); !kinds.Is(err, kinds.Conflict) {
		t.Errorf("another write of the item: %v", err)
	}
	n.wire.setFault(nil)
	close(gate)
	again, err := n.r.Through(soon(t), taking("red", "ann"), "key-1")
	if err != nil || again.Seq != first.Seq || again.Proof != replica.ProofApplied {
		t.Errorf("the retry: %+v, %v", again, err)
	}
	if got := n.get("names", key("red", "s")); got["owner"].Str() != "ann" {
		t.Errorf("readers see %v", got)
	}
}

func TestThroughOffline(t *testing.T) {
	n := newNode(t, newCloud(), "a")
	n.wire.setFault(func(int, []intent.Call) fault { return fault{before: offline()} })
	n.run()
	_, err := n.r.Through(soon(t), taking("red", "ann"), "")
	var off *replica.OfflineError
	if !errors.As(err, &off) || off.RetryAfter() <= 0 || !kinds.Is(err, kinds.Unavailable) {
		t.Errorf("offline: %v", err)
	}
	err = n.store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(*taking("red", "ann").Put)
		return err
	})
	if !kinds.Is(err, kinds.Invalid) {
		t.Errorf("a plain write: %v", err)
	}
}

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
			if err := put("data", item("p", string(rune('a'+i%26))+string(rune('a'+i/26)), "v", "long")); err != nil {
				t.Fatalf("at %d of %d: %v", n.status().Waiting, count, err)
			}
			i++
		}
	}
	fillTo(90)
	if err := put("state", item("m", "now")); !overBudget(err) {
		t.Errorf("state at 90: %v", err)
	}
	fillTo(95)
	if err := put("data", item("p", "new")); !overBudget(err) {
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
	if err := put("screen", item("p", "s")); err != nil {
		t.Errorf("what is not sent: %v", err)
	}
	st := n.status()
	if st.Budget.Level != replica.LevelReadOnly || st.Budget.Refused != 3 || st.Budget.Which != "entries" {
		t.Errorf("the status says %+v", st.Budget)
	}
	n.run()
	n.drained()
	if err := put("data", item("p", "new")); err != nil {
		t.Errorf("with room again: %v", err)
	}
	n.drained()
	n.same("data")
}

func overBudget(err error) bool {
	var r *replica.RefusedError
	return errors.As(err, &r) && r.RetryAfter() > 0 && kinds.Is(err, kinds.Unavailable)
}

// An update that only removes creates no item, here or in the cloud.
func TestThroughRemovingFromNoItem(t *testing.T) {
	c := newCloud()
	n := newNode(t, c, "a").run()
	n.until("the cloud is there", func() bool { return n.status().Link.Up })
	remove := store.WriteItem{Update: &store.UpdateItem{Table: "names", Key: key("red", "s"), Update: "REMOVE #o"}}
	remove.Update.Names = map[string]string{"#o": "owner"}
	done, err := n.r.Through(soon(t), remove, "")
	if err != nil || done.Proof != replica.ProofApplied || done.Item != nil {
		t.Errorf("nothing removed: %+v, %v", done, err)
	}
	if got := c.Item("names", key("red", "s")); got != nil {
		t.Errorf("the cloud has %v", got)
	}
	if _, err := n.r.Through(soon(t), taking("red", "ann"), ""); err != nil {
		t.Fatal(err)
	}
	if done, err = n.r.Through(soon(t), remove, "again"); err != nil || done.Item == nil || !done.Item["owner"].IsZero() {
		t.Errorf("the owner removed: %+v, %v", done, err)
	}
}
