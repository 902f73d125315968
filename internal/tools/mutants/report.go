package main

import (
	"fmt"
	"strings"
)

// maxShown is how many tests are named; the others fail for the same reason.
const maxShown = 2

const simulated = "the simulation"

// row returns the outcome as a row of the table in docs/mutants.md.
func (o *outcome) row() string {
	return fmt.Sprintf("| %s | %s | %s | %s |", o.mutant.name, o.mutant.words, o.what(), o.after())
}

// what returns what caught a mutant.
func (o *outcome) what() string {
	tests := strings.Join(o.tests[:min(len(o.tests), maxShown)], ", ")
	if more := len(o.tests) - maxShown; more > 0 {
		tests += fmt.Sprintf(" and %d more", more)
	}
	switch {
	case !o.caught():
		return "**nothing**"
	case o.seed == 0:
		return tests
	case tests == "":
		return simulated
	}
	return tests + "; " + simulated
}

// after returns after how many seeds the simulation caught a mutant.
func (o *outcome) after() string {
	switch {
	case !o.ran:
		return "-"
	case o.seed == 0:
		return fmt.Sprintf("not in %d", o.tried)
	}
	return fmt.Sprint(o.tried)
}
