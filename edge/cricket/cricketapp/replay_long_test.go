//go:build long

package cricketapp_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/edge/cricket/cricketapp"
)

// The replay of a recorded match without feed faults agrees with an independent count over its record. Of formats that take a
// day or more only the shortest match is played; the tests of edge/cricket play them all.
func TestReplayOfMatches(t *testing.T) {
	want := readExpected(t)
	for _, m := range cricketapp.Matches() {
		if rounds(m.Type) < 8 && !slices.Contains(oneOfEachFormat(), m.ID) {
			continue
		}
		t.Run(m.ID, func(t *testing.T) {
			t.Parallel()
			for _, problem := range againstCount(cleanRun(t, m.ID), want[m.ID]) {
				t.Error(problem)
			}
		})
	}
}

// Score lines and rows alone give the same wickets, milestones, innings ends and results.
func TestReplayOfEveryFormatWithoutBalls(t *testing.T) {
	want := readExpected(t)
	for _, id := range oneOfEachFormat() {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			r := replayed(t, cricketapp.ReplayConfig{Sources: []string{id}, NoBalls: true})
			for _, problem := range againstCount(r, want[id]) {
				t.Error(problem)
			}
		})
	}
}

// A feed with faults and a node that is restarted. By default 8 T20s are played; TOUCHLINE_REPLAY_SEEDS sets a number of matches
// of all formats, from seed TOUCHLINE_REPLAY_SEED0 on (make replay-seeds). Each format gets about the same time: 241 seeds are 8 of
// each T20, 3 of each match of 50 overs, and one of each multi-day match. Seed and match determine a run.
func TestReplayUnderFaults(t *testing.T) {
	var matches []string
	seeds, first, all := 8, uint64(1), false
	if text := os.Getenv("TOUCHLINE_REPLAY_SEEDS"); text != "" {
		all = true
		seeds = number(t, text)
		if text := os.Getenv("TOUCHLINE_REPLAY_SEED0"); text != "" {
			first = uint64(number(t, text))
		}
	}
	for round := range 8 {
		for _, m := range cricketapp.Matches() {
			if round < rounds(m.Type) && (all || strings.HasPrefix(m.Type, "T20")) {
				matches = append(matches, m.ID)
			}
		}
	}
	p := &progress{all: all, from: seeds}
	for n := range seeds {
		seed := first + uint64(n)
		id := matches[int(seed%uint64(len(matches)))]
		t.Run(fmt.Sprintf("%d/%s", seed, id), func(t *testing.T) {
			t.Parallel()
			underFaults(t, p, id, seed)
		})
	}
}

// rounds returns how often a match of a format is played for each time that a multi-day match is played.
func rounds(format string) int {
	switch format {
	case "T20", "T20I", "100-Ball":
		return 8
	case "ODI", "List A":
		return 3
	default:
		return 1
	}
}

// progress prints how far a long run is, because go test itself prints nothing before the end.
type progress struct {
	mu              sync.Mutex
	all             bool
	done, bad, from int
}

func (p *progress) add(match string, c *cricketapp.ReplayConfig, problems []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if len(problems) > 0 {
		p.bad++
	}
	if !p.all {
		return
	}
	if len(problems) > 0 {
		fmt.Fprintf(os.Stderr, "seed %d, match %s: %s\n", c.Faults, match, strings.Join(problems, "\n\t"))
		fmt.Fprintf(os.Stderr, "\talone: make replay-seeds SEEDS=1 SEED0=%d\n", c.Faults)
	}
	if p.done%20 == 0 || p.done == p.from {
		fmt.Fprintf(os.Stderr, "%d of %d seeds, %d failed\n", p.done, p.from, p.bad)
	}
}

func underFaults(t *testing.T, p *progress, id string, seed uint64) {
	t.Helper()
	c := cricketapp.ReplayConfig{Sources: []string{id}, Faults: seed, Restarts: int(seed % 4)}
	problems := againstClean(replayed(t, c), cleanRun(t, id))
	for _, problem := range problems {
		t.Error(problem)
	}
	p.add(id, &c, problems)
	if len(problems) > 0 {
		t.Logf("seed %d alone: touchline cricket replay --faults %d --restarts %d %s", seed, seed, c.Restarts, id)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%q is not a number of seeds", text)
	}
	return n
}
