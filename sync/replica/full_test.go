package replica_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	kinds "github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// A store that is full to the last page, whose answers cannot be stored while somebody reads, loses none of them: what
// could not be settled is found again, and all is drained when there are pages again.
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
	err := s.View(t.Context(), func(*store.Tx) error { // which holds back all pages that are let go of
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
