//go:build long

package replica_test

import "testing"

// Without the race detector many seeds are played in every run of the tests; more by make sim.
func TestSimulationOfManySeeds(t *testing.T) { playSeeds(t, 1, 300, 1) }
