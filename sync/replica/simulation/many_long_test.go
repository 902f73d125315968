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
// from a goroutine after 10 ms and run another: that is rare, so a seed has several tries.
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
