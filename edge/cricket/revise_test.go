package cricket

import (
	"slices"
	"strings"
	"testing"
)

// runs adds runs to a ball, its batting row and the score, as when a scorer corrects the ball.
func (s *script) runs(b *Ball, more int) {
	b.Runs += more
	in := &s.snap.Innings[b.Innings-1]
	in.Runs += more
	in.UpdatedAt = s.now
	s.row(b.Innings, b.BatterID).Runs += more
}

// without polls the feed without some of the balls until it is accepted so, then with all of them.
func (s *script) without(balls ...int) {
	all := s.snap.Balls
	s.snap.Balls = slices.Clone(all)
	for _, i := range slices.Backward(balls) {
		s.snap.Balls = slices.Delete(s.snap.Balls, i, i+1)
	}
	s.polls(doubtPolls + inconsistentPolls + 4)
	s.snap.Balls = all
	s.polls(6)
}

// When the feed revises a ball, the record of the events that came of it is revised too. Phones get a correction only of what
// they were alerted to.
func TestRecordIsRevised(t *testing.T) {
	t.Run("a maiden gets a run", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play(". . . . . .")
		if _, is := s.rows["md:1:1"]; !is {
			t.Fatal("no maiden is recorded")
		}
		s.runs(&s.snap.Balls[3], 2)
		s.polls(6)
		if row, is := s.rows["md:1:1"]; is {
			t.Errorf("the maiden is still there: %+v", row)
		}
		if got := s.rows["ov:1:1"].Text; got != "Over 1: 0 0 0 2 0 0 (2)" {
			t.Errorf("the over is %q", got)
		}
		want(t, s.keys(EventOverEnd, EventMaiden, EventCorrection), "md:1:1", "ov:1:1")
	})
	t.Run("a new batter and a bowler on a hat-trick are taken back", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("W W")
		s.ball("1")
		s.polls(6)
		for _, key := range []string{"oht:1:211:2", "nb:1:104"} {
			if _, is := s.rows[key]; !is {
				t.Fatalf("no %s is recorded in %v", key, s.keys())
			}
		}
		b, last := &s.snap.Balls[1], &s.snap.Balls[2]
		row := s.row(1, b.BatterID)
		row.Out, row.BowlerID, row.FoWOvers, row.FoWRuns = false, 0, "", 0
		b.Wicket, b.Outcome = false, ""
		last.BatterID, last.PairIDs = b.BatterID, b.PairIDs
		s.snap.Innings[0].Wickets--
		s.snap.Innings[0].UpdatedAt = s.now
		s.polls(6)
		for _, key := range []string{"oht:1:211:2", "nb:1:104"} {
			if row, is := s.rows[key]; is {
				t.Errorf("the row is still there: %+v", row)
			}
		}
		want(t, s.keys(EventCorrection), "corr:w:1:2!")
	})
	t.Run("phones were alerted", func(t *testing.T) {
		s := newScript(t, 20)
		s.options.Alerts = map[EventType]bool{EventSix: true, EventFour: true, EventOnHatTrick: true}
		s.innings(teamA)
		s.play("1")
		s.ball("6")
		s.polls(4)
		s.runs(&s.snap.Balls[0], 1) // changes only the score in the text: no alert
		s.polls(4)
		six := &s.snap.Balls[1]
		if got := s.rows["6:1:102:1"].Text; got != "SIX! P102 · ALP 8/0 (0.2)" {
			t.Errorf("the six is %q", got)
		}
		want(t, s.keys(EventCorrection))
		s.runs(six, -2)
		six.Six, six.Four = false, true
		s.polls(4)
		want(t, s.texts(EventCorrection), "Correction: FOUR! P102 · ALP 6/0 (0.2)")
		if row := s.rows["4:1:102:1"]; row.Type != EventFour {
			t.Errorf("the row is %+v", row)
		}
	})
	t.Run("another batter was out", func(t *testing.T) {
		s := announcedWicket(t)
		b := &s.snap.Balls[len(s.snap.Balls)-1]
		mine, other := s.row(1, b.BatterID), s.row(1, s.pair[1])
		other.Out, other.BowlerID, other.FoWOvers, other.FoWRuns = true, mine.BowlerID, mine.FoWOvers, mine.FoWRuns
		mine.Out, mine.BowlerID, mine.FoWOvers = false, 0, ""
		b.OutID, b.Outcome = s.pair[1], "Run Out"
		s.polls(4)
		if row := s.rows["w:1:1"]; !strings.HasPrefix(row.Text, "WICKET! P102 run out") || row.Detail != "run_out" {
			t.Errorf("the row is %+v", row)
		}
	})
	t.Run("penalty runs do not change earlier scores", func(t *testing.T) {
		s := announcedWicket(t)
		before := s.rows["w:1:1"].Text
		in := &s.snap.Innings[0]
		in.Runs, in.Penalty, in.UpdatedAt = in.Runs+5, 5, s.now
		s.polls(6)
		if got := s.rows["w:1:1"].Text; got != before {
			t.Errorf("%q has become %q", before, got)
		}
	})
	t.Run("an over whose last ball came late", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play(". . . . 4")
		s.ball("1")
		late := s.snap.Balls[5]
		s.snap.Balls = s.snap.Balls[:5]
		s.polls(inconsistentPolls + 4)
		if got := s.rows["ov:1:1"].Text; got != "End of over 1: ALP 5/0 (1)" {
			t.Fatalf("without its last ball the over is %q", got)
		}
		s.snap.Balls = append(s.snap.Balls, late)
		s.polls(6)
		if got := s.rows["ov:1:1"].Text; got != "Over 1: 0 0 0 0 4 1 (5)" {
			t.Errorf("the over is %q", got)
		}
		want(t, s.keys(EventOverEnd, EventCorrection), "ov:1:1")
	})
	t.Run("a ball that was gone for a while", func(t *testing.T) {
		s := newScript(t, 5)
		s.innings(teamA)
		s.play("6 6 6 6 6 6 6")
		s.innings(teamB)
		before := s.snap
		before.Batting = slices.Clone(s.snap.Batting)
		before.Innings = slices.Clone(s.snap.Innings)
		s.play("1")
		with := s.rows[closeKey].Text
		after := s.snap
		s.snap = before
		s.snap.Innings[1].UpdatedAt = s.now
		s.polls(6)
		if without := s.rows[closeKey].Text; with != "BET need 42 off 29" || without != "BET need 43 off 30" {
			t.Fatalf("with its ball the chase is %q, without %q", with, without)
		}
		s.snap = after
		s.polls(6)
		if got := s.rows[closeKey].Text; got != with {
			t.Errorf("the chase is %q", got)
		}
	})
	t.Run("boundaries whose balls were gone for a while", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("6 . . . . .")
		s.play("4 . . . . . 1")
		keys := s.keys()
		s.without(0, 6)
		want(t, s.keys(), keys...)
	})
	t.Run("a maiden whose ball was gone for a while", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play(". . . . . . 1 1")
		s.snap.Bowling = []BowlingRow{{Innings: 1, TeamID: teamB, PlayerID: s.snap.Balls[0].BowlerID, Overs: "1.0", Maidens: 1}}
		s.poll()
		keys := s.keys()
		s.without(3)
		want(t, s.keys(), keys...)
	})
	t.Run("a six and a maiden of the rows are taken back", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1 6 . . . .")
		s.bowl("4 1")
		b := s.snap.Balls[6]
		s.snap.Balls = slices.Delete(slices.Clone(s.snap.Balls), 6, 7)
		row := s.row(1, b.BatterID)
		row.Fours, row.Sixes = 0, row.Sixes+1
		s.snap.Bowling = []BowlingRow{{Innings: 1, TeamID: teamB, PlayerID: 211, Overs: "1.0", Maidens: 1}}
		s.polls(doubtPolls + inconsistentPolls + 4)
		want(t, s.keys(EventFour, EventSix, EventMaiden), "6:1:102:1", "6:1:102:2", "mdr:1:211:1")
		row.Fours, row.Sixes = 1, row.Sixes-1
		s.snap.Bowling[0].Maidens = 0
		s.snap.Balls = slices.Insert(s.snap.Balls, 6, b)
		s.polls(6)
		want(t, s.keys(EventFour, EventSix, EventMaiden, EventCorrection), "6:1:102:1", "6:1:102:2", "mdr:1:211:1", "4:1:102:1")
		for _, key := range []string{"6:1:102:2", "mdr:1:211:1"} {
			if row, is := s.rows[key]; is {
				t.Errorf("the row is still there: %+v", row)
			}
		}
	})
	t.Run("a four of the rows gets its ball", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("6 6 6")
		s.bowl("4 1")
		late := s.snap.Balls[3]
		s.snap.Balls = slices.Delete(slices.Clone(s.snap.Balls), 3, 4)
		s.polls(doubtPolls + inconsistentPolls + 4)
		fire, four := batterFireKey(1, 101), fourKey(1, 101, 1)
		if got := s.rows[fire].Text; got != "P101 23 (5)" {
			t.Fatalf("without the ball the row is %q", got)
		}
		s.snap.Balls = slices.Insert(s.snap.Balls, 3, late)
		s.polls(6)
		if got := s.rows[fire].Text; got != "P101 22 (4)" {
			t.Errorf("with the ball the row is %q", got)
		}
		if got := s.rows[four]; got.Text != "FOUR! P101 · ALP 22/0 (0.4)" || got.BallID != late.ID {
			t.Errorf("the four is %+v", got)
		}
		want(t, s.keys(EventFour, EventCorrection), four)
	})
	t.Run("an old boundary stays", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("4 " + strings.Repeat("1 ", 2*lastBalls+6))
		first := &s.snap.Balls[0]
		s.runs(first, -4)
		first.Four = false
		s.polls(6)
		if _, is := s.rows["4:1:101:1"]; !is {
			t.Error("the row of an old four was deleted")
		}
	})
}

