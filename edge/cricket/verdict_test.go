package cricket

import (
	"testing"
	"time"
)

// In a match of several days, a missing score line is a forfeited innings; in limited overs it is not.
func TestForfeitedWithoutLine(t *testing.T) {
	s := newScript(t, 0)
	s.snap.Type = "4day"
	s.innings(teamA)
	s.play("4 . W")
	s.innings(teamB)
	s.snap.Innings[1].No, s.snap.Batting = 3, s.snap.Batting[:3]
	s.snap.Innings[1].TeamID = teamA
	for i := range 2 {
		s.snap.Batting = append(s.snap.Batting, BattingRow{Innings: 3, TeamID: teamA, PlayerID: int64(104 + i)})
	}
	s.pair, s.next = [2]int64{104, 105}, 106
	s.play("6 1")
	want(t, s.keys(EventInningsEnd), "inn:1!", "inn:2-merged")
	if got := s.texts(EventInningsEnd); got[1] != "BET forfeit the innings" {
		t.Errorf("announced as %q", got)
	}
	if d := s.poll().Display; len(d.Innings) != 2 || d.Innings[1].No != 3 || d.Innings[1].Runs != 7 {
		t.Errorf("the display has %+v", d.Innings)
	}
	s.snap.Overs = 20
	if got := s.snap.sanitize().Innings; len(got) != 1 {
		t.Errorf("in limited overs the score lines are %+v, want one", got)
	}
}

// The end of the deciding innings is merged into the result; after a wicket or in a tie it is announced before the result.
func TestDecidingInningsEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		second string
		winner int64
		note   string
		want   []string
	}{
		"target":       {"4 4", teamB, "Betas won by 10 wickets", []string{"inn:1!", "inn:2-merged", "result!"}},
		"out of overs": {"1 1 . . . .", teamA, "Alphas won by 4 runs", []string{"inn:1!", "inn:2-merged", "result!"}},
		"last wicket":  {"1 1 . . . W", teamA, "Alphas won by 4 runs", []string{"inn:1!", "w:2:1-merged", "inn:2!", "result!"}},
		"tie":          {"1 1 1 1 1 1", 0, "Match tied", []string{"inn:1!", "inn:2!", "result!"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, 1)
			s.innings(teamA)
			s.play("1 1 1 1 1 1")
			s.innings(teamB)
			s.play(tc.second)
			s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", tc.winner, tc.note
			s.polls(4)
			want(t, s.keys(EventWicket, EventInningsEnd, EventResult, EventTie), tc.want...)
		})
	}
}

// When the score reaches the target, the result is announced before the feed calls the match finished, and not again after.
func TestTargetReachedIsTheResult(t *testing.T) {
	s := newScript(t, 1)
	s.innings(teamA)
	s.play("1 1 1 1 1 1")
	s.innings(teamB)
	s.play("4 4")
	i := len(s.confirmed) - 1
	if e := s.confirmed[i]; e.Type != EventResult || e.Key != resultKey || e.Detail != "target_reached" || e.Text != "Betas won by 10 wickets" || !e.Alert {
		t.Errorf("announced as %+v", e)
	}
	if !s.state.FinishedAt.IsZero() {
		t.Error("finished before the feed says so")
	}
	s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamB, "Betas won by 10 wickets"
	s.polls(8)
	if s.state.FinishedAt.IsZero() {
		t.Error("not finished when the feed says so")
	}
	want(t, s.keys(EventResult, EventCorrection), "result!")
}

// The result names a rain rule if the target is not the one that the scores give, or if the note names a rule; fewer overs for
// both sides are not enough.
func TestRainRuleIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		target     int
		note, want string
	}{
		"shorter for both":  {7, "", "Betas won by 10 wickets"},
		"target not named":  {0, "", "Betas won by 10 wickets"},
		"revised target":    {5, "", "Betas won by 10 wickets (DLS)"},
		"the note names it": {7, "Target 7 runs (VJD)", "Betas won by 10 wickets (VJD)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, 20)
			s.snap.RevOvers = "1.0"
			s.innings(teamA)
			s.play("1 1 1 1 1 1")
			s.innings(teamB)
			s.snap.RevTarget, s.snap.Note = tc.target, tc.note
			s.play("4 4")
			s.snap.Status, s.snap.Winner = "Finished", teamB
			s.polls(4)
			if got := s.texts(EventResult); len(got) != 1 || got[0] != tc.want {
				t.Errorf("announced as %q, want %q", got, tc.want)
			}
			revised := []string{"Match reduced to 1 overs a side"}
			if tc.target == 5 {
				revised = append(revised, "Revised target: 5 off 1 (DLS)")
			}
			want(t, s.texts(EventTargetRevised), revised...)
		})
	}
}

