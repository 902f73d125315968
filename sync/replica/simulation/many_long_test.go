//go:build long

package simulation_test

import (
	"runtime"
	"testing"
)

// Without the race detector many seeds are played in every run of the tests, others than TestSimulation has; more by make sim.
func TestSimulationOfManySeeds(t *testing.T) { playSeeds(t, 101, 100, 1) }

// The same seed is the same history: on one processor, as all seeds are played. On several, and with the race detector, whose
// scheduler shuffles what could go on at one instant, a few have another one at times. So have those in which a disk is full:
// which commit meets the limit is up to the order of the maps in which bbolt keeps its free pages. On a busy machine the runtime may
// take the processor from a goroutine that has had it for 10 ms, and another goes on: that is rare, so a seed has more tries.
func TestSimulationRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for seed, compared := uint64(1), 0; compared < 5; seed++ {
		a, _, fired := simulateHash(t, seed, false)
		if fired["disk full"] > 0 {
			continue
		}
		compared++
		same := false
		for tries := 0; !same && tries < 3; tries++ {
			b, _, _ := simulateHash(t, seed, false)
			same = a == b
		}
		if !same {
			t.Errorf("seed %d: four runs, several histories", seed)
		}
	}
}
