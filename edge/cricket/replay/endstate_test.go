package replay

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type expected struct {
	Innings        []expectedLine
	Result, Winner string
	Deliveries     int
	Events         map[string]int
}

type expectedLine struct {
	Team                 string
	Runs, Wickets        int
	Overs                string
	SuperOver, Forfeited bool
}

// readExpected reads what internal/tools/count found in the source files, without the code of this package.
func readExpected(t *testing.T) map[string]expected {
	t.Helper()
	src, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]expected
	if err := json.Unmarshal(src, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// The totals over all matches are known from an independent count.
func TestExpectedTotals(t *testing.T) {
	got := map[string]int{}
	var hatTricks []string
	for _, in := range List() {
		e := readExpected(t)[in.ID]
		got["deliveries"] += e.Deliveries
		got["innings"] += len(e.Innings)
		for kind, n := range e.Events {
			got[kind] += n
		}
		if e.Events["hat_trick"] > 0 {
			hatTricks = append(hatTricks, in.ID)
		}
	}
	want := map[string]int{
		"deliveries": 26915, "innings": 120, "wicket": 725, "four": 2111, "six": 377,
		"fifty": 119, "hundred": 26, "hundred_fifty": 4, "two_hundred": 2, "five_for": 12, "hat_trick": 3,
		"result": 37, "tie": 3, "draw": 5, "no_result": 3, // 48 matches
		"super_over_start": 7, "consecutive_sixes": 5, "maiden": 605, "innings_end": 111,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"656483", "1192877", "1345428"}, hatTricks); diff != "" {
		t.Errorf("hat-tricks (-want +got):\n%s", diff)
	}
}

// Every match ends in the feed as it ended in the record.
func TestEndState(t *testing.T) {
	all := readExpected(t)
	list := List()
	if len(list) != len(all) || len(list) != 48 {
		t.Fatalf("%d recordings, %d expected", len(list), len(all))
	}
	for _, in := range looped() {
		t.Run(in.ID, func(t *testing.T) { checkEnd(t, in, all[in.ID]) })
	}
}

func checkEnd(t *testing.T, in Info, want expected) {
	d := newDesk(t, in.ID)
	f := d.fixture(d.m.End())
	if f.Status != statusFinished || f.Note == "" {
		t.Errorf("status %q, note %q", f.Status, f.Note)
	}
	if diff := cmp.Diff(want.Innings, linesOf(d.m, f)); diff != "" {
		t.Errorf("innings (-want +got):\n%s", diff)
	}
	if result, winner := resultOf(f); result != want.Result || winner != want.Winner {
		t.Errorf("%s %s, want %s %s (%s)", result, winner, want.Result, want.Winner, f.Note)
	}
	if in.Balls != want.Deliveries || len(f.Balls) != want.Deliveries {
		t.Errorf("%d balls listed, %d sent, want %d", in.Balls, len(f.Balls), want.Deliveries)
	}
	if diff := cmp.Diff(pick(want.Events), countOf(f)); diff != "" {
		t.Errorf("events in rows and balls (-want +got):\n%s", diff)
	}
}

func linesOf(m *Match, f *seenFixture) []expectedLine {
	names := map[int64]string{f.Local.ID: f.Local.Name, f.Visitor.ID: f.Visitor.Name}
	var lines []expectedLine
	for i, r := range f.Runs {
		overs := r.Overs.String()
		if _, err := r.Overs.Int64(); err == nil {
			overs += ".0"
		}
		lines = append(lines, expectedLine{
			Team: names[r.Team], Runs: r.Score, Wickets: r.Wickets, Overs: overs,
			SuperOver: m.rec.Innings[i].SuperOver, Forfeited: m.rec.Innings[i].Forfeited,
		})
	}
	return lines
}

func resultOf(f *seenFixture) (result, winner string) {
	switch {
	case f.WinnerTeam != nil && f.WinnerTeam.ID == f.Winner && f.Draw == nil:
		return "win", f.WinnerTeam.Name
	case f.Draw != nil:
		return *f.Draw, ""
	default:
		return "unknown", ""
	}
}