// The player of the match is taken back when the match goes on.
func TestBestPlayerIsTakenBack(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 1")
	s.snap.Status, s.snap.Player = "Finished", 101
	s.polls(8)
	if _, is := s.rows[bestKey]; !is {
		t.Fatalf("no best player in %v", s.keys())
	}
	s.snap.Status, s.snap.Player = "1st Innings", 0
	s.polls(8)
	if row, is := s.rows[bestKey]; is {
		t.Errorf("the row is still there: %+v", row)
	}
}

// A target that another one replaces stays in the record, even if phones get the new target as a correction.
func TestReplacedTargetStays(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 1")
	s.snap.RevOvers = "18.0"
	s.polls(8)
	want(t, s.keys(EventTargetRevised), "dls:0:18!")
	for range finerAlerts {
		s.state.AlertTimes = append(s.state.AlertTimes, s.now.UnixMilli())
	}
	s.innings(teamB)
	s.snap.RevTarget = 149
	s.polls(8)
	want(t, s.keys(EventTargetRevised, EventCorrection), "dls:0:18!", "dls:149:18-budget", "corr:dls!")
	for _, key := range []string{"dls:0:18", "dls:149:18"} {
		if _, is := s.rows[key]; !is {
			t.Errorf("%s is not in the record", key)
		}
	}
}

