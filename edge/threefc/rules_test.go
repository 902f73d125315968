package threefc

import (
	"encoding/json"
	"fmt"
	"testing"
)

func teamsOf(tallies [3]Tally) (all []GameTeam) {
	for i, id := range TeamIDs() {
		all = append(all, GameTeam{TeamID: id, Name: id, Scored: tallies[i].Scored, Conceded: tallies[i].Conceded})
	}
	return all
}

// Fewest conceded wins, most scored breaks ties. Tallies are of red, blue and yellow, in this order.
func TestResult(t *testing.T) {
	for name, tt := range map[string]struct {
		in       [3]Tally // scored, conceded
		outcomes string
		ranks    string
		points   string
	}{
		"fewest conceded":                       {[3]Tally{{3, 2}, {3, 3}, {3, 4}}, "win loss loss", "123", "012"},
		"equal conceded, more scored":           {[3]Tally{{4, 2}, {3, 2}, {2, 5}}, "win loss loss", "123", "012"},
		"two draw":                              {[3]Tally{{3, 2}, {3, 2}, {3, 5}}, "draw draw loss", "113", "112"},
		"all draw":                              {[3]Tally{{2, 3}, {2, 3}, {2, 3}}, "draw draw draw", "111", "111"},
		"winner though he scored least":         {[3]Tally{{5, 3}, {1, 2}, {4, 5}}, "loss win loss", "213", "102"},
		"two worst":                             {[3]Tally{{2, 4}, {2, 4}, {4, 0}}, "loss loss win", "221", "220"},
		"own goals alone":                       {[3]Tally{{0, 2}, {0, 0}, {0, 1}}, "loss win loss", "312", "201"},
		"nobody has scored":                     {[3]Tally{}, "draw draw draw", "111", "111"},
		"equal best, of whom one scored more":   {[3]Tally{{1, 1}, {2, 1}, {0, 1}}, "loss win loss", "213", "102"},
		"two draw at the top, by scored equals": {[3]Tally{{0, 3}, {2, 1}, {2, 1}}, "loss draw draw", "311", "211"},
	} {
		r := ResultOf(teamsOf(tt.in), "2026-07-04T10:00:00.000Z")
		by, ranks, pts := map[string]string{}, map[string]int{}, map[string]int{}
		for i := range r.Teams {
			id := r.Teams[i].TeamID
			by[id], ranks[id], pts[id] = r.Teams[i].Outcome, r.Teams[i].Rank, points(r, i)
		}
		three := func(m map[string]int) string { return fmt.Sprint(m["red"], m["blue"], m["yellow"]) }
		spaced := func(s string) string { return fmt.Sprintf("%c %c %c", s[0], s[1], s[2]) }
		if got := by["red"] + " " + by["blue"] + " " + by["yellow"]; got != tt.outcomes || three(ranks) != spaced(tt.ranks) || three(pts) != spaced(tt.points) {
			t.Errorf("%s: %s, ranks %s, points %s", name, got, three(ranks), three(pts))
		}
		winner := ""
		if r.WinnerTeamID != nil {
			winner = *r.WinnerTeamID
		}
		if (by[winner] == win) != (winner != "") || r.Comparator != "fewest_conceded_then_most_scored" {
			t.Errorf("%s: winner %q, outcomes %v", name, winner, by)
		}
	}
}

func TestMoment(t *testing.T) {
	for _, tt := range []struct {
		third, elapsed, minute, game, stoppage int
		display                                string
	}{
		{1, 0, 1, 1, 0, "00:00"}, {1, 59, 1, 1, 0, "00:59"}, {1, 60, 2, 2, 0, "01:00"}, {1, 1199, 20, 20, 0, "19:59"},
		{1, 1200, 20, 20, 1, "20+01"}, {1, 1380, 20, 20, 4, "20+04"}, {2, 0, 1, 21, 0, "00:00"}, {3, 1320, 20, 60, 3, "20+03"}, {1, -3, 1, 1, 0, "00:00"},
	} {
		m := MomentAt(20, tt.third, tt.elapsed)
		stoppage := 0
		if m.StoppageMinute != nil {
			stoppage = *m.StoppageMinute
		}
		if m.ThirdMinute != tt.minute || m.GameMinute != tt.game || stoppage != tt.stoppage || m.DisplayTime != tt.display {
			t.Errorf("third %d, %d s: %+v stoppage %d", tt.third, tt.elapsed, m, stoppage)
		}
	}
}

// An own goal counts as conceded and is credited to nobody.
func TestTallies(t *testing.T) {
	red, yellow := "red", "yellow"
	got := Tallies([]Goal{
		{GoalFacts: GoalFacts{Scored: Scored{ScoringTeamID: &red, ConcedingTeamID: "blue"}}},
		{GoalFacts: GoalFacts{Scored: Scored{ConcedingTeamID: "blue", OwnGoal: true}}},
		{GoalFacts: GoalFacts{Scored: Scored{ScoringTeamID: &yellow, ConcedingTeamID: "red"}}},
	})
	if got["red"] != (Tally{1, 1}) || got["blue"] != (Tally{0, 2}) || got["yellow"] != (Tally{1, 0}) {
		t.Errorf("%+v", got)
	}
}

