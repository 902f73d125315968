// Package simulation has tests alone: the scripts of pages, as the node serves them, under Node.js over a virtual clock, a simulated
// browser, network and node, by seeds and in scenes. DESIGN.md says what is simulated and judged.
//
//	make sim-page SEEDS=1 SEED0=18   replays one seed, with its whole trace
package simulation