// A close chase is corrected when the score was wrong, but not when the target was revised.
func TestCloseChase(t *testing.T) {
	chase := func(t *testing.T) *script {
		s := newScript(t, 5)
		s.innings(teamA)
		s.play("6 6 6 6 6 6 6 6 6 4 . . . . . . . . . . . . . . . . . . . .")
		s.innings(teamB)
		s.play("1")
		want(t, s.keys(EventChaseClose), "close!")
		return s
	}
	t.Run("revised target", func(t *testing.T) {
		s := chase(t)
		s.snap.RevTarget, s.snap.RevOvers = 80, "4.0"
		s.polls(8)
		want(t, s.keys(EventTargetRevised, EventCorrection), "dls:80:4!")
	})
	t.Run("wrong score", func(t *testing.T) {
		s := chase(t)
		in := &s.snap.Innings[1]
		in.Runs, in.UpdatedAt = 0, s.now
		s.row(2, 201).Runs = 0
		s.snap.Balls[len(s.snap.Balls)-1].Runs = 0
		s.polls(int(time.Minute / (2500 * time.Millisecond)))
		want(t, s.texts(EventCorrection), "Correction: the chase is not that close · BET 0/0 (0.1)")
	})
}

// "Delayed" in a match with a score is an interruption. Interruptions, breaks and the close of play are reported once they have
// lasted half a minute.
func TestStatusHold(t *testing.T) {
	for status, key := range map[Status]string{"Delayed": "int:0.3!", "Int.": "int:0.3!", "Lunch": "brk:1:lunch", "Stump Day 1": "stumps:1!"} {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1 . .")
		before := len(s.confirmed)
		s.snap.Status = status
		s.polls(12) // 27.5 s
		if len(s.confirmed) != before {
			t.Errorf("%s: reported %v within half a minute", status, s.keys()[before:])
		}
		s.polls(2)
		want(t, s.keys()[before:], key)
	}
}

// A row with impossibly many fours or maidens is left out: the rules go through them one by one.
func TestImpossibleRows(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 . W")
	s.fill()
	s.snap.Batting[0].Fours = 1 << 40
	s.snap.Bowling[0].Maidens = 1 << 40
	fixed := s.snap.sanitize()
	if len(fixed.Batting) != len(s.snap.Batting)-1 || len(fixed.Bowling) != len(s.snap.Bowling)-1 {
		t.Errorf("%d batters and %d bowlers are left of %d and %d", len(fixed.Batting), len(fixed.Bowling), len(s.snap.Batting), len(s.snap.Bowling))
	}
}

// An interruption that ends soon after its announcement is corrected, without an alert, and its row is deleted; one that has
// lasted is not. A delay does not end an interruption.
func TestShortInterruption(t *testing.T) {
	for _, tc := range []struct {
		polls int
		next  Status
		want  string
	}{
		{40, "1st Innings", "Correction: play goes on"}, {40, "Innings Break", "Correction: Innings Break"}, {40, "Delayed", ""},
		{40, "Stump Day 1", "Correction: stumps"}, {200, "1st Innings", ""},
	} {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1 . .")
		s.snap.Status = "Int."
		s.polls(tc.polls)
		want(t, s.keys(EventInterrupted), "int:0.3!")
		s.snap.Status = tc.next
		s.polls(4)
		corrections := []string{}
		if tc.want != "" {
			corrections = append(corrections, tc.want)
		}
		want(t, s.texts(EventCorrection), corrections...)
		s.snap.Status = "1st Innings"
		s.polls(16)
		s.snap.Status = "Int."
		lasted := tc.polls == 200
		if _, stands := s.rows["int:0.3"]; stands != lasted {
			t.Errorf("the row is there: %v", stands)
		}
		s.polls(16)
		again := []string{"int:0.3!"}
		if !lasted {
			again = append(again, "int:0.3-cooldown") // a flapping status alerts once
		}
		want(t, s.keys(EventInterrupted), again...)
		for _, e := range s.confirmed {
			if e.Type == EventCorrection && (e.Alert && e.Detail != "inn:1" || e.Detail != "int:0.3" && e.Detail != "inn:1") {
				t.Errorf("correction %+v", e)
			}
		}
	}
}

