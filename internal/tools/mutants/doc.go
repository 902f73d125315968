// Command mutants shows that the tests of synchronization, of cricket's rules and of the scripts of pages would notice faults. It plants the mutants in folder
// planted, one at a time, into the build of a test program (with go test -overlay: the tree is never changed, and no released program
// contains a mutant), runs the tests that should catch it and the simulation, seed by seed, and prints a row for the table in
// docs/mutants.md:
//
//	go run ./internal/tools/mutants [-only regexp] [-sim] [-seeds 300]
//
// A mutant is a file in planted. It starts with lines of a name and a value:
//
//	words:  the fault, in a phrase
//	test:   a package and a regular expression of tests that should notice it; may be repeated
//	sim:    yes: the simulation should notice it, within -seeds seeds; page: that of the scripts of pages
//
// Then follow its changes, each an old text that occurs exactly once in a file, or in the files of a package, and the new one:
//
//	-- old sync/replica --
//	...
//	-- new --
//	...
//
// Texts are whole lines. The test of this package verifies, without running anything, that every old text still occurs once, that the
// result is valid Go (of scripts it does not know), and that the named tests exist, so that the list stays current.
//
// With -sim the named tests are skipped, and the simulation runs for all mutants: this shows what it notices alone.
//
// The tests that a mutant names first run without it and must pass. A mutant that does not build is an error. A mutant whose tests do not
// end within -timeout is caught.
package main
