//go:build long

package threefcapp

import (
	"testing"

	"pgregory.net/rapid"
)

// TestTwoNodesForLong is TestTwoNodesAtRandom with other steps each time (-rapid.checks says how often, -rapid.seed which).
func TestTwoNodesForLong(t *testing.T) {
	count := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		w := play(t, steps(20, 60).Draw(rt, "steps"))
		for what, n := range w.count {
			count[what] += n
		}
		look(rt, w)
	})
	t.Log(count)
}
