package cricket

import (
	"strings"
	"testing"
)

// The row of an innings gets what the chase needs by the revised target, and keeps it after the match. Phones get the revised
// target as an event of its own, not as a correction.
func TestNeedOfARevisedTarget(t *testing.T) {
	s := newScript(t, 1)
	s.innings(teamA)
	s.play("1 1 1 1 1 1")
	row := func(want string) {
		t.Helper()
		if got := s.rows["inn:1"].Text; got != want {
			t.Errorf("the innings ended as %q, want %q", got, want)
		}
	}
	row("ALP 6/0 (1). BET need 7")
	s.snap.Status, s.snap.RevTarget, s.snap.RevOvers = "Innings Break", 5, "0.4"
	s.polls(8)
	row("ALP 6/0 (1). BET need 5 off 0.4")
	s.innings(teamB)
	s.play("1 1 . .")
	s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamA, "Alphas won by 2 runs (DLS)"
	s.snap.RevTarget, s.snap.RevOvers = 0, ""
	s.polls(8)
	row("ALP 6/0 (1). BET need 5 off 0.4")
	want(t, s.keys(EventInningsEnd, EventTargetRevised, EventCorrection)[:2], "inn:1!", "dls:5:0.4!")
	for _, text := range s.texts(EventCorrection) {
		if strings.Contains(text, "need") {
			t.Errorf("correction %q", text)
		}
	}
}

// When the feed calls the match finished in its innings break, phones still get what the chase needs.
func TestNeedAfterABreakCalledFinished(t *testing.T) {
	s := newScript(t, 1)
	s.innings(teamA)
	s.bowl("1 1 1 1 1 1")
	s.snap.Status = "Finished"
	s.polls(8)
	s.snap.Status = "Innings Break"
	s.polls(8)
	want(t, s.texts(EventInningsEnd, EventCorrection), "ALP 6/0 (1). BET need 7")
}

// Targets and results name the rain rule: a note that names another rule than was assumed corrects both, and a note that names
// none changes nothing.
func TestRainRuleNamedLate(t *testing.T) {
	t.Run("target", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1 1")
		s.innings(teamB)
		s.polls(4)
		s.snap.RevTarget, s.snap.RevOvers = 149, "18"
		s.polls(4)
		s.snap.Note = "Target 149 runs from 18 overs (VJD)"
		s.polls(4)
		s.snap.Note = ""
		s.polls(4)
		want(t, s.texts(EventTargetRevised, EventCorrection), "Revised target: 149 off 18 (DLS)", "Correction: Revised target: 149 off 18 (VJD)")
		if got := s.rows["dls:149:18"].Text; got != "Revised target: 149 off 18 (VJD)" {
			t.Errorf("the row is %q", got)
		}
	})
	t.Run("target without an alert", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1 1")
		for range finerAlerts {
			s.state.AlertTimes = append(s.state.AlertTimes, s.now.UnixMilli())
		}
		s.innings(teamB)
		s.snap.RevTarget, s.snap.RevOvers = 149, "18"
		s.polls(4)
		s.snap.Note = "Target 149 runs from 18 overs (VJD)"
		s.polls(4)
		want(t, s.keys(EventTargetRevised, EventCorrection), "dls:149:18-budget")
		if got := s.rows["dls:149:18"].Text; got != "Revised target: 149 off 18 (VJD)" {
			t.Errorf("the row is %q", got)
		}
	})
	t.Run("result", func(t *testing.T) {
		s := newScript(t, 1)
		s.innings(teamA)
		s.play("1 1 1 1 1 1")
		s.innings(teamB)
		s.snap.RevTarget, s.snap.RevOvers = 5, "0.4"
		s.play("6")
		s.snap.Status, s.snap.Winner = "Finished", teamB
		s.polls(4)
		s.snap.Note = "Betas won by 10 wickets (VJD)"
		s.polls(4)
		s.snap.Note = "Betas won by 10 wickets"
		s.polls(4)
		want(t, s.texts(EventResult), "Betas won by 10 wickets (DLS)")
		if got := s.texts(EventCorrection); len(got) == 0 || got[len(got)-1] != "Correction: Betas won by 10 wickets (VJD)" {
			t.Errorf("corrections %q", got)
		}
		if got := s.rows[resultKey].Text; got != "Betas won by 10 wickets (VJD)" {
			t.Errorf("the row is %q", got)
		}
	})
}

// Line-ups name the fielders: a snapshot without them is doubted for a while, as one without balls is. When the name comes
// after the announcement, the wicket is corrected.
func TestFielderNamedLate(t *testing.T) {
	caught := func(s *script) {
		s.ball("W")
		b := &s.snap.Balls[len(s.snap.Balls)-1]
		b.Outcome, b.CatchID = "Catch Out", 207
		s.row(1, b.BatterID).CatchID = 207
	}
	t.Run("line-ups are left out", func(t *testing.T) {
		s := newScript(t, 20)
		s.snap.LineUp = bothLineUps
		s.innings(teamA)
		s.play("1 1")
		caught(s)
		fielder := s.snap.Players[207]
		delete(s.snap.Players, 207)
		s.snap.LineUp = 0
		s.polls(4)
		s.snap.LineUp, s.snap.Players[207] = bothLineUps, fielder
		s.polls(4)
		want(t, s.texts(EventWicket, EventCorrection), "WICKET! P101 c P207 b P211 1 (2) · ALP 2/1 (0.3)")
		s.snap.LineUp = 0
		delete(s.snap.Players, 207)
		s.polls(doubtPolls)
		if s.state.Doubts > 0 {
			t.Error("snapshots without line-ups are still doubted")
		}
		s.polls(8)
		want(t, s.keys(EventCorrection))
	})
	t.Run("the name comes later", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1 1")
		fielder := s.snap.Players[207]
		delete(s.snap.Players, 207)
		caught(s)
		s.polls(4)
		s.snap.Players[207] = fielder
		s.polls(8)
		want(t, s.texts(EventWicket, EventCorrection),
			"WICKET! P101 caught b P211 1 (2) · ALP 2/1 (0.3)", "Correction: P101 c P207 b P211 1 (2) · ALP 2/1 (0.3)")
	})
}