// Steps of a game's clock: which are refused and with which code, and the timer's status after each.
func TestTimer(t *testing.T) {
	g := Game{ThirdLengthMinutes: 20}
	steps := []struct {
		do     func() error
		code   string
		status string
	}{
		{func() error { return g.finish(1, "b") }, "third_not_started", "not_started"},
		{func() error { return g.start(2, "a") }, "previous_third_unfinished", "not_started"},
		{func() error { return g.start(1, "a") }, "", "running"},
		{func() error { return g.start(1, "a") }, "third_already_started", "running"},
		{func() error { return g.start(2, "a") }, "third_already_running", "running"},
		{func() error { return g.finish(1, "b") }, "", "between_thirds"},
		{func() error { return g.finish(1, "b") }, "third_already_finished", "between_thirds"},
		{func() error { return g.start(3, "a") }, "previous_third_unfinished", "between_thirds"},
		{func() error { return g.start(2, "c") }, "", "running"},
		{func() error { return g.finish(2, "d") }, "", "between_thirds"},
		{func() error { return g.start(3, "e") }, "", "running"},
		{func() error { return g.finish(3, "f") }, "", "complete"},
		{func() error { g.FinishedAt = new(string); return g.start(3, "e") }, "game_finished", "complete"},
		{func() error { return g.finish(3, "e") }, "game_finished", "complete"},
	}
	for i, step := range steps {
		err := step.do()
		if codeOf(err) != step.code || g.Timer().Status != step.status {
			t.Errorf("step %d: %v, timer %s; want %q, %s", i, err, g.Timer().Status, step.code, step.status)
		}
	}
	raw, err := json.Marshal((&Game{ThirdLengthMinutes: 25, Thirds: []Third{{Third: 1, StartedAt: new(string)}}}).Timer())
	want := `{"thirdLengthMinutes":25,"activeThird":1,"status":"running","thirds":[` +
		`{"third":1,"startedAt":"","finishedAt":null,"status":"running"},{"third":2,"startedAt":null,"finishedAt":null,"status":"not_started"},` +
		`{"third":3,"startedAt":null,"finishedAt":null,"status":"not_started"}]}`
	if string(raw) != want || err != nil {
		t.Errorf("%s %v", raw, err)
	}
}

// Tables order by wins, then draws, fewest conceded, most scored and name. The London league's table orders by its points first.
func TestStandings(t *testing.T) {
	teams := []SeasonTeam{{TeamID: "red", Name: "Red"}, {TeamID: "blue", Name: "Blue"}, {TeamID: "yellow", Name: "Yellow"}}
	result := func(tallies ...Tally) *Result { return ResultOf(teamsOf([3]Tally(tallies)), "") }
	results := []*Result{
		result(Tally{1, 0}, Tally{0, 1}, Tally{5, 2}), // red wins, blue is second
		result(Tally{1, 2}, Tally{1, 2}, Tally{1, 1}), // yellow wins, the others share second place
		result(Tally{2, 2}, Tally{2, 2}, Tally{2, 2}), // all draw
		result(Tally{0, 3}, Tally{3, 1}, Tally{3, 1}), // blue and yellow draw
	}
	for blissett, want := range map[bool]string{
		false: "yellow 4 1 2 1 6 11;red 4 1 1 2 7 4;blue 4 0 2 2 6 6;",
		true:  "yellow 4 1 2 1 6 11 p4;blue 4 0 2 2 6 6 p5;red 4 1 1 2 7 4 p5;",
	} {
		got := ""
		for i, st := range StandingsOf(teams, results, blissett) {
			got += fmt.Sprint(st.TeamID, " ", st.Played, " ", st.Wins, " ", st.Draws, " ", st.Losses, " ", st.Conceded, " ", st.Scored)
			if st.Points != nil {
				got += fmt.Sprint(" p", *st.Points)
			}
			got += ";"
			if st.Rank != i+1 {
				t.Errorf("rank %d at place %d", st.Rank, i)
			}
		}
		if got != want {
			t.Errorf("blissett %t: %s", blissett, got)
		}
	}
}

func TestLeaders(t *testing.T) {
	names := func(all []Leader) (out string) {
		for i := range all {
			out += fmt.Sprintf("%s %.2f ", all[i].Nickname, all[i].PerGame)
		}
		return out
	}
	in := func() []Leader {
		return []Leader{
			{Nickname: "Al", Goals: 3, Games: 8}, {Nickname: "Bo", Goals: 2, Games: 3}, {Nickname: "Cy", Goals: 3, Games: 8, Assists: 1},
			{Nickname: "Di", OwnGoals: 4, Games: 1}, {Nickname: "Ed"},
		}
	}
	if got := names(LeadersOf(in(), false)); got != "Cy 0.38 Al 0.38 Bo 0.67 Di 0.00 Ed 0.00 " {
		t.Error(got)
	}
	if got := names(LeadersOf(in(), true)); got != "Bo 0.67 Cy 0.38 Al 0.38 Di 0.00 Ed 0.00 " {
		t.Error(got)
	}
	for in, want := range map[[2]int]float64{{1, 8}: 0.13, {1, 3}: 0.33, {2, 3}: 0.67, {1, 200}: 0.01, {0, 0}: 0, {5, 2}: 2.5} {
		if got := rate(in[0], in[1]); got != want {
			t.Errorf("%d in %d games: %v", in[0], in[1], got)
		}
	}
}
