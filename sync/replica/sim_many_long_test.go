//go:build long

package replica_test

import (
	"runtime"
	"testing"
)

// Without the race detector many seeds are played in every run of the tests; more by make sim.
func TestSimulationOfManySeeds(t *testing.T) { playSeeds(t, 1, 300, 1) }

// The same seed is the same history: on one processor, as all seeds are played. On several, and with the race detector, whose
// scheduler shuffles what could go on at one instant, a few have another one at times.
func TestSimulationRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for seed := range uint64(5) {
		a, _, _ := simulateHash(t, 1+seed, false)
		b, _, _ := simulateHash(t, 1+seed, false)
		if a != b {
			t.Errorf("seed %d: two runs, two histories", 1+seed)
		}
	}
}
