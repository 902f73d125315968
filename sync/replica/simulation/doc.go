// Package simulation has tests alone: the simulation of nodes, a cloud, foreign writers and everything that may go wrong between
// them, by seeds, and the schedules that broke earlier versions of the protocol. docs/simulation.md says what is played and judged.
//
//	make sim SEEDS=1 SEED0=18   replays one seed, with its whole trace
package simulation