// countOf counts the events that follow from the final reply alone.
func countOf(f *seenFixture) map[string]int {
	n := map[string]int{}
	for i := range f.Balls {
		b := &f.Balls[i]
		add(n, "four", b.Score.Four)
		add(n, "six", b.Score.Six)
	}
	for _, b := range f.Batting {
		add(n, "wicket", b.Wicket != scoreNotOut)
		for at, kind := range map[int]string{50: "fifty", 100: "hundred", 150: "hundred_fifty", 200: "two_hundred"} {
			add(n, kind, b.Score >= at)
		}
	}
	for _, b := range f.Bowling {
		n["maiden"] += b.Medians
		add(n, "five_for", b.Wickets >= 5)
	}
	for kind, v := range n {
		if v == 0 {
			delete(n, kind)
		}
	}
	return n
}

func add(n map[string]int, kind string, is bool) {
	if is {
		n[kind]++
	}
}

// pick returns the counts of the kinds that countOf knows.
func pick(events map[string]int) map[string]int {
	n := map[string]int{}
	for _, kind := range []string{
		"four", "six", "wicket", "fifty", "hundred", "hundred_fifty", "two_hundred", "maiden", "five_for",
	} {
		if events[kind] > 0 {
			n[kind] = events[kind]
		}
	}
	return n
}

func TestResultNotes(t *testing.T) {
	want := map[string]string{
		"1384439": "Australia won by 6 wickets",
		"947101":  "Sussex won by 1 run (DLS)",
		"1383434": "Mumbai won by 8 wickets (VJD)",
		"1239545": "England won by an innings and 76 runs",
		"1144530": "Match tied (England won on boundary count)",
		"1216517": "Match tied (Kings XI Punjab won the Super Over)",
		"1233463": "Match tied (Zimbabwe won the Super Over)",
		"287862":  "Match tied (India won the bowl-out)",
		"804705":  "Match tied (Lancashire won by losing fewer wickets)",
		"1273144": "Ghana won (match awarded)",
		"530323":  "Match tied (DLS)",
		"1382168": "Match tied",
		"1086066": "Match drawn",
		"1031669": "No result",
		"1073430": "India won by 1 wicket",
	}
	got := map[string]string{}
	for _, in := range List() {
		if want[in.ID] != "" {
			got[in.ID] = in.Result
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// No two teams or players share an id, and no two matches share the ids of their rows.
func TestIDsAreDistinct(t *testing.T) {
	owner := map[int64]string{}
	claim := func(id int64, who string) {
		t.Helper()
		if other := owner[id]; id <= 0 || other != "" && other != who {
			t.Errorf("%q and %q share the id %d", other, who, id)
		}
		owner[id] = who
	}
	rows := map[int64]string{}
	for _, in := range List() {
		m := mustLoad(t, in.ID)
		for i := range m.rec.Teams {
			team := &m.rec.Teams[i]
			claim(m.static.teamIDs[i], "team "+m.rec.Gender+" "+team.Name)
			for k := range team.Players {
				claim(playerID(&team.Players[k]), "player "+team.Players[k].Registry)
			}
		}
		key := m.rowBase(1)
		if rows[key] != "" {
			t.Errorf("%s and %s share the ids of their rows", rows[key], in.ID)
		}
		rows[key] = in.ID
	}
}

// The ids of balls rise by random steps from 1 to 9, which are the same on every load.
func TestIDsOfBalls(t *testing.T) {
	gaps := map[int64]int{}
	for _, in := range List() {
		m, again := mustLoad(t, in.ID), mustLoad(t, in.ID)
		for i := range m.balls {
			if m.balls[i].id != again.balls[i].id {
				t.Fatalf("%s: ids %d and %d for one ball", in.ID, m.balls[i].id, again.balls[i].id)
			}
			if i > 0 {
				gaps[m.balls[i].id-m.balls[i-1].id]++
			}
		}
	}
	for gap, n := range gaps {
		if gap < 1 || gap > 9 || n < 1000 {
			t.Errorf("%d gaps of %d", n, gap)
		}
	}
}
