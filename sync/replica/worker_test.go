package replica_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/intent"
)

// What is written before the cloud can be reached is in the cloud afterwards.
func TestDrains(t *testing.T) {
	n := newNode(t, newCloud(), "a")
	for i := range 300 {
		k := key(fmt.Sprintf("p%d", i%40), fmt.Sprint(i/40))
		n.put("data", Item(k["pk"].Str(), k["sk"].Str(), "v", i, "text", "hello"))
		if i%3 == 0 {
			n.add("data", k, i)
		}
		if i%7 == 0 {
			n.update(func(tx *store.Tx) error {
				_, err := tx.Delete(store.DeleteItem{Table: "data", Key: k})
				return err
			})
		}
		n.put("screen", Item("s", fmt.Sprint(i)))
	}
	n.run()
	n.drained()
	n.same("data")
	if items := n.conn.cloud.Items("screen"); len(items) != 0 {
		t.Errorf("a local table has %d items in the cloud", len(items))
	}
	st := n.status()
	if st.Conflicts.Kept != 0 {
		t.Errorf("%d conflicts without a reason", st.Conflicts.Kept)
	}
	if st.Replay.Entries == 0 {
		t.Error("nothing in the replay log")
	}
}

// Updates of one item are sent in the order in which they were made, each once, whatever becomes of the answers.
func TestOrderOfAnItem(t *testing.T) {
	n := newNode(t, newCloud(), "a")
	n.conn.setFault(func(i int, _ []intent.Call) fault {
		switch i % 5 {
		case 1:
			return fault{after: unknown()}
		case 3:
			return fault{before: unknown()}
		}
		return fault{}
	})
	k := key("p", "s")
	n.put("data", Item("p", "s", "n", 0, "list", attr.L()))
	for i := range 40 {
		n.update(func(tx *store.Tx) error {
			u := store.UpdateItem{Table: "data", Key: k, Update: "SET #l = list_append(#l, :v) ADD n :one"}
			u.Names = map[string]string{"#l": "list"}
			u.Values = attr.Item{":v": attr.L(attr.Int(int64(i))), ":one": attr.Int(1)}
			_, err := tx.Update(u)
			return err
		})
	}
	n.run()
	n.drained()
	n.same("data")
	got, _ := intent.Split(n.conn.cloud.Item("data", k))
	if v, _ := got["n"].Int(); v != 40 {
		t.Errorf("n is %d, want 40", v)
	}
	list := got["list"].List()
	for i, v := range list {
		if x, _ := v.Int(); x != int64(i) {
			t.Fatalf("element %d is %d", i, x)
		}
	}
}

// A waiting item does not hold up its queue.
func TestParkedItemLetsItsWorkerGoOn(t *testing.T) {
	n := newNode(t, newCloud(), "a", func(c *replica.Config) { c.Workers = 1 })
	release := make(chan struct{})
	n.conn.setFault(func(_ int, calls []intent.Call) fault {
		if calls[0].Key["sk"].Str() == "stuck" || calls[0].Item["sk"].Str() == "stuck" {
			select {
			case <-release:
			default:
				return fault{before: unknown()}
			}
		}
		return fault{}
	})
	n.put("data", Item("p", "stuck", "v", 1))
	n.put("data", Item("p", "stuck", "v", 2))
	for i := range 50 {
		n.put("data", Item("p", fmt.Sprint(i), "v", i))
	}
	n.run()
	n.until("only the stuck item waits", func() bool { return n.status().Waiting <= 2 && len(n.conn.cloud.Items("data")) == 50 })
	close(release)
	n.drained()
	n.same("data")
}

