package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// maxShown is how many tests are named; the others fail for the same reason.
const maxShown = 2

const (
	nothing   = "**nothing**"
	simulated = "the simulation"
)

// what returns what caught a mutant, for a table cell.
func (o *outcome) what() string {
	tests := strings.Join(o.tests[:min(len(o.tests), maxShown)], ", ")
	if more := len(o.tests) - maxShown; more > 0 {
		tests += fmt.Sprintf(" and %d more", more)
	}
	return caughtBy(tests, o.seed > 0)
}

func caughtBy(tests string, sim bool) string {
	switch {
	case tests == "" && !sim:
		return nothing
	case !sim:
		return tests
	case tests == "":
		return simulated
	}
	return tests + "; " + simulated
}

// after returns after how many seeds the simulation caught a mutant, for a table cell.
func (o *outcome) after() string {
	switch {
	case !o.ran:
		return "-"
	case o.seed == 0:
		return fmt.Sprintf("not in %d", o.tried)
	}
	return fmt.Sprint(o.tried)
}

// line returns the outcome for the terminal.
func (o *outcome) line() string {
	return fmt.Sprintf("%-28s %-60s seeds: %-10s %v", o.mutant.name, o.what(), o.after(), o.took.Round(100*time.Millisecond))
}

// row is a mutant's row on the page.
type row struct{ words, what, after string }

// tests returns the tests that the row names.
func (r *row) tests() string {
	tests, _, _ := strings.Cut(r.what, simulated)
	return strings.TrimSuffix(strings.Replace(tests, nothing, "", 1), "; ")
}

// tellPage updates the row of a mutant on the page; with alone, only the part about the simulation. It removes rows of mutants that are
// not in the list.
func tellPage(path string, o *outcome, alone bool, list []string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	rows := readRows(string(text))
	is := row{words: o.mutant.words, what: o.what(), after: o.after()}
	if was, there := rows[o.mutant.name]; there && alone {
		is.what = caughtBy(was.tests(), o.seed > 0)
	}
	rows[o.mutant.name] = is
	maps.DeleteFunc(rows, func(name string, _ row) bool { return !slices.Contains(list, name) })
	return os.WriteFile(path, []byte(page(rows)), 0o600)
}

// readRows reads the rows of a page, by mutant.
func readRows(page string) map[string]row {
	rows := map[string]row{}
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if strings.HasPrefix(line, "| ") && len(cells) == 4 && cells[0] != "mutant" {
			rows[cells[0]] = row{cells[1], cells[2], cells[3]}
		}
	}
	return rows
}

// page returns the text of the page.
func page(rows map[string]row) string {
	var b strings.Builder
	caught, sim := 0, 0
	for _, r := range rows {
		if r.what != nothing {
			caught++
		}
		if strings.HasSuffix(r.what, simulated) {
			sim++
		}
	}
	fmt.Fprintf(&b, `# Mutants

Ways in which synchronization or cricket's rules could be wrong, each planted by itself, and what noticed it. `+"`make mutants`"+` writes this
page, one row for each mutant that it plants (`+"`internal/tools/mutants`"+`); the tree and the released program never contain one. With
`+"`ARGS=-sim`"+` it runs only the simulation. The tests that a mutant names stop at the first package that fails, the simulation at the first
seed: the last column is the number of seeds that it took, or - if the simulation was not run. Four mutants of the protocol are missing,
because there is no code yet for them to change: a sweep that removes items with pending entries, a remote root hash that is adopted, a
child shard read before its parent, and a peer that serves the journal as base.

%d of %d were caught, %d of them by the simulation.

| mutant | what is wrong | caught by | seeds |
|---|---|---|---|
`, caught, len(rows), sim)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, r.words, r.what, r.after)
	}
	return b.String()
}
