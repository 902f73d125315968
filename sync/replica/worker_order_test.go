package replica_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
)

// putSending puts an item with options for when it is sent.
func (n *node) putSending(table string, it attr.Item, s store.Sending) uint64 {
	n.t.Helper()
	return n.update(func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: table, Item: it, Sending: s})
		return err
	})
}

func after(table string, keys ...attr.Item) (s store.Sending) {
	for _, k := range keys {
		s.After = append(s.After, store.ItemRef{Table: table, Key: k})
	}
	return s
}

// has reports whether the cloud has an item of a table.
func (n *node) has(table, pk, sk string) bool {
	return n.conn.cloud.Item(table, key(pk, sk)) != nil
}

func skOf(c *intent.Call) string {
	if c.Item != nil {
		return c.Item["sk"].Str()
	}
	return c.Key["sk"].Str()
}

// holdBack makes writes of some items fail unanswered and unapplied until release is called.
func (n *node) holdBack(sks ...string) (release func()) {
	held := true
	n.conn.setFault(func(_ int, calls []intent.Call) fault {
		if held && slices.ContainsFunc(calls, func(c intent.Call) bool {
			return slices.Contains(sks, skOf(&c))
		}) {
			return fault{before: unknown()}
		}
		return fault{}
	})
	return func() { n.conn.mu.Lock(); held = false; n.conn.mu.Unlock() }
}

// A write that names another waits for it, whatever its queue; one that names none does not. That holds after a restart too, and the
// named item's next write waits for the naming one.
func TestAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, newCloud(), "a")
		release := n.holdBack("first")
		n.update(func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "data", Item: Item("p", "first")})
			if err != nil {
				return err
			}
			_, err = tx.Put(store.PutItem{Table: "other", Item: Item("q", "second"), Sending: after("data", key("p", "first"), key("p", "none"))})
			return err
		})
		n.putSending("data", Item("p", "third"), after("other", key("q", "second"))) // named in a later Update
		n.put("data", Item("p", "alone"))
		n.add("data", key("p", "first"), 1)
		n.run()
		<-time.After(10 * time.Second)
		if !n.has("data", "p", "alone") || n.has("other", "q", "second") || n.has("data", "p", "third") {
			t.Errorf("a write did not wait for the one that it names, or one that names none waits: %v", n.conn.sent())
		}
		n.stop()
		n2 := nodeOn(t, n.store, n.conn.cloud)
		release2 := n2.holdBack("first")
		n2.run()
		<-time.After(10 * time.Second)
		if n2.has("other", "q", "second") || n2.has("data", "p", "third") {
			t.Error("it does not wait after a restart")
		}
		release()
		release2()
		n2.drained()
		n2.same("data", "other")
		var order []string
		for _, c := range n2.conn.sent() {
			order = append(order, skOf(&c))
		}
		at := func(sk string) int { return slices.Index(order, sk) }
		slices.Reverse(order)
		if last := at("first"); last > at("second") || at("third") > at("second") {
			t.Errorf("sent in the order %v, last first", order)
		}
	})
}

// A named write counts as settled once it is refused or quarantined.
func TestAfterWhatIsRefused(t *testing.T) {
	for name, class := range map[string]intent.Class{"quarantined": intent.TooLarge, "refused": intent.ConditionFailed} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCloud()
				n := newNode(t, c, "a")
				n.update(func(tx *store.Tx) error {
					_, err := tx.Put(store.PutItem{Table: "data", Item: Item("p", "first"), Condition: "attribute_not_exists(pk)"})
					return err
				})
				n.putSending("data", Item("p", "second"), after("data", key("p", "first")))
				if class == intent.ConditionFailed {
					if _, err := c.Write("foreign", intent.Call{Op: store.OpPut, Table: "data", Item: Item("p", "first", "v", 1)}); err != nil {
						t.Fatal(err)
					}
				} else {
					n.conn.setFault(func(_ int, calls []intent.Call) (f fault) {
						if calls[0].Item["sk"].Str() == "first" {
							f.before = &intent.Error{Class: class, Err: errors.New("a test")}
						}
						return f
					})
				}
				n.run()
				n.until("the second is there", func() bool { return n.has("data", "p", "second") })
				if n.status().Conflicts.Kept != 1 {
					t.Errorf("the first was accepted: %+v", n.status().Conflicts)
				}
			})
		})
	}
}

// guarded makes a transaction that writes two items of other, on the condition that an item of data exists.
func (n *node) guarded(name string) uint64 {
	n.t.Helper()
	return n.update(func(tx *store.Tx) error {
		check := store.ConditionCheck{Table: "data", Key: key("p", "roster"), Condition: "attribute_exists(pk)"}
		return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
			{Put: &store.PutItem{Table: "other", Item: Item("p", name)}}, {Put: &store.PutItem{Table: "other", Item: Item("p", name+"'")}}, {Check: &check},
		}})
	})
}

// Transactions with a condition on the same item do not wait for each other. A write to the item waits for all earlier ones, and later
// ones wait for the write.
func TestChecksShareAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, newCloud(), "a").run()
		n.put("data", Item("p", "roster"))
		n.drained()
		release := n.holdBack("one")
		n.guarded("one")
		n.guarded("two")
		n.add("data", key("p", "roster"), 1)
		n.guarded("three")
		n.guarded("four")
		<-time.After(10 * time.Second)
		roster, _ := n.conn.cloud.Item("data", key("p", "roster"))["n"].Int()
		if n.has("other", "p", "one") || !n.has("other", "p", "two") || roster != 0 || n.has("other", "p", "three") || n.has("other", "p", "four") {
			t.Errorf("one %v, two %v, the write %d, three %v, four %v", n.has("other", "p", "one"), n.has("other", "p", "two"), roster,
				n.has("other", "p", "three"), n.has("other", "p", "four"))
		}
		release()
		n.drained()
		n.same("data", "other")
	})
}

