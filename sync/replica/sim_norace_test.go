//go:build !race

package replica_test

import (
	"runtime"
	"testing"
)

const simDefault = 16

// The same seed is the same history.
// With the race detector the scheduler shuffles on purpose what could go on at one instant: there this cannot hold.
func TestSimulationRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for seed := range uint64(3) {
		a, _, _ := simulateHash(t, 1+seed, false)
		b, _, _ := simulateHash(t, 1+seed, false)
		if a != b {
			t.Errorf("seed %d: two runs, two histories", 1+seed)
		}
	}
}
