package cricket

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shown returns the display of the next poll.
func (s *script) shown() Display {
	s.fill()
	return s.poll().Display
}

func TestDisplayOfAChase(t *testing.T) {
	s := newScript(t, 20)
	s.second("6 6 6 6 6 6 4", "1 4 W")
	d := s.shown()
	if d.Target != 41 || d.Required != 36 || d.BallsLeft != 117 || d.RequiredRate != "1.85" || d.RunRate != "10.00" ||
		d.Equation != "need 36 from 117" || d.Lead != nil || d.Day != 0 {
		t.Errorf("%+v", d)
	}
	s.snap.Note = "Target 30 runs"
	if d = s.shown(); d.Target != 30 || d.Required != 25 {
		t.Errorf("with a target in the note: target %d, required %d", d.Target, d.Required)
	}
	s.snap.RevTarget, s.snap.RevOvers = 20, "2.0"
	if d = s.shown(); d.Target != 20 || d.BallsLeft != 9 || d.RequiredRate != "10.00" {
		t.Errorf("with a revised target: target %d, %d balls left, required rate %s", d.Target, d.BallsLeft, d.RequiredRate)
	}
}

// Until there is a result, the equation of a finished chase says how it ended, not what is needed.
func TestEquationAfterAChase(t *testing.T) {
	for then, want := range map[string]string{
		"1 2 . 1 . .": "1 run short", "1 2 . 1 1 .": "scores level", "1 2 . 1 2": "target reached", "1 2 . .": "need 3 from 2",
		strings.Repeat("W ", 5): "need 6 from 1",
	} {
		s := newScript(t, 1)
		s.second("1 1 1 1 1 .", then)
		if d := s.shown(); d.Equation != want || d.Phase != PhaseLive {
			t.Errorf("after %s: %s, %q, want %q", then, d.Phase, d.Equation, want)
		}
	}
	s := newScript(t, 2)
	s.second("1 1 1 1 1 .", strings.Repeat("W ", 10))
	if d := s.shown(); d.Equation != "5 runs short" {
		t.Errorf("all out: %q", d.Equation)
	}
}

// After an innings of limited overs the equation says what the next innings needs, by the revised target if there is one.
func TestEquationBetweenInnings(t *testing.T) {
	s := newScript(t, 1)
	s.innings(teamA)
	s.bowl("1 1 1 1 1 1")
	if d := s.shown(); d.Equation != "BET need 7" || d.Phase != PhaseLive {
		t.Errorf("%s: %q", d.Phase, d.Equation)
	}
	s.snap.Status, s.snap.RevTarget, s.snap.RevOvers = "Innings Break", 5, "0.4"
	s.polls(2)
	if d := s.shown(); d.Equation != "BET need 5 off 0.4" || d.Phase != PhaseInningsBreak {
		t.Errorf("%s, after rain: %q", d.Phase, d.Equation)
	}
	s = newScript(t, 1)
	s.second("1 1 1 1 1 1", "2 2 2 . . .")
	s.innings(teamB)
	s.bowl("4 W W")
	if d := s.shown(); d.Equation != "ALP need 5 to win the super over" {
		t.Errorf("in a super over: %q", d.Equation)
	}
}

func TestDisplayOfFiveBallOvers(t *testing.T) {
	s := newScript(t, 20)
	s.snap.Type = "100-Ball"
	s.innings(teamA)
	s.snap.Innings[0].Runs, s.snap.Innings[0].Overs = 20, "3.2"
	s.polls(8)
	d := s.poll().Display
	if d.BallsLeft != 83 || d.RunRate != "7.06" {
		t.Errorf("%d balls left at %s", d.BallsLeft, d.RunRate)
	}
}

