// Command count computes from Cricsheet match files what a replay of them must end with: score lines, result and the number of events of
// each type. It is an independent opinion for the tests of the replay and of the rules, so it shares no code with them and reads the
// original files:
//
//	count <folder of Cricsheet JSON> >edge/cricket/replay/testdata/expected.json
//
// The types and what they count:
//
//   - wicket: each dismissal; retired hurt and retired not out do not count, two on one ball are two
//   - four, six: off the bat to the boundary; all-run ones do not count
//   - fifty, hundred, hundred_fifty, two_hundred, two_hundred_fifty, three_hundred: a batter's runs in one innings reach 50, 100, 150,
//     200, 250, 300
//   - five_for, ten_for: a bowler takes his fifth or tenth wicket of one innings
//   - hat_trick: a bowler takes wickets on three successive deliveries of his, across overs, spells and innings of the match; every
//     delivery without a wicket of his breaks the row, including wides and no-balls; super overs do not count; a fourth wicket in a row
//     is not a second hat-trick
//   - consecutive_sixes: three sixes off three successive balls that a batter faced in an innings; wides are not faced; a longer row
//     counts once
//   - maiden: an over of balls_per_over legal balls, all by one bowler, off which he concedes nothing; byes, leg byes and penalty runs
//     are not his
//   - innings_end: each innings that is followed by another, including forfeited ones, and the last one if the side was all out
//     (counting batters who were absent or had retired hurt), out of balls, or reached its target. Why: forfeited; all_out; target
//     reached; overs, if the agreed balls were bowled; declared; otherwise closed
//   - super_over_start: each super over, which is a pair of super-over innings
//   - result, tie, draw, no_result: one per match; result if the record names a winner, including by super over, boundaries, bowl-out
//     or award
//
// Wickets, boundaries, milestones, rows of sixes and maidens in super overs count like any others.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: count <folder of Cricsheet JSON>")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "count:", err)
		os.Exit(1)
	}
}

// expected is what a match must end with.
type expected struct {
	Innings    []line         `json:"innings"`
	Result     string         `json:"result"` // win, tie, draw, no result
	Winner     string         `json:"winner,omitempty"`
	Deliveries int            `json:"deliveries"`
	Events     map[string]int `json:"events"`
	Wickets    map[string]int `json:"wickets"` // by kind
	Ends       []string       `json:"ends"`    // reasons of the ends that innings_end counts, in order
}

type line struct {
	Team      string `json:"team"`
	Runs      int    `json:"runs"`
	Wickets   int    `json:"wickets"`
	Overs     string `json:"overs"`
	SuperOver bool   `json:"superOver,omitempty"`
	Forfeited bool   `json:"forfeited,omitempty"`
}

// run writes one object with a line for each match, by id.
func run(dir string, w io.Writer) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	var rows []string
	for _, f := range files {
		id, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(f), ".json"))
		if err != nil {
			continue // a list of the files, not a match
		}
		src, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		var m match
		if err := json.Unmarshal(src, &m); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		text, err := json.Marshal(m.expect())
		if err != nil {
			return err
		}
		rows = append(rows, fmt.Sprintf("%q: %s", strconv.Itoa(id), text))
	}
	sort.Strings(rows)
	_, err = fmt.Fprintf(w, "{\n%s\n}\n", strings.Join(rows, ",\n"))
	return err
}
