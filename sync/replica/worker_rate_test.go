package replica_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
)

// The follows of one match are items of one partition, and they go to the cloud as fast as those of as many matches: order is
// kept for each item, and for nothing else. Time is virtual, so that what is measured is the rounds that are waited for.
func TestOnePartitionDrainsAsManyDo(t *testing.T) {
	const follows, latency = 400, 80 * time.Millisecond
	one := drainRate(t, latency, follows, func(i int) string { return "match" })
	many := drainRate(t, latency, follows, func(i int) string { return fmt.Sprint("match", i) })
	t.Logf("at %v: one partition %.0f a second, as many as there are follows %.0f: %.2f of it", latency, one, many, one/many)
	if one < 100 || one < 0.8*many {
		t.Errorf("one partition drains at %.0f a second, many at %.0f", one, many)
	}
}

// drainRate is how many creates a second leave a node whose cloud answers after some time.
func drainRate(t *testing.T, latency time.Duration, count int, partition func(i int) string) (rate float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, newCloud(), "a")
		n.wire.setFault(func(int, []intent.Call) fault { return fault{wait: in(latency)} })
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

// in is a channel that is closed after some time.
func in(d time.Duration) <-chan struct{} {
	ch := make(chan struct{})
	time.AfterFunc(d, func() { close(ch) })
	return ch
}
