// Command mutants shows that the tests of synchronisation, and of cricket's rules, would notice if they were wrong. It plants the mutants of planted,
// one at a time, into the build of a test program (go test -overlay: the tree is never changed, and no mutant lies in a
// program that is shipped), runs the tests that should catch it and the simulation, seed by seed, and says what did:
//
//	go run ./internal/tools/mutants [-only regexp] [-sim] [-seeds 300] [-doc docs/mutants.md]
//
// A mutant is a file of planted. Its head has lines of a name and a value:
//
//	words:  what is wrong with it, in a phrase
//	test:   a package and a regular expression of tests: one of the places where it should be noticed; repeated
//	sim:    yes: the simulation should notice it, within -seeds seeds
//
// Below that stand its changes, each an old text that occurs exactly once in a file, or in those of a package, and the new
// one:
//
//	-- old sync/replica --
//	...
//	-- new --
//	...
//
// A text is whole lines. The test of this package sees without running anything that every old text still occurs once, that
// what comes out is Go, and that the tests that are named are there, so that the list does not rot.
//
// With -sim the tests that mutants name are left out, and the simulation is played for all: what it notices alone.
//
// The tests that a mutant names are first run without it: they must pass. A mutant that does not build is an error; one
// whose tests do not end within -timeout is caught.
package main
