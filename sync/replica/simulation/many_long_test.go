//go:build long

package simulation_test

import (
	"runtime"
	"testing"
)

// Without the race detector every run of the tests plays many seeds, others than TestSimulation's; make sim plays more.
func TestSimulationOfManySeeds(t *testing.T) { playSeeds(t, 101, 20, 1) }

// The same seed gives the same history on one processor, on which all seeds are played. On several, and with the race detector, whose
// scheduler shuffles goroutines that are ready at one instant, a few sometimes differ. So do those with a full disk: which commit reaches
// the limit depends on the order of the maps in which bbolt keeps its free pages. On a busy machine the runtime may take the processor
// from a goroutine after 10 ms and run another, in any of the runs, so a history repeats if two of several runs have it.
func TestSimulationRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for seed, compared := uint64(1), 0; compared < 5; seed++ {
		a, _, fired := simulateHash(t, seed, false)
		if fired["disk full"] > 0 {
			continue
		}
		compared++
		seen := map[uint64]bool{a: true}
		for tries := 0; len(seen) == tries+1; tries++ {
			if tries == 6 {
				t.Fatalf("seed %d: seven runs, seven histories", seed)
			}
			again, _, _ := simulateHash(t, seed, false)
			seen[again] = true
		}
	}
}