// A wicket that only the score shows gets its batter once a row names one, and keeps the batter when a later snapshot does not.
func TestWicketNamedLate(t *testing.T) {
	for name, full := range map[string]bool{"alerted": false, "not alerted": true} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, 20)
			s.innings(teamA)
			s.play("1 1")
			if full {
				for range firstAlerts {
					s.state.AlertTimes = append(s.state.AlertTimes, s.now.UnixMilli())
				}
			}
			in := &s.snap.Innings[0]
			in.Wickets, in.UpdatedAt = 1, s.now
			s.polls(4)
			row := s.row(1, 102)
			row.Out, row.HowOut, row.FoWOvers, row.FoWRuns = true, "Retired out", "0.2", 2
			s.polls(4)
			row.Out, row.HowOut, row.FoWOvers, row.FoWRuns = false, "", "", 0
			s.polls(4)
			if got := s.rows["w:1:1"]; got.Text != "WICKET! P102 retired out 1 (1) · ALP 2/1 (0.2)" || got.Detail != "retired_out" {
				t.Errorf("the row is %+v", got)
			}
			if full {
				want(t, s.keys(EventWicket, EventCorrection), "w:1:1-budget")
			} else {
				want(t, s.texts(EventWicket, EventCorrection), "WICKET! ALP 2/1 (0.2)", "Correction: P102 retired out 1 (1) · ALP 2/1 (0.2)")
			}
		})
	}
}

// A wicket is corrected when the runs of the batter change.
func TestRunsOfABatterOut(t *testing.T) {
	s := announcedWicket(t)
	s.runs(&s.snap.Balls[0], 1)
	s.polls(4)
	want(t, s.texts(EventCorrection), "Correction: P101 b P211 2 (2) · ALP 3/1 (0.3)")
}

// When a score is revised, so are the lead in the row of an innings' end, the deficit in that of a follow-on and the score in
// that of a declaration.
func TestLeadIsRevised(t *testing.T) {
	s := newScript(t, 0)
	s.snap.Type = "Test/5day"
	s.innings(teamA)
	s.play("6 6 1")
	s.snap.Innings[0].UpdatedAt = s.now
	s.innings(teamB)
	s.play("1")
	s.snap.Status = "Innings Break"
	s.polls(8)
	want(t, s.texts(EventInningsEnd), "ALP 13/0 dec (0.3)", "BET 1/0 dec (0.1), trail by 12")
	s.runs(&s.snap.Balls[0], 1)
	s.polls(8)
	for key, text := range map[string]string{"inn:2": "BET 1/0 dec (0.1), trail by 13", "dec:1": "ALP declare 14/0"} {
		if got := s.rows[key].Text; got != text {
			t.Errorf("%s is %q, want %q", key, got, text)
		}
	}
	want(t, s.texts(EventCorrection)[:1], "Correction: ALP 14/0 dec (0.3); BET 1/0 dec (0.1), trail by 13")
	s.snap.FollowOn = true
	s.polls(8)
	s.runs(&s.snap.Balls[0], -1)
	s.polls(8)
	if got := s.rows[followOnKey].Text; got != "BET follow on, trail by 12" {
		t.Errorf("the follow-on is %q", got)
	}
}

// The row of the toss gets the choice when the feed has it, and another winner; a snapshot without a toss does not change it.
func TestTossIsRevised(t *testing.T) {
	s := newScript(t, 20)
	row := func(want string) {
		t.Helper()
		s.polls(8)
		if got := s.rows[tossKey].Text; got != want {
			t.Errorf("the toss is %q, want %q", got, want)
		}
	}
	s.snap.Toss = Toss{TeamID: teamA}
	row("ALP won the toss")
	s.snap.Toss.Chose = "batting"
	row("ALP won the toss, chose to bat")
	s.snap.Toss = Toss{}
	row("ALP won the toss, chose to bat")
	s.snap.Toss = Toss{TeamID: teamB, Chose: "bowling"}
	row("BET won the toss, chose to field")
	want(t, s.keys(EventCorrection))
}

// A wicket that no ball shows, of a batter who retired between two balls, is announced with the score at which it fell.
func TestScoreOfASilentWicket(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 1")
	row := s.row(1, 102)
	row.Out, row.HowOut, row.FoWOvers, row.FoWRuns = true, "Retired out", "0.2", 2
	s.snap.Innings[0].Wickets++
	s.pair = [2]int64{101, 103}
	s.snap.Batting = append(s.snap.Batting, BattingRow{Innings: 1, TeamID: teamA, PlayerID: 103})
	s.bowl("2 2")
	s.polls(4)
	want(t, s.texts(EventWicket), "WICKET! P102 retired out 1 (1) · ALP 2/1 (0.2)")
}