// A score level at the end of a T20 is not told as a tie while a super over may follow: only if the note names the tie, or after ten
// minutes.
func TestTieWaitsForASuperOver(t *testing.T) {
	s := newScript(t, 1)
	s.innings(teamA)
	s.play("1 1 1 1 1 1")
	s.innings(teamB)
	s.play("1 1 1 1 1 1")
	s.snap.Status = "Finished"
	s.polls(200)
	want(t, s.keys(EventTie))
	s.polls(60)
	want(t, s.keys(EventTie), "result!")
}

// A result that the score gave is taken back when play visibly goes on, and one ball more is no play.
func TestTargetThatWasNone(t *testing.T) {
	s := newScript(t, 5)
	s.innings(teamA)
	s.play("1 1 1 1")
	s.innings(teamB)
	s.play("1 4")
	want(t, s.keys(EventResult), "result!")
	s.play("1")
	want(t, s.keys(EventCorrection))
	s.play("1 1 1")
	want(t, s.texts(EventCorrection), "Correction: the match is not over · BET 7/0 (0.4)")
}

// Rain before the first ball delays the start. Statuses that the feed's documents do not have are told by their words.
func TestStatusesOfTheSkies(t *testing.T) {
	for _, tc := range []struct {
		status Status
		begun  bool
		want   string
	}{
		{"Int.", false, "Start delayed"},
		{"Int.", true, "Rain stops play: ALP 1/0 (0.1)"},
		{"Wet Outfield", false, "Start delayed: Wet Outfield"},
		{"Wet Outfield", true, "Play stopped (Wet Outfield): ALP 1/0 (0.1)"},
		{"Stumps Day 2", true, "Stumps day 2: ALP 1/0"},
	} {
		s := newScript(t, 20)
		if tc.status == "Stumps Day 2" {
			s.snap.Overs, s.snap.Type = 0, "4day"
		}
		if tc.begun {
			s.innings(teamA)
			s.play("1")
		}
		s.snap.Status = tc.status
		s.polls(16)
		if got := s.texts(EventDelayed, EventInterrupted, EventStumps); len(got) != 1 || got[0] != tc.want {
			t.Errorf("%s: told %q, want %q", tc.status, got, tc.want)
		}
		if listed := tc.status == "Int."; tc.status.IsListed() != listed {
			t.Errorf("%s is documented: %t", tc.status, !listed)
		}
	}
}

// Two captains forfeit an innings each: the feed has lines of the first and the fourth, and there is a chase.
func TestForfeitedWithoutLines(t *testing.T) {
	s := newScript(t, 0)
	s.snap.Type = "4day"
	s.innings(teamA)
	s.play("4 4 1")
	s.snap.Status = "Innings Break"
	s.polls(4)
	s.innings(teamB)
	s.snap.Innings[1].No, s.snap.Status = 4, "4th Innings"
	for i := range s.snap.Batting {
		if s.snap.Batting[i].Innings == 2 {
			s.snap.Batting[i].Innings = 4
		}
	}
	s.polls(8)
	want(t, s.texts(EventInningsEnd), "ALP 9/0 dec (0.3)", "BET forfeit the innings", "ALP forfeit the innings. BET need 10")
	if d := s.poll().Display; d.Target != 10 || len(d.Innings) != 2 {
		t.Errorf("the display has a target of %d and innings %+v", d.Target, d.Innings)
	}
}

// The women's Hundred has overs of five balls however it is written, and sides with one code go by their names.
func TestTypesAndCodes(t *testing.T) {
	for kind, balls := range map[string]int{"100-Ball": 5, "100-ball": 5, "Woman 100-Ball": 5, "The Hundred": 5, "T20": 6} {
		if got := (&Snapshot{Type: kind}).BallsPerOver(); got != balls {
			t.Errorf("%s has overs of %d balls", kind, got)
		}
	}
	s := &Snapshot{Teams: [2]Team{{1, "India A", "IND"}, {2, "India Women", "ind"}}}
	if a, b := s.code(1), s.code(2); a != "India A" || b != "India Women" {
		t.Errorf("the sides are %s and %s", a, b)
	}
}
