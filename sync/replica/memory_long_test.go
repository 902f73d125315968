//go:build long

package replica_test

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/touchline/touchline/sync/replica"
)

// Waiting writes take no memory, whether a hundred thousand entries or any other number.
func TestMemoryOfADrain(t *testing.T) {
	n := newNode(t, newCloud(), "a")
	n = nodeOn(t, n.store, n.conn.cloud, func(c *replica.Config) { c.Cloud = &sink{} })
	heap := func() int64 { // the least of three: what others allocate while the collector runs counts as live, more of it on a busy machine
		least := int64(math.MaxInt64)
		for range 3 {
			runtime.GC()
			live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
			metrics.Read(live)
			least = min(least, int64(live[0].Value.Uint64()))
		}
		return least
	}
	before := heap()
	fillAs(n, 100_000, "data")
	n.run()
	most := int64(0)
	for n.status().Waiting > 0 {
		most = max(most, heap()-before)
	}
	if most > 64<<20 {
		t.Errorf("%d MB on the heap", most>>20)
	}
	t.Logf("at most %.1f MB", float64(most)/(1<<20))
}
