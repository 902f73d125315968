package cricket

import (
	"strings"
	"testing"
	"time"
)

// alerts returns the texts of the alerts.
func (s *script) alerts() (texts []string) {
	for _, e := range s.confirmed {
		if e.Alert {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// Players of a match who share a last name appear with their full names in alerts, display and card; others do not.
func TestSharedLastName(t *testing.T) {
	s := newScript(t, 20)
	s.snap.Players[101], s.snap.Players[211] = Name{"BKG Mendis", "Mendis"}, Name{"Kamindu Mendis", "Mendis"}
	s.snap.Players[102], s.snap.Players[103] = Name{Last: "Ali"}, Name{"Moeen Ali", "Ali"}
	s.innings(teamA)
	s.play("2 1")
	d := s.shown()
	if d.Batters[0].Name != "BKG Mendis" || d.Batters[1].Name != "Ali" || d.Bowler.Name != "Kamindu Mendis" {
		t.Errorf("the display has %+v and %+v", d.Batters, d.Bowler)
	}
	s.play("1 W")
	want(t, s.alerts(), "ALP v BET is under way. ALP batting.", "WICKET! BKG Mendis b Kamindu Mendis 3 (3) · ALP 4/1 (0.4)")
	c := s.poll().Cards[0]
	if c.Batting[0].HowOut != "b Kamindu Mendis" || c.Batting[2].Name != "Moeen Ali" || c.Overs[0].Bowler != "Kamindu Mendis" {
		t.Errorf("the card is %+v", c)
	}
	if s.snap.Players[101].Last != "Mendis" {
		t.Error("the snapshot's own names were changed")
	}
}

// An alert names every batter out in its tick, in the order they fell, and the haul completed by the wicket.
func TestWordsOfWickets(t *testing.T) {
	for name, tc := range map[string]struct {
		overs         int
		before, balls string
		want          string
	}{
		"two wickets": {20, ".", "W . W", "2 wickets! P101 b P211 0 (2), P103 b P211 0 (2) · ALP 0/2 (0.4)"},
		"two end the innings": {
			1, ". 1 .", "W . W", "2 wickets! P102 b P211 0 (2), P103 b P211 0 (2). ALP 1/2 (1). BET need 2",
		},
		"five for": {20, "W . W . W . . . . . . . W .", "W", "WICKET! P106 b P211 0 (2), five for P211 5-0 · ALP 0/5 (2.3)"},
		"five for with a hat-trick": {
			20, "W . W . . . . . . . . . W W", "W", "HAT-TRICK! P211: P104, P105, P106, five for P211 5-0 · ALP 0/5 (2.3)",
		},
		"five for that ends the innings": {
			3, "W . W . W . . . . . . . W . . . .", "W", "WICKET! P106 b P211 0 (5), five for P211 5-0. ALP 0/5 (3). BET need 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, tc.overs)
			s.innings(teamA)
			s.play(tc.before)
			s.bowl(tc.balls)
			s.polls(4)
			if got := s.alerts(); got[len(got)-1] != tc.want {
				t.Errorf("alert %q, want %q", got[len(got)-1], tc.want)
			}
		})
	}
}

// The alert names a rare dismissal in words, and no bowler is credited with it.
func TestRareDismissals(t *testing.T) {
	for outcome, want := range map[string]string{
		"Handled the Ball": "handled the ball", "Hit the Ball Twice": "hit the ball twice", "Timed Out": "timed out",
		"Obstructing the Field": "obstructing the field",
	} {
		s := newScript(t, 20)
		s.innings(teamA)
		s.bowl("1 W")
		s.snap.Balls[1].Outcome = outcome
		s.polls(4)
		if got := s.alerts(); got[len(got)-1] != "WICKET! P102 "+want+" 0 (1) · ALP 1/1 (0.2)" {
			t.Errorf("%s: alert %q", outcome, got[len(got)-1])
		}
		if d := dismissalOf(outcome, 211, 0); d.isCredited() || rowDismissal(&BattingRow{HowOut: outcome, BowlerID: 211}) != d {
			t.Errorf("%s is credited to the bowler", outcome)
		}
	}
}

// Penalty runs between innings are in the score before a ball is bowled: the openers are not reported as new batters, and the
// announced target is corrected.
func TestPenaltyBetweenInnings(t *testing.T) {
	s := newScript(t, 2)
	s.innings(teamA)
	s.play("1 . 1 . . 1 . . . 1 . .")
	s.snap.Innings[0].Runs, s.snap.Innings[0].Penalty = s.snap.Innings[0].Runs+5, 5
	s.snap.Status = "Innings Break"
	s.polls(4)
	s.innings(teamB)
	s.snap.Innings[1].Runs, s.snap.Innings[1].Penalty = 5, 5
	s.polls(4)
	s.play("1 . W .")
	want(t, s.keys(EventNewBatsman), "nb:2:203")
	want(t, s.keys(EventWicket), "w:2:1!")
	want(t, s.texts(EventInningsEnd, EventCorrection), "ALP 4/0 (2). BET need 5", "Correction: ALP 9/0 (2). BET need 10")
	want(t, []string{s.rows["inn:1"].Text}, "ALP 9/0 (2). BET need 10")
}

// After a jump of the feed the target of an innings that has just begun alerts; that of one well under way does not.
func TestOldTarget(t *testing.T) {
	const over = ". 1 . . 1 . "
	for name, tc := range map[string]struct {
		balls  bool
		overs  int // of the second innings
		target string
	}{
		"long under way":            {true, 3, "inn:1-burst"},
		"just begun":                {true, 1, "inn:1!"},
		"long under way, by scores": {false, 3, "inn:1-burst"},
		"just begun, by scores":     {false, 1, "inn:1!"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, 20)
			s.snap.NoBalls = !tc.balls
			polls := func() {
				balls := s.snap.Balls
				if !tc.balls {
					s.snap.Balls = nil
				}
				s.polls(4)
				s.snap.Balls = balls
			}
			s.innings(teamA)
			s.bowl(over)
			polls()
			s.bowl(strings.Repeat(over, 19))
			s.innings(teamB)
			s.bowl(strings.Repeat(over, tc.overs))
			polls()
			want(t, s.keys(EventInningsEnd), tc.target)
		})
	}
}

