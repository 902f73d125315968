package cricketapp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/internal/fault"
)

// oneOver writes the file of a match with one over a side, for quick tests of what holds for any match.
func oneOver(t *testing.T) string {
	t.Helper()
	players, people, innings := map[string][]string{}, map[string]string{}, []any{}
	for i, team := range []string{"Reds", "Blues"} {
		for n := range 11 {
			name := fmt.Sprintf("%s %c", team, 'A'+n)
			players[team] = append(players[team], name)
			people[name] = fmt.Sprintf("%08x", 100*i+n+1)
		}
	}
	for i, team := range []string{"Reds", "Blues"} {
		var balls []any
		for n := range 6 {
			runs := []int{4, 0, 6, 0, 2 - 2*i, 0}[n]
			balls = append(balls, map[string]any{
				"batter": team + " A", "non_striker": team + " B", "bowler": []string{"Blues K", "Reds K"}[i],
				"runs": map[string]int{"batter": runs, "extras": 0, "total": runs},
			})
		}
		innings = append(innings, map[string]any{"team": team, "overs": []any{map[string]any{"over": 0, "deliveries": balls}}})
	}
	raw, err := json.Marshal(map[string]any{
		"meta": map[string]any{"data_version": "1.1.0", "created": "2020-01-02", "revision": 1},
		"info": map[string]any{
			"balls_per_over": 6, "city": "Ghent", "dates": []string{"2020-01-01"}, "event": map[string]any{"name": "Cup"}, "gender": "male",
			"match_type": "T20", "officials": map[string]any{"umpires": []string{"U One", "U Two"}},
			"outcome": map[string]any{"winner": "Reds", "by": map[string]int{"runs": 2}}, "overs": 1, "players": players,
			"registry": map[string]any{"people": people}, "season": "2020", "team_type": "club", "teams": []string{"Reds", "Blues"},
			"toss": map[string]string{"decision": "bat", "winner": "Reds"}, "venue": "Park",
		},
		"innings": innings,
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "1.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A short match without feed faults agrees with the independent count; with faults and restarts it keeps the promises. The same
// seed gives the same replay, which is tested with -short on a match of two overs.
func TestReplay(t *testing.T) {
	t.Parallel()
	clean := cleanRun(t, "1343760")
	for _, problem := range againstCount(clean, readExpected(t)["1343760"]) {
		t.Error(problem)
	}
	faulty := cricketapp.ReplayConfig{Sources: []string{"1343760"}, Faults: 3, Restarts: 2}
	first := replayed(t, faulty)
	for _, problem := range againstClean(first, clean) {
		t.Error(problem)
	}
	if testing.Short() {
		faulty.Sources = []string{oneOver(t)}
		faulty.Clean = func(context.Context, string) (*cricketapp.ReplayReport, error) {
			return cleanRun(t, faulty.Sources[0]), nil
		}
		first = replayed(t, faulty)
	}
	second := replayed(t, faulty)
	if diff := cmp.Diff(first, second, cmpopts.IgnoreUnexported(cricketapp.ReplayReport{})); diff != "" {
		t.Errorf("the same seed (-first +second):\n%s", diff)
	}
}

func TestReplayWithoutBalls(t *testing.T) {
	t.Parallel()
	r := replayed(t, cricketapp.ReplayConfig{Sources: []string{"1343760"}, NoBalls: true})
	for _, problem := range againstCount(r, readExpected(t)["1343760"]) {
		t.Error(problem)
	}
	for _, e := range r.Record {
		if e.BallID != 0 {
			t.Errorf("%s has a ball, but none was read: %+v", e.Key, e)
		}
	}
}

func TestReplaySources(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		source, want string
		kind         fault.Kind
	}{
		{"99999", `no recorded match "99999" and no such file`, fault.NotFound},
		{filepath.Join(dir, "no.json"), "no such file", fault.NotFound},
		{empty, "has no match files", fault.NotFound},
		{write("1.json", "hello"), "is not a Cricsheet match file: it is not valid JSON at byte 1", fault.Invalid},
		{write("2.json", `{"info":{"teams":["A","B"]}}`), "it has no innings", fault.Invalid},
		{write("3.json", `{"data":[]}`), `it has "data", which no match has`, fault.Invalid},
		{write("4.json", `{"info":3}`), "info has a value of the wrong type (number)", fault.Invalid},
		{write("5.json", `{`), "it ends too early", fault.Invalid},
	} {
		err := cricketapp.Replay(t.Context(), cricketapp.ReplayConfig{Sources: []string{tt.source}})
		if err == nil || !strings.Contains(err.Error(), tt.want) || fault.KindOf(err) != tt.kind {
			t.Errorf("%s: %v, want %v %q", tt.source, err, tt.kind, tt.want)
		}
	}
	var failed []error
	write("README.txt", "about")
	write("no.json", "{}")
	passed := map[string]int{}
	err := cricketapp.Replay(t.Context(), cricketapp.ReplayConfig{
		Sources: []string{dir}, Failed: func(err error) { failed = append(failed, err) },
		Passed: func(dir string, files int) { passed[dir] = files },
	})
	if len(failed) != 5 || err == nil || !strings.Contains(err.Error(), "5 of 5") {
		t.Errorf("%d failed, %v", len(failed), err)
	}
	if diff := cmp.Diff(map[string]int{dir: 2}, passed); diff != "" {
		t.Errorf("skipped files (-want +got):\n%s", diff)
	}
}

// An error of Report, such as a lost terminal, ends the replay; so does an interrupt.
func TestReplayEnds(t *testing.T) {
	gone := errors.New("gone")
	short := oneOver(t)
	c := cricketapp.ReplayConfig{Sources: []string{short, short, short}, Parallel: 1, Report: func(*cricketapp.ReplayReport) error { return gone }}
	if err := cricketapp.Replay(t.Context(), c); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c = cricketapp.ReplayConfig{Sources: []string{"1086066"}, Progress: func(string, float64) { cancel() }}
	if err := cricketapp.Replay(ctx, c); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v", err)
	}
}

// An innings is worded as in alerts.
func TestSummaryInnings(t *testing.T) {
	r := &cricketapp.ReplayReport{}
	r.Innings = []cricketapp.SummaryInnings{
		{Team: "Sri Lanka", Runs: 125, Wickets: 8, Overs: "20"},
		{Team: "New Zealand", Runs: 88, Wickets: 10, Overs: "16", AllOut: true},
	}
	var text strings.Builder
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"125/8       (20)\n", "88 all out  (16)\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