// More transactions share a place than are woken one by one when it becomes free: all of them go at once, not one after the other.
func TestManyShareAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count = 200
		n := newNode(t, newCloud(), "a")
		gate := make(chan struct{})
		n.conn.setFault(func(_ int, calls []intent.Call) fault {
			if slices.ContainsFunc(calls, func(c intent.Call) bool { return c.Item["sk"].Str() == "roster" }) {
				return fault{wait: gate}
			}
			return fault{wait: in(80 * time.Millisecond)}
		})
		n.put("data", Item("p", "roster"))
		for i := range count {
			n.guarded(fmt.Sprint("t", i))
		}
		n.run()
		<-time.After(5 * time.Second) // by then the workers have tried all of them
		began := time.Now()
		close(gate)
		n.drained()
		if rate := count / time.Since(began).Seconds(); rate < 60 {
			t.Errorf("sent at %.0f a second", rate)
		}
		n.same("data", "other")
	})
}

// A quarantined transaction holds up nothing on an item on which it only has a condition.
func TestBehindAHeldCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, newCloud(), "a").run()
		n.put("data", Item("p", "roster"))
		n.drained()
		n.conn.setFault(func(_ int, calls []intent.Call) fault {
			if len(calls) > 1 {
				return fault{wait: in(time.Second), before: &intent.Error{Class: intent.TooLarge, Err: errors.New("a test")}}
			}
			return fault{}
		})
		n.update(func(tx *store.Tx) error {
			check := store.ConditionCheck{Table: "data", Key: key("p", "roster"), Condition: "attribute_exists(pk)"}
			err := tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{
				{Put: &store.PutItem{Table: "other", Item: Item("p", "a")}}, {Put: &store.PutItem{Table: "other", Item: Item("p", "b")}}, {Check: &check},
			}})
			if err != nil {
				return err
			}
			return addTo(tx, "data", key("p", "roster"), 1)
		})
		n.patience = time.Hour
		n.until("the write is there", func() bool {
			v, _ := n.conn.cloud.Item("data", key("p", "roster"))["n"].Int()
			return v == 1
		})
		if n.status().Conflicts.Quarantined == 0 {
			t.Error("nothing is quarantined")
		}
	})
}

// A write marked Ahead does not wait behind a long queue, nor does its repetition after a restart.
func TestAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, newCloud(), "a", func(c *replica.Config) { c.Workers = 1 })
		for i := range 500 {
			n.put("data", Item("p", fmt.Sprint("s", i)))
		}
		n.putSending("data", Item("p", "usual"), store.Sending{})
		n.putSending("data", Item("p", "ahead"), store.Sending{Ahead: true})
		n.update(func(tx *store.Tx) error { // a write folded into it goes ahead too
			_, err := tx.Put(store.PutItem{Table: "data", Item: Item("p", "ahead", "v", 2)})
			return err
		})
		n2 := nodeOn(t, n.store, n.conn.cloud)
		n2.conn.setFault(func(int, []intent.Call) fault { return fault{wait: in(80 * time.Millisecond)} })
		n2.run()
		n2.drained()
		n2.same("data")
		var order []string
		for _, c := range n2.conn.sent() {
			order = append(order, skOf(&c))
		}
		if at, usual := slices.Index(order, "ahead"), slices.Index(order, "usual"); at > 5 || usual < 400 {
			t.Errorf("it was sent as number %d, the usual one before it as number %d", at+1, usual+1)
		}
	})
}

// The follows of one match are items of one partition, and drain as fast as those of as many matches: order is kept per item and nowhere
// else. Time is virtual, so the test measures round trips.
func TestOnePartitionDrainsAsManyDo(t *testing.T) {
	const follows, latency = 400, 80 * time.Millisecond
	one := drainRate(t, latency, follows, func(i int) string { return "match" })
	many := drainRate(t, latency, follows, func(i int) string { return fmt.Sprint("match", i) })
	t.Logf("at %v: one partition %.0f a second, as many as there are follows %.0f: %.2f of it", latency, one, many, one/many)
	if one < 100 || one < 0.8*many {
		t.Errorf("one partition drains at %.0f a second, many at %.0f", one, many)
	}
}

// drainRate returns the creates per second of a node whose cloud answers with a latency.
func drainRate(t *testing.T, latency time.Duration, count int, partition func(i int) string) (rate float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, newCloud(), "a")
		n.conn.setFault(func(int, []intent.Call) fault { return fault{wait: in(latency)} })
		n.update(func(tx *store.Tx) error {
			for i := range count {
				if _, err := tx.Put(store.PutItem{Table: "data", Item: Item(partition(i), fmt.Sprint("user", i))}); err != nil {
					return err
				}
			}
			return nil
		})
		began := time.Now()
		n.run()
		n.drained()
		rate = float64(count) / time.Since(began).Seconds()
		n.stop()
		n.same("data")
	})
	return rate
}

// in returns a channel that is closed after some time.
func in(d time.Duration) <-chan struct{} {
	ch := make(chan struct{})
	time.AfterFunc(d, func() { close(ch) })
	return ch
}