// The banner of a super over shows first that there is one, then its wicket, then its target; no boundary hides these.
func TestBannerOfASuperOver(t *testing.T) {
	s := newScript(t, 1)
	s.second("1 1 1 1 1 1", "2 2 2 . . .")
	banner := func(want string) {
		t.Helper()
		if k := s.shown().KeyEvent; k == nil || k.Key != want {
			t.Errorf("the banner is %+v, want %s", k, want)
		}
		s.now = s.now.Add(40 * time.Second)
	}
	s.snap.Status, s.snap.Note = "Innings Break", "Super Over"
	banner("so:1")
	s.innings(teamB)
	s.bowl("4")
	banner("so:1")
	s.bowl("W")
	banner("w:3:1")
	s.bowl("1 1 1 1")
	banner("inn:3")
	s.innings(teamA)
	s.bowl("4")
	banner("inn:3")
	s.bowl("1")
	banner("inn:3")
}

// A new ball ends a break at once, even one for a super over; a corrected score does not end an interruption: the status must
// come twice.
func TestPlayResumesAtOnce(t *testing.T) {
	s := newScript(t, 1)
	s.second("1 1 1 1 1 1", "2 2 2 . . .")
	s.snap.Status = "Innings Break"
	s.polls(3)
	s.innings(teamB)
	s.snap.Status = "Super Over"
	if d := s.poll().Display; d.Phase != PhaseInningsBreak {
		t.Errorf("before the first ball the phase is %s", d.Phase)
	}
	s.snap.Status = "3rd Innings"
	s.bowl("4")
	if d := s.shown(); d.Phase != PhaseLive || d.Status != "3rd Innings" {
		t.Errorf("with a ball: phase %s, status %q", d.Phase, d.Status)
	}
	s.snap.Status = "Int."
	s.polls(3)
	s.snap.Status = "3rd Innings"
	s.snap.Innings[2].Runs++ // a correction, not a ball
	if d := s.poll().Display; d.Phase != PhaseInterrupted {
		t.Errorf("with a corrected score the phase is %s", d.Phase)
	}
	if d := s.poll().Display; d.Phase != PhaseLive {
		t.Errorf("after the second reading of the status the phase is %s", d.Phase)
	}
}
