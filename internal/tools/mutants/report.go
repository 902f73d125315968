package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// maxShown is how many tests are named; those beside them fail for the same reason.
const maxShown = 2

const (
	nothing   = "**nothing**"
	simulated = "the simulation"
)

// what says what caught a mutant, in a cell of a table.
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

// row is a mutant on the page.
type row struct{ name, words, what, after string }

// tests are those that the row names.
func (r *row) tests() string {
	tests, _, _ := strings.Cut(r.what, simulated)
	return strings.TrimSuffix(strings.Replace(tests, nothing, "", 1), "; ")
}

// tellPage gives a mutant its row on the page: with alone, of the simulation, which leaves what it says of tests. Rows of mutants
// that are not in the list go.
func tellPage(path string, o *outcome, alone bool, list []string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	rows := slices.DeleteFunc(readRows(string(text)), func(r row) bool { return !slices.Contains(list, r.name) })
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f, withRow(rows, o, alone)), f.Close())
}

func readRows(page string) (rows []row) {
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 4 || strings.TrimSpace(cells[0]) == "mutant" {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, row{cells[0], cells[1], cells[2], cells[3]})
	}
	return rows
}

// withRow puts an outcome in its place among the rows.
func withRow(rows []row, o *outcome, alone bool) []row {
	is := row{name: o.mutant.name, words: o.mutant.words, what: o.what(), after: o.after()}
	i, there := slices.BinarySearchFunc(rows, is.name, func(r row, name string) int { return cmp.Compare(r.name, name) })
	if !there {
		return slices.Insert(rows, i, is)
	}
	if alone {
		is.what = caughtBy(rows[i].tests(), o.seed > 0)
	}
	rows[i] = is
	return rows
}

// write writes the page.
func write(w io.Writer, rows []row) error {
	var b strings.Builder
	caught, sim := 0, 0
	for i := range rows {
		if rows[i].what != nothing {
			caught++
		}
		if strings.HasSuffix(rows[i].what, simulated) {
			sim++
		}
	}
	fmt.Fprintf(&b, `# Mutants

Ways in which synchronisation, or cricket's rules, could be wrong, each planted alone, and what noticed it. Written by `+"`make mutants`"+`, which
changes neither the tree nor what is shipped (`+"`internal/tools/mutants`"+`), a row for each mutant that it plants; with `+"`ARGS=-sim`"+` it
plays the simulation alone. The tests that a mutant names stop at the first place that fails, the simulation at the first seed.
Of the mutants of the protocol four wait for the parts that they belong to: a sweep that removes items with pending entries, a
remote root hash that is adopted, a child shard read before its parent, a peer that serves the journal as base.

%d of %d were caught, %d of them by the simulation.

| mutant | what is wrong | caught by | seeds |
|---|---|---|---|
`, caught, len(rows), sim)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.name, r.words, r.what, r.after)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