func TestDisplayOfATest(t *testing.T) {
	s := newScript(t, 0)
	s.snap.Type = "Test/5day"
	s.innings(teamA)
	s.bowl("6 6 6")
	s.innings(teamB)
	s.bowl("1 " + strings.Repeat("W ", 10))
	s.innings(teamB)
	s.bowl("4")
	d := s.shown()
	if d.Lead == nil || *d.Lead != -13 || !d.FollowOn || d.Equation != "trail by 13" || d.RequiredRate != "" || d.BallsLeft != 0 || d.Day != 1 {
		t.Errorf("%+v", d)
	}
	if !d.Innings[0].Declared || !d.Innings[1].AllOut || d.Innings[2].Declared {
		t.Errorf("%+v", d.Innings)
	}
	s.bowl(strings.Repeat("6 ", 3))
	s.innings(teamA)
	s.bowl("1")
	d = s.shown()
	if d.Target != 6 || d.Required != 5 || d.RequiredRate != "" || d.Equation != "need 5 to win" {
		t.Errorf("%+v", d)
	}
}

func TestDisplayOfASuperOver(t *testing.T) {
	s := newScript(t, 1)
	s.second("1 1 1 1 1 1", "2 2 2 . . .")
	s.innings(teamB)
	s.bowl("6 W")
	d := s.shown()
	if !d.SuperOver || !d.Innings[2].SuperOver || d.Innings[1].SuperOver || d.BallsLeft != 4 || d.Target != 0 || d.Teams[0].Runs != 6 {
		t.Errorf("%+v", d)
	}
}

// For a team, the display has that team first and is otherwise the same.
func TestDisplayFor(t *testing.T) {
	s := newScript(t, 20)
	s.second("6 1", "4 1")
	d := s.shown()
	before := slices.Clone(d.Teams)
	a := d.ForTeam(teamA)
	if a.Teams[0].ID != teamA || a.Teams[1].ID != teamB || d.Teams[0].ID != teamB {
		t.Errorf("%+v of %+v", a.Teams, d.Teams)
	}
	a.Teams = d.Teams
	if diff := cmp.Diff(d, a); diff != "" {
		t.Error(diff)
	}
	for _, id := range []int64{teamB, 0, 77} {
		if diff := cmp.Diff(before, d.ForTeam(id).Teams); diff != "" {
			t.Errorf("%d: %s", id, diff)
		}
	}
	if got := (Display{}).ForTeam(teamA); got.Teams != nil {
		t.Errorf("%+v", got)
	}
}

// The banner shows the most important event of the last balls, and drops it after some balls.
func TestBanner(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	banner := func(want string) {
		t.Helper()
		k := s.shown().KeyEvent
		if got := k.Type + " " + k.Key; got != want {
			t.Errorf("banner %q, want %q", got, want)
		}
	}
	at := func(balls string) {
		s.bowl(balls)
		s.now = s.now.Add(40 * time.Second)
	}
	at("1")
	banner("match_start start")
	at("6")
	at("W")
	banner("wicket w:1:1")
	at("4")
	at(".")
	at(".")
	banner("wicket w:1:1")
	at(".")
	at(".")
	banner("wicket w:1:1")
	at(".")
	banner("four 4:1:103:1")
	for range 2 {
		at(".")
	}
	banner("wicket w:1:1") // an event of the last overs takes precedence over the summary of the over
	for range 5 {
		at(".")
	}
	banner("over_end ov:1:2")
	s.row(1, s.pair[0]).Runs = 94 // shown until something more important happens
	banner("batsman_on_90s ")
	at("4")
	banner("four 4:1:103:2")
}

// Without balls in the snapshot, the banner does not show old events.
func TestBannerOfTheScore(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.bowl("W " + strings.Repeat("1 2 . ", 12))
	s.fill()
	s.snap.Balls = nil
	if k := s.poll().Display.KeyEvent; k == nil || k.Type == "wicket" {
		t.Errorf("%+v", k)
	}
	s.snap.Innings[0].Wickets = 2
	s.row(1, 102).Out = true
	s.row(1, 102).FoWOvers, s.row(1, 102).FoWRuns = s.snap.Innings[0].Overs, s.snap.Innings[0].Runs
	if k := s.poll().Display.KeyEvent; k == nil || k.Key != "w:1:2" {
		t.Errorf("%+v", k)
	}
}
