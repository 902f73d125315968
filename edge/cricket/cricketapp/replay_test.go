package cricketapp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
	"github.com/touchline/touchline/internal/fault"
)

// oneOver writes the file of a match with one over a side, for quick tests of what holds for any match. Reds make 12, Blues 10. changes
// are made to its info and to the balls of both innings.
func oneOver(t *testing.T, changes ...func(info map[string]any, balls *[2][]any)) string {
	t.Helper()
	players, people := map[string][]string{}, map[string]string{}
	for i, team := range []string{"Reds", "Blues"} {
		for n := range 11 {
			name := fmt.Sprintf("%s %c", team, 'A'+n)
			players[team] = append(players[team], name)
			people[name] = fmt.Sprintf("%08x", 100*i+n+1)
		}
	}
	var balls [2][]any
	for i, team := range []string{"Reds", "Blues"} {
		for n := range 6 {
			runs := []int{4, 0, 6, 0, 2 - 2*i, 0}[n]
			balls[i] = append(balls[i], map[string]any{
				"batter": team + " A", "non_striker": team + " B", "bowler": []string{"Blues K", "Reds K"}[i],
				"runs": map[string]int{"batter": runs, "extras": 0, "total": runs},
			})
		}
	}
	info := map[string]any{
		"balls_per_over": 6, "city": "Ghent", "dates": []string{"2020-01-01"}, "event": map[string]any{"name": "Cup"}, "gender": "male",
		"match_type": "T20", "officials": map[string]any{"umpires": []string{"U One", "U Two"}},
		"outcome": map[string]any{"winner": "Reds", "by": map[string]int{"runs": 2}}, "overs": 1, "players": players,
		"registry": map[string]any{"people": people}, "season": "2020", "team_type": "club", "teams": []string{"Reds", "Blues"},
		"toss": map[string]string{"decision": "bat", "winner": "Reds"}, "venue": "Park",
	}
	for _, change := range changes {
		change(info, &balls)
	}
	innings := func(team string, balls []any) map[string]any {
		return map[string]any{"team": team, "overs": []any{map[string]any{"over": 0, "deliveries": balls}}}
	}
	raw, err := json.Marshal(map[string]any{
		"meta": map[string]any{"data_version": "1.1.0", "created": "2020-01-02", "revision": 1},
		"info": info, "innings": []any{innings("Reds", balls[0]), innings("Blues", balls[1])},
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

// Files that Cricsheet has, and that no recorded match is like, are played to their end.
func TestReplayOddFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		change         func(info map[string]any, balls *[2][]any)
		reds, blues    int
		result, titled string
	}{
		"without an event": {
			func(info map[string]any, _ *[2][]any) { delete(info, "event") }, 12, 10, "Reds won by 2 runs", "Reds v Blues",
		},
		"an over of 19 balls": {
			func(info map[string]any, balls *[2][]any) {
				first := balls[0][0].(map[string]any)
				for range 13 {
					balls[0] = slices.Insert(balls[0], 1, any(map[string]any{
						"batter": first["batter"], "non_striker": first["non_striker"], "bowler": first["bowler"],
						"runs": map[string]int{"batter": 0, "extras": 1, "total": 1}, "extras": map[string]int{"wides": 1},
					}))
				}
				info["outcome"] = map[string]any{"winner": "Reds", "by": map[string]int{"runs": 15}}
			}, 25, 10, "Reds won by 15 runs", "Reds v Blues, Cup",
		},
		"an over of 19 balls that count": {
			func(info map[string]any, balls *[2][]any) {
				first := balls[1][0].(map[string]any)
				for range 13 {
					balls[1] = slices.Insert(balls[1], 1, any(map[string]any{
						"batter": first["batter"], "non_striker": first["non_striker"], "bowler": first["bowler"],
						"runs": map[string]int{"batter": 0, "extras": 0, "total": 0},
					}))
				}
			}, 12, 10, "Reds won by 2 runs", "Reds v Blues, Cup",
		},
		"a bowl-out": {
			func(info map[string]any, balls *[2][]any) {
				balls[1][4].(map[string]any)["runs"] = map[string]int{"batter": 2, "extras": 0, "total": 2}
				info["outcome"] = map[string]string{"result": "tie", "bowl_out": "Blues"}
				info["bowl_out"] = []any{map[string]string{"bowler": "Blues A", "outcome": "hit"}, map[string]string{"bowler": "Reds A", "outcome": "miss"}}
			}, 12, 12, "Blues won the bowl-out", "Reds v Blues, Cup",
		},
	} {
		for _, noBalls := range []bool{false, true} {
			r := replayed(t, cricketapp.ReplayConfig{Sources: []string{oneOver(t, tt.change)}, NoBalls: noBalls})
			if r.Title != tt.titled || r.Result != tt.result || len(r.Innings) != 2 || r.Innings[0].Runs != tt.reds || r.Innings[1].Runs != tt.blues {
				t.Errorf("%s, no balls %t: %q, %q, %+v", name, noBalls, r.Title, r.Result, r.Innings)
			}
			if len(r.Corrections) > 0 {
				t.Errorf("%s, no balls %t: corrections of what was right: %+v", name, noBalls, r.Corrections)
			}
		}
	}
}

// With faults every alert is listed, also those taken back, and the pushes that light up a phone are counted against those without faults.
func TestReplayCost(t *testing.T) {
	var reports []*cricketapp.ReplayReport
	var cost *cricketapp.ReplayCost
	err := cricketapp.Replay(t.Context(), cricketapp.ReplayConfig{
		Sources: []string{oneOver(t)}, Faults: 26, Seeds: 2,
		Report: func(r *cricketapp.ReplayReport) error { reports = append(reports, r); return nil },
		Cost:   func(c *cricketapp.ReplayCost) error { cost = c; return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	lit, clean, withdrawn := 0, 0, 0
	for i, r := range reports {
		if r.Faults != uint64(26+i) || r.LitUp != len(r.Shown) || r.CleanLitUp == 0 || r.LitUp > len(r.Alerts) {
			t.Errorf("seed %d: %d lit up, %d without faults, %d alerts", r.Faults, r.LitUp, r.CleanLitUp, len(r.Alerts))
		}
		lit, clean = lit+r.LitUp, clean+r.CleanLitUp
		for _, a := range r.Alerts {
			recorded := slices.ContainsFunc(r.Record, func(e cricket.Event) bool { return e.Key == a.Key && e.Alert })
			if a.Withdrawn {
				withdrawn++
			} else if !recorded {
				t.Errorf("seed %d: the alert %s %q is not in the record, and not marked", r.Faults, a.Key, a.Text)
			}
		}
	}
	if cost == nil || cost.Runs != 2 || cost.LitUp != lit || cost.Clean != clean || cost.Worst < cost.Mean || cost.WorstRun == "" {
		t.Errorf("%d reports with %d and %d alerts cost %+v", len(reports), lit, clean, cost)
	}
	if withdrawn == 0 {
		t.Error("no alert was withdrawn: this test tests nothing")
	}
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