// A worker has one request in flight, and all workers send at once.
func TestOneRequestAWorker(t *testing.T) {
	n := newNode(t, newCloud(), "a", func(c *replica.Config) { c.Workers = 4 })
	for i := range 100 {
		n.put("data", Item(fmt.Sprint("p", i), "s", "v", i))
	}
	gate := make(chan struct{})
	n.conn.setFault(func(i int, _ []intent.Call) fault {
		if i > 8 {
			return fault{wait: gate}
		}
		return fault{}
	})
	n.run()
	n.until("four are on their way", func() bool {
		n.conn.mu.Lock()
		defer n.conn.mu.Unlock()
		return n.conn.busy == 4
	})
	close(gate)
	n.drained()
	n.conn.mu.Lock() // the node still writes rows of its own
	defer n.conn.mu.Unlock()
	if n.conn.most != 4 {
		t.Errorf("%d requests at once, want 4", n.conn.most)
	}
}

// During an outage a probe is sent now and then; what waits is sent once the cloud is back.
func TestOffline(t *testing.T) {
	n := newNode(t, newCloud(), "a")
	away := true
	n.conn.setFault(func(_ int, _ []intent.Call) fault {
		if away {
			return fault{before: offline()}
		}
		return fault{}
	})
	for i := range 20 {
		n.put("data", Item(fmt.Sprint("p", i), "s", "v", i))
	}
	n.run()
	n.until("it is known to be away", func() bool { return !n.status().Up && n.status().LastError != "" })
	if len(n.conn.cloud.Items("data")) != 0 {
		t.Error("something arrived")
	}
	n.conn.mu.Lock()
	away = false
	n.conn.mu.Unlock()
	n.drained()
	n.same("data")
}

// A poison entry is quarantined with those behind it on its item; the others are sent.
func TestPoison(t *testing.T) {
	n := newNode(t, newCloud(), "a")
	n.conn.setFault(func(_ int, calls []intent.Call) fault {
		if calls[0].Key["sk"].Str() == "bad" || calls[0].Item["sk"].Str() == "bad" {
			return fault{before: &intent.Error{Class: intent.TooLarge, Err: errors.New("a test")}}
		}
		return fault{}
	})
	bad := n.put("data", Item("p", "bad", "v", 1))
	n.add("data", key("p", "bad"), 1)
	for i := range 30 {
		n.put("data", Item("p", fmt.Sprint(i), "v", i))
	}
	n.run()
	n.until("the rest is there", func() bool { return len(n.conn.cloud.Items("data")) == 30 })
	n.until("it is quarantined", func() bool { return n.status().Conflicts.Quarantined == 1 })
	if st := n.status(); st.Waiting == 0 {
		t.Error("the quarantined batch has left the outbox")
	}
	if p, err := n.r.ProofOf(t.Context(), bad); err != nil || p != replica.ProofRefused {
		t.Errorf("Proved of a quarantined entry: %v, %v", p, err)
	}
	n.conn.setFault(nil)
	if err := n.r.Wait(soon(t), n.put("data", Item("p", "bad", "v", 3))); err != nil {
		t.Errorf("a write behind a quarantine: %v", err)
	}
}

// small draws the smallest numbers: waits are as short as possible, and all tokens differ.
func small() func() uint64 {
	var n atomic.Uint64
	return func() uint64 { return n.Add(1) }
}

// A missing table is stopped alone, and resumes once it exists.
func TestMissingTable(t *testing.T) {
	n := newNode(t, newCloud(), "a", func(c *replica.Config) { c.Rand = small() })
	missing := true
	n.conn.setFault(func(_ int, calls []intent.Call) fault {
		if missing && calls[0].Table == "other" {
			return fault{before: &intent.Error{Class: intent.NoTable, Err: errors.New("a test")}}
		}
		return fault{}
	})
	for i := range 50 {
		n.put("other", Item(fmt.Sprint("p", i), "s", "v", i))
		n.put("data", Item(fmt.Sprint("p", i), "s", "v", i))
	}
	n.run()
	n.until("the other table is there", func() bool { return len(n.conn.cloud.Items("data")) == 50 && n.status().Waiting == 50 })
	st := n.status()
	if len(st.Tables) != 1 || st.Tables[0].Stopped == nil || st.Tables[0].Table != "other" || st.Waiting != 50 {
		t.Errorf("the status does not report the stopped table: %+v", st.Tables)
	}
	n.conn.mu.Lock()
	missing = false
	n.conn.mu.Unlock()
	n.drained()
	n.same("data", "other")
}

