//go:build long

package replica_test

import (
	"runtime"
	"testing"
)

// Without the race detector many seeds are played in every run of the tests; more by make sim.
func TestSimulationOfManySeeds(t *testing.T) { playSeeds(t, 1, 300, 1) }

// The same seed is the same history: on one processor, as all seeds are played. On several, and with the race detector, whose
// scheduler shuffles what could go on at one instant, a few have another one at times. So have those in which a disk is full:
// which commit meets the limit is up to the order of the maps in which bbolt keeps its free pages.
func TestSimulationRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for seed, compared := uint64(1), 0; compared < 5; seed++ {
		a, _, fired := simulateHash(t, seed, false)
		if fired["disk full"] > 0 {
			continue
		}
		compared++
		if b, _, _ := simulateHash(t, seed, false); a != b {
			t.Errorf("seed %d: two runs, two histories", seed)
		}
	}
}
