package replica_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

// dueNode returns a node whose writes to the table data may first be sent until a time that the test sets.
func dueNode(t *testing.T) (n *node, by *atomic.Pointer[time.Time]) {
	t.Helper()
	by = &atomic.Pointer[time.Time]{}
	by.Store(&time.Time{})
	n = newNode(t, newCloud(), "a", func(c *replica.Config) {
		c.SendBy = map[string]replica.SendBy{"data": func(_ *store.Tx, _ *intent.Write) (time.Time, error) { return *by.Load(), nil }}
	})
	return n, by
}

func (n *node) open() []*conflict.Record {
	n.t.Helper()
	all, _, err := n.r.Conflicts().List(context.Background(), conflict.Query{State: conflict.StateOpen})
	if err != nil {
		n.t.Fatal(err)
	}
	return all
}

// A write that could not be sent in time is never sent: it becomes a conflict and leaves the view. Tables without SendBy have no such
// limit.
func TestNothingIsFirstSentAfterItsTime(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(tx *store.Tx) error{
		"a put": func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "data", Item: Item("p", "late", "n", 1)})
			return err
		},
		"a transaction": func(tx *store.Tx) error {
			return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
				{Check: &store.ConditionCheck{Table: "other", Key: key("p", "none"), Condition: "attribute_not_exists(pk)"}},
				{Put: &store.PutItem{Table: "data", Item: Item("p", "late", "n", 1)}},
			}})
		},
	} {
		n, by := dueNode(t)
		past := time.Now().Add(-time.Second)
		by.Store(&past)
		n.update(write)
		n.put("other", Item("p", "any", "n", 1))
		n.run().drained()
		if sent := n.conn.sent(); len(sent) != 1 || sent[0].Table != "other" {
			t.Errorf("%s: sent %v", name, sent)
		}
		if all := n.open(); len(all) != 1 || all[0].Code != string(intent.CodeLate) {
			t.Errorf("%s: conflicts %+v", name, all)
		}
		if it := n.get("data", key("p", "late")); it != nil {
			t.Errorf("%s: still in the view: %v", name, it)
		}
	}
}

// A write sent in time and not answered is pursued past its time: it may be in the cloud.
func TestWhatWasSentInTimeGoesOn(t *testing.T) {
	t.Parallel()
	n, by := dueNode(t)
	n.conn.setFault(func(_ int, calls []intent.Call) (f fault) {
		if calls[0].Table == "data" && by.Load().IsZero() {
			past := time.Now().Add(-time.Second)
			by.Store(&past)
			f.before = unknown()
		}
		return f
	})
	n.put("data", Item("p", "sent", "n", 1))
	n.run().drained()
	if all := n.open(); len(all) != 0 {
		t.Errorf("conflicts %+v", all)
	}
	n.same("data")
}
