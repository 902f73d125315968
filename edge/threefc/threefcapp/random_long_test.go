//go:build long

package threefcapp

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// TestTwoNodesForLong is TestTwoNodesAtRandom with more steps. -rapid.checks sets the number of runs, -rapid.seed selects others.
func TestTwoNodesForLong(t *testing.T) {
	count := map[string]int{}
	nodes.Check(t, 20, func(rt *rapid.T) {
		w := play(t, steps(20, 60).Draw(rt, "steps"))
		for what, n := range w.count {
			count[what] += n
		}
		look(rt, w)
	})
	t.Log(count)
}
