//go:build long

package edge_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/touchline/touchline/edge"
)

// Every recorded match as a feed tells it that does not lie is what an independent count over its record says.
func TestReplayOfEveryMatch(t *testing.T) {
	want := readExpected(t)
	for _, m := range edge.Matches() {
		t.Run(m.ID, func(t *testing.T) {
			t.Parallel()
			for _, problem := range againstCount(replayed(t, edge.ReplayConfig{Sources: []string{m.ID}}), want[m.ID]) {
				t.Error(problem)
			}
		})
	}
}

// Score lines and rows alone give the same wickets, milestones, innings ends and results.
func TestReplayOfEveryMatchWithoutBalls(t *testing.T) {
	want := readExpected(t)
	for _, m := range edge.Matches() {
		t.Run(m.ID, func(t *testing.T) {
			t.Parallel()
			r := replayed(t, edge.ReplayConfig{Sources: []string{m.ID}, NoBalls: true})
			for _, problem := range againstCount(r, want[m.ID]) {
				t.Error(problem)
			}
		})
	}
}

// A feed that lies and a node that is restarted: a hundred T20s here, and of all matches as many as
// TOUCHLINE_REPLAY_SEEDS says, from TOUCHLINE_REPLAY_SEED0 on (make replay-seeds). Seed and match tell everything.
func TestReplayUnderLies(t *testing.T) {
	var matches []string
	seeds, first, all := 100, uint64(1), false
	if text := os.Getenv("TOUCHLINE_REPLAY_SEEDS"); text != "" {
		all = true
		seeds = number(t, text)
		if text := os.Getenv("TOUCHLINE_REPLAY_SEED0"); text != "" {
			first = uint64(number(t, text))
		}
	}
	for _, m := range edge.Matches() {
		if all || m.Type == "T20" || m.Type == "T20I" {
			matches = append(matches, m.ID)
		}
	}
	clean := &cleanRuns{}
	for n := range seeds {
		seed := first + uint64(n)
		id := matches[int(seed%uint64(len(matches)))]
		t.Run(fmt.Sprintf("%d/%s", seed, id), func(t *testing.T) {
			t.Parallel()
			underLies(t, clean, id, seed)
		})
	}
}

func underLies(t *testing.T, clean *cleanRuns, id string, seed uint64) {
	t.Helper()
	c := edge.ReplayConfig{Sources: []string{id}, Faults: seed, Restarts: int(seed % 4)}
	for _, problem := range againstClean(replayed(t, c), clean.of(t, id)) {
		t.Error(problem)
	}
	if t.Failed() {
		t.Logf("alone: touchline cricket replay --faults %d --restarts %d %s", seed, c.Restarts, id)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%q is no number of seeds", text)
	}
	return n
}