// A refused write shows that its table exists again just as an accepted one does: what waits behind it resumes at once, not one write per
// try.
func TestMissingTableIsThereForTheRefused(t *testing.T) {
	n := newNode(t, newCloud(), "a", func(c *replica.Config) { c.Rand = small() }) // a try each second
	missing := true
	n.conn.setFault(func(_ int, calls []intent.Call) fault {
		if missing && calls[0].Table == "other" {
			missing = false
			return fault{before: &intent.Error{Class: intent.NoTable, Err: errors.New("a test")}}
		}
		return fault{}
	})
	for i := range 40 {
		n.update(func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: "other", Item: Item("p", fmt.Sprint(i), "v", i), Condition: "attribute_not_exists(pk)"})
			return err
		})
		if _, err := n.conn.cloud.Write("another", intent.Call{Op: store.OpPut, Table: "other", Item: Item("p", fmt.Sprint(i), "v", -1)}); err != nil {
			t.Fatal(err)
		}
	}
	n.run()
	n.drained()
	if st := n.status(); st.Conflicts.Open != 40 {
		t.Errorf("%d conflicts", st.Conflicts.Open)
	}
}

// Poison shows it too: otherwise its second try would wait for the table, which waits for the outcome of that try.
func TestMissingTableIsThereForPoison(t *testing.T) {
	n := newNode(t, newCloud(), "a", func(c *replica.Config) { c.Workers, c.Rand = 1, small() })
	missing := true
	n.conn.setFault(func(_ int, calls []intent.Call) fault {
		switch {
		case calls[0].Table == "other" && missing:
			missing = false
			return fault{before: &intent.Error{Class: intent.NoTable, Err: errors.New("a test")}}
		case calls[0].Item["sk"].Str() == "bad":
			return fault{before: &intent.Error{Class: intent.Validation, Err: errors.New("a test")}}
		}
		return fault{}
	})
	n.put("other", Item("p", "bad", "v", 1))
	for i := range 20 {
		n.put("other", Item("p", fmt.Sprint(i), "v", i))
	}
	n.run()
	n.until("the rest is there", func() bool { return len(n.conn.cloud.Items("other")) == 20 })
	n.until("it is quarantined", func() bool { return n.status().Conflicts.Quarantined == 1 })
}

// State is sent once its events are settled, and only the newest image.
func TestStateAfterItsEvents(t *testing.T) {
	n := newNode(t, newCloud(), "a")
	release := make(chan struct{})
	n.conn.setFault(func(_ int, calls []intent.Call) fault {
		select {
		case <-release:
		default:
			if calls[0].Table == "events" {
				return fault{before: unknown()}
			}
		}
		return fault{}
	})
	n.put("events", Item("m1", "ball-1", "_f", 7))
	for i := range 10 {
		n.put("state", Item("m1", "now", "score", i, "_f", 7))
	}
	n.put("state", Item("m2", "now", "score", 1, "_f", 7))
	n.run()
	n.until("the other match's state is there", func() bool { return len(n.conn.cloud.Items("state")) == 1 })
	close(release)
	n.drained()
	n.same("events", "state")
	puts := 0
	for _, c := range n.conn.sent() {
		if c.Table == "state" && c.Item["pk"].Str() == "m1" {
			puts++
		}
	}
	if puts != 1 {
		t.Errorf("%d images of one match's state were sent, want only the newest", puts)
	}
}