// Rain shortens a match twice: the first innings ends with the second reduction, and its alert says the target. Nothing was wrong, so
// nothing is corrected.
func TestTwoReductions(t *testing.T) {
	for name, apart := range map[string]int{"at once": 0, "the target first": 4, "the target later": -4} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, 20)
			s.innings(teamA)
			s.play("1 1 1 1 1 1")
			s.snap.RevOvers = "15.0"
			s.polls(4)
			s.play("1 1 1 1 1 1")
			if apart >= 0 {
				s.snap.RevOvers, s.snap.RevTarget = "2.0", 18
				s.polls(apart)
			}
			s.snap.Status = "Innings Break"
			s.polls(-min(apart, 0))
			s.snap.RevOvers, s.snap.RevTarget = "2.0", 18
			s.polls(8)
			s.snap.RevOvers, s.snap.RevTarget = "1.4", 16 // it rains on
			s.polls(8)
			s.innings(teamB)
			s.play("1 1 1")
			want(t, s.texts(EventCorrection))
			told := s.texts(EventInningsEnd, EventTargetRevised)
			if last := told[len(told)-1]; last != "Revised target: 16 off 1.4 (DLS)" {
				t.Errorf("told %q", told)
			}
			if end := s.rows["inn:1"]; end.Detail != string(CauseOvers) && end.Detail != string(CauseClosed) {
				t.Errorf("the innings ended by %q", end.Detail)
			}
		})
	}
}

