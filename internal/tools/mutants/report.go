package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// maxShown is how many tests are named; those beside them fail for the same reason.
const maxShown = 2

// what says what caught a mutant, in a cell of a table.
func (o *outcome) what() string {
	var parts []string
	if len(o.tests) > 0 {
		parts = append(parts, strings.Join(o.tests[:min(len(o.tests), maxShown)], ", "))
	}
	if more := len(o.tests) - maxShown; more > 0 {
		parts[0] += fmt.Sprintf(" and %d more", more)
	}
	if o.seed > 0 {
		parts = append(parts, "the simulation")
	}
	if len(parts) == 0 {
		return "**nothing**"
	}
	return strings.Join(parts, "; ")
}

// after says after how many seeds.
func (o *outcome) after() string {
	switch {
	case !o.ran:
		return "-"
	case o.seed == 0:
		return fmt.Sprintf("not in %d", o.tried)
	}
	return fmt.Sprint(o.tried)
}

// line is the mutant on the terminal.
func (o *outcome) line() string {
	return fmt.Sprintf("%-28s %-60s seeds: %-10s %v", o.mutant.name, o.what(), o.after(), o.took.Round(100*time.Millisecond))
}

// write writes the table as a page.
func write(w io.Writer, outcomes []outcome, seeds int) error {
	var b strings.Builder
	caught := 0
	for i := range outcomes {
		if outcomes[i].caught() {
			caught++
		}
	}
	fmt.Fprintf(&b, `# Mutants

Ways in which synchronisation could be wrong, each planted alone, and what noticed it. Written by `+"`make mutants`"+`, which
changes neither the tree nor what is shipped (`+"`internal/tools/mutants`"+`). The tests that a mutant names stop at the first place
that fails; %s. Of the mutants of the protocol four wait for
the parts that they belong to: a sweep that removes items with pending entries, a remote root hash that is adopted, a child
shard read before its parent, a peer that serves the journal as base.

%d of %d were caught.

| mutant | what is wrong | caught by | seeds |
|---|---|---|---|
`, played(seeds), caught, len(outcomes))
	for i := range outcomes {
		o := &outcomes[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", o.mutant.name, o.mutant.words, o.what(), o.after())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func played(seeds int) string {
	if seeds == 0 {
		return "the simulation was not played"
	}
	return fmt.Sprintf("the simulation plays up to %d seeds and stops at the first that fails", seeds)
}