// Transactions are sent whole, in the order of their items.
func TestTransactions(t *testing.T) {
	n := newNode(t, newCloud(), "a")
	n.conn.setFault(func(i int, _ []intent.Call) fault {
		if i%4 == 2 {
			return fault{after: unknown()}
		}
		return fault{}
	})
	n.put("data", Item("roster", "s", "open", "yes"))
	for i := range 25 {
		n.update(func(tx *store.Tx) error {
			check := store.ConditionCheck{Table: "data", Key: key("roster", "s"), Condition: "attribute_exists(pk)"}
			one := store.UpdateItem{Table: "data", Key: key(fmt.Sprint("p", i%5), "s"), Update: "ADD n :n"}
			one.Values = attr.Item{":n": attr.Int(1)}
			two := store.UpdateItem{Table: "other", Key: key(fmt.Sprint("q", i%3), "s"), Update: "ADD n :n"}
			two.Values = one.Values
			return tx.TransactWrite(store.TransactWrite{Items: []store.WriteItem{{Update: &one}, {Update: &two}, {Check: &check}}})
		})
		n.add("data", key(fmt.Sprint("p", i%5), "s"), 100)
	}
	n.run()
	n.drained()
	n.same("data", "other")
	got, _ := intent.Split(n.conn.cloud.Item("data", key("p1", "s")))
	if v, _ := got["n"].Int(); v != 505 {
		t.Errorf("n is %d, want 505", v)
	}
}

// A conflict removes the write from the view and is recorded.
func TestConflict(t *testing.T) {
	c, n := idleItem(t)
	u := store.UpdateItem{Table: "data", Key: key("p", "s"), Update: "SET #s = :new", Condition: "#s = :idle"}
	u.Names = map[string]string{"#s": "status"}
	u.Values = attr.Item{":new": attr.S("mine"), ":idle": attr.S("idle")}
	seq := n.update(func(tx *store.Tx) error {
		_, err := tx.Update(u)
		return err
	})
	u.Values = attr.Item{":new": attr.S("theirs"), ":idle": attr.S("idle")}
	image, err := c.Write("foreign", intent.Call{Op: store.OpUpdate, Table: "data", Key: key("p", "s"), Update: u.Update, Condition: u.Condition, Params: u.Params})
	if err != nil || image == nil {
		t.Fatal(image, err)
	}
	n2 := nodeOn(t, n.store, c).run()
	n2.drained()
	if got := n2.get("data", key("p", "s")); got["status"].Str() != "theirs" {
		t.Errorf("readers see %v", got)
	}
	if p, err := n2.r.ProofOf(t.Context(), seq); err != nil || p != replica.ProofRefused {
		t.Errorf("Proved: %v, %v", p, err)
	}
	err = n2.r.Wait(t.Context(), seq)
	var settled *replica.SettledError
	if !errors.As(err, &settled) || settled.Conflict == 0 {
		t.Errorf("Wait: %v", err)
	}
}

// Wait returns once the cloud has the write.
func TestWait(t *testing.T) {
	n := newNode(t, newCloud(), "a").run()
	for i := range 20 {
		seq := n.update(func(tx *store.Tx) error {
			for j := range 3 {
				if _, err := tx.Put(store.PutItem{Table: "data", Item: Item(fmt.Sprint("p", i, j), "s")}); err != nil {
					return err
				}
			}
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), hang.Limit(time.Minute))
		if err := n.r.Wait(ctx, seq); err != nil {
			t.Fatal(err)
		}
		cancel()
		if got := len(n.conn.cloud.Items("data")); got != 3*(i+1) {
			t.Fatalf("%d items in the cloud after %d waits", got, i+1)
		}
		if p, err := n.r.ProofOf(t.Context(), seq-1); err != nil || p != replica.ProofApplied {
			t.Errorf("Proved: %v, %v", p, err)
		}
	}
	gate := make(chan struct{})
	n.conn.setFault(func(int, []intent.Call) fault { return fault{wait: gate} })
	seq := n.put("data", Item("late", "s"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := n.r.Wait(ctx, seq); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait for an unanswered write: %v", err)
	}
	close(gate)
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), hang.Limit(time.Minute))
	t.Cleanup(cancel)
	return ctx
}
