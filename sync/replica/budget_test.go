package replica_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	kinds "github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/flow"
)

// Writes for which the budgets have no room are refused, and accepted again once there is room.
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
			if err := put("data", Item("p", string(rune('a'+i%26))+string(rune('a'+i/26)), "v", "long")); err != nil {
				t.Fatalf("refused at %d of %d: %v", n.status().Waiting, count, err)
			}
			i++
		}
	}
	fillTo(90)
	if err := put("state", Item("m", "now")); !overBudget(err) {
		t.Errorf("state at 90: %v", err)
	}
	fillTo(95)
	if err := put("data", Item("p", "new")); !overBudget(err) {
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
	if err := put("screen", Item("p", "s")); err != nil {
		t.Errorf("a write of a local table: %v", err)
	}
	st := n.status()
	if st.Budget.Level != flow.LevelReadOnly || st.Budget.Refused != 3 || st.Budget.Which != "entries" {
		t.Errorf("the status says %+v", st.Budget)
	}
	n.run()
	n.drained()
	if err := put("data", Item("p", "new")); err != nil {
		t.Errorf("with room again: %v", err)
	}
	n.drained()
	n.same("data")
}

func overBudget(err error) bool {
	var r *flow.RefusedError
	return errors.As(err, &r) && r.RetryAfter() > 0 && kinds.Is(err, kinds.Unavailable)
}

// A store that is full to the last page, and cannot store answers while a reader is open, loses none of them: unsettled answers are found
// again, and everything drains once pages are free.
func TestFullStoreDrains(t *testing.T) {
	s := memoryStore(t, store.Options{Node: "a", MaxSize: 16 << 20, ReadDeadline: time.Hour})
	c := newCloud()
	n := nodeOn(t, s, c)
	const writes = 1500
	n.update(func(tx *store.Tx) error {
		for i := range writes {
			if _, err := tx.Put(store.PutItem{Table: "data", Item: Item(fmt.Sprint("p", i%200), fmt.Sprint(i))}); err != nil {
				return err
			}
		}
		return nil
	})
	err := s.View(t.Context(), func(*store.Tx) error { // keeps all freed pages in use
		var full error
		for i := 0; full == nil; i++ {
			full = s.Update(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Put(store.PutItem{Table: "screen", Item: Item("p", fmt.Sprint(i), "text", strings.Repeat("x", 20_000))})
				return err
			})
		}
		if !kinds.Is(full, kinds.Full) {
			t.Fatal(full)
		}
		before := s.Stats().Refused
		n.run()
		n.until("answers cannot be stored", func() bool { return s.Stats().Refused >= before+3 })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	n.drained()
	if got := len(c.Items("data")); got != writes {
		t.Errorf("%d items in the cloud, want %d", got, writes)
	}
	if s.Err() != nil {
		t.Errorf("latched: %v", s.Err())
	}
}
