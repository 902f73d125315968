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

	"github.com/touchline/touchline/edge/cricket"
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

// Without balls, with faults that rows show for a moment: no four or six too many is recorded, and the last word on each subject is true.
func TestReplayOfFaultsWithoutBalls(t *testing.T) {
	for _, id := range []string{"656483", "947101"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			var r *cricketapp.ReplayReport
			c := cricketapp.ReplayConfig{Sources: []string{id}, NoBalls: true, Faults: 2, Report: func(played *cricketapp.ReplayReport) error {
				r = played
				return nil
			}}
			if err := cricketapp.Replay(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if w := r.LastWords; w.Wrong+w.False+w.Untold > 0 {
				t.Errorf("last words: %s", strings.Join(w.Each, "\n"))
			}
			for _, kind := range []cricket.EventType{cricket.EventFour, cricket.EventSix, cricket.EventFifty, cricket.EventNewBatsman} {
				if d := r.RecordDiff; d.Missing[string(kind)]+d.False[string(kind)] > 0 {
					t.Errorf("%s recorded: %s", kind, strings.Join(d.Each, "\n"))
				}
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

// progress prints how far a long run is, because go test itself prints nothing before the end, and what the faults cost: how many more
// pushes light up a phone than without, in the mean and at worst.
type progress struct {
	mu              sync.Mutex
	all             bool
	done, bad, from int

	lit, clean  int     // pushes that light up a phone, with faults and without
	more, worst float64 // the sum of the costs in per cent, and the highest
	worstRun    string
}

// addCost adds what the faults of a run cost.
func (p *progress) addCost(r *cricketapp.ReplayReport) {
	cost := 100 * float64(r.LitUp-r.CleanLitUp) / float64(r.CleanLitUp)
	if p.done == 1 || cost > p.worst {
		p.worst, p.worstRun = cost, fmt.Sprintf("seed %d, match %s", r.Faults, r.Match)
	}
	p.lit, p.clean, p.more = p.lit+r.LitUp, p.clean+r.CleanLitUp, p.more+cost
}

func (p *progress) add(match string, c *cricketapp.ReplayConfig, r *cricketapp.ReplayReport, problems []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.addCost(r)
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
		fmt.Fprintf(os.Stderr, "%d of %d seeds, %d failed; pushes that light up a phone: %d, without faults %d, in the mean %+.0f %%, at worst %+.0f %% (%s)\n",
			p.done, p.from, p.bad, p.lit, p.clean, p.more/float64(p.done), p.worst, p.worstRun)
	}
}

func underFaults(t *testing.T, p *progress, id string, seed uint64) {
	t.Helper()
	c := cricketapp.ReplayConfig{Sources: []string{id}, Faults: seed, Restarts: int(seed % 4)}
	r := replayed(t, c)
	problems := againstClean(r, cleanRun(t, id))
	for _, problem := range problems {
		t.Error(problem)
	}
	p.add(id, &c, r, problems)
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