// Without balls a row may show a four, a new batter or a fifty for a moment. None of them is recorded in the end, and no fifty is told:
// whether balls are not requested, or the feed's plan has none.
func TestRowsForAMoment(t *testing.T) {
	for name, notRequested := range map[string]bool{"not requested": true, "not in the plan": false} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, 20)
			s.snap.NoBalls = notRequested
			s.innings(teamA)
			s.bowl(strings.Repeat("4 . ", 12) + "1 2")
			s.snap.Balls = nil
			s.polls(20)
			if !s.known["4:1:101:12"] || s.known["4:1:101:13"] {
				t.Fatalf("recorded: %v", s.known)
			}
			row := s.row(1, 101)
			row.Fours, row.Runs = row.Fours+1, 50
			s.snap.Batting = append(s.snap.Batting, BattingRow{Innings: 1, TeamID: teamA, PlayerID: 103})
			s.polls(4)
			if !s.known["4:1:101:13"] || !s.known["nb:1:103"] {
				t.Fatalf("not recorded for a moment, so this test tests nothing: %v", s.known)
			}
			row = s.row(1, 101)
			row.Fours, row.Runs = row.Fours-1, 49
			s.snap.Batting = s.snap.Batting[:len(s.snap.Batting)-1]
			s.polls(6)
			if s.known["4:1:101:13"] || s.known["nb:1:103"] || !s.known["4:1:101:12"] {
				t.Errorf("recorded in the end: %v", s.known)
			}
			want(t, s.keys(EventFifty, EventCorrection))
		})
	}
}

// With all balls known, a row alone makes no milestone.
func TestRowAheadOfItsBalls(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play(strings.Repeat("4 . ", 12) + "1 .")
	s.row(1, 101).Runs = 50
	s.polls(20)
	want(t, s.keys(EventFifty))
	s.row(1, 101).Runs = 49
	s.play("1 1")
	want(t, s.keys(EventFifty), "m50:1:101!")
}

// A batter who is timed out has not come in, although a row shows him while a ball is missing.
func TestTimedOut(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 1 . 4 W")
	held := s.snap.Balls
	s.ball("1")
	s.snap.Balls = held // the score is a ball ahead
	s.snap.Batting = append(s.snap.Batting, BattingRow{Innings: 1, TeamID: teamA, PlayerID: 104})
	s.polls(20)
	if !s.known["nb:1:104"] {
		t.Fatalf("not recorded for a moment, so this test tests nothing: %v", s.known)
	}
	all := s.snap.Balls[:len(held)+1]
	s.snap.Balls = all
	row := s.row(1, 104)
	row.Out, row.FoWRuns, row.FoWOvers = true, s.snap.Innings[0].Runs, s.snap.Innings[0].Overs
	s.snap.Innings[0].Wickets++
	s.snap.Innings[0].UpdatedAt = s.now
	s.polls(20)
	if s.known["nb:1:104"] {
		t.Errorf("he is recorded as come in: %v", s.known)
	}
}
