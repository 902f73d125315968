package cricket

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestEventsOfAnInnings(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 . 4 W 6 2wd")
	want(t, s.keys(), "start!", "4:1:102:1", "w:1:1!", "nb:1:103", "6:1:103:1")
	if got := s.confirmed[2].Text; got != "WICKET! P102 b P211 4 (3) · ALP 5/1 (0.4)" {
		t.Errorf("wicket text %q", got)
	}
	if got := s.confirmed[2].Detail; got != "bowled" {
		t.Errorf("kind of dismissal %q", got)
	}
}

// The feed corrects one ball in seven within seconds: a wicket is not announced before it has stood for five.
func TestHold(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(s *script)
		want   []string
	}{
		"stands":         {func(*script) {}, []string{"w:1:1!"}},
		"becomes a wide": {func(s *script) { s.revise("Wide") }, []string{}},
		"is deleted":     {func(s *script) { s.remove() }, []string{}},
		"another dismissal": {func(s *script) {
			s.snap.Balls[len(s.snap.Balls)-1].Outcome = "LBW OUT"
		}, []string{"w:1:1!"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, 20)
			s.innings(teamA)
			s.play(". .")
			s.ball("W")
			s.polls(2)
			if got := s.keys(EventWicket); len(got) != 0 {
				t.Fatalf("announced %v within 5 s", got)
			}
			tc.change(s)
			s.polls(8)
			want(t, s.keys(EventWicket), tc.want...)
		})
	}
}

// A feed that took a wicket back is not believed as fast for an hour: each wicket that it takes back after it was announced costs
// two alerts. What the feed takes back is corrected as fast as ever.
func TestHoldOfAFeedThatWavers(t *testing.T) {
	start := func(t *testing.T) *script {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play(". .")
		return s
	}
	// wicketAfter bowls a wicket and returns how many polls it takes to be announced.
	wicketAfter := func(s *script) int {
		before := len(s.keys(EventWicket))
		s.ball("W")
		for n := range 16 {
			if s.poll(); len(s.keys(EventWicket)) > before {
				return n
			}
		}
		return -1
	}
	t.Run("a steady feed", func(t *testing.T) {
		if got := wicketAfter(start(t)); got != 2 {
			t.Errorf("announced after %d polls, want 2: 5 s", got)
		}
	})
	t.Run("a wicket that was held", func(t *testing.T) {
		s := start(t)
		s.ball("W")
		s.polls(2)
		s.revise("Wide")
		s.polls(8)
		want(t, s.keys(EventWicket, EventCorrection))
		if got := wicketAfter(s); got != 5 {
			t.Errorf("announced after %d polls, want 5: 12 s", got)
		}
		s.now = s.now.Add(waverFor)
		s.polls(4)
		if got := wicketAfter(s); got != 2 {
			t.Errorf("announced after %d polls an hour later, want 2: 5 s", got)
		}
	})
	t.Run("a wicket that was announced", func(t *testing.T) {
		s := start(t)
		s.ball("W")
		s.polls(8)
		s.revise("Wide")
		s.polls(4)
		want(t, s.keys(EventWicket, EventCorrection), "w:1:1!", "corr:w:1:1!")
		s.ball("W")
		s.polls(5)
		s.revise("Wide")
		s.polls(8)
		want(t, s.keys(EventWicket, EventCorrection), "w:1:1!", "corr:w:1:1!")
		if got := wicketAfter(s); got != 5 {
			t.Errorf("announced after %d polls, want 5: 12 s", got)
		}
	})
}

// An event is held for its fact and not for its key: when the feed names another batter, the hold begins again.
func TestHoldOfAnotherFact(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play(". .")
	s.ball("W")
	s.polls(2)
	b := &s.snap.Balls[len(s.snap.Balls)-1]
	was, is := s.row(1, b.BatterID), s.row(1, s.pair[1])
	is.Out, is.FoWOvers, is.FoWRuns = true, was.FoWOvers, was.FoWRuns
	was.Out, was.BowlerID, was.FoWOvers = false, 0, ""
	b.OutID, b.Outcome = is.PlayerID, "Run Out"
	s.polls(2)
	if got := s.keys(EventWicket); len(got) != 0 {
		t.Fatalf("announced %v within 5 s of the other name", got)
	}
	s.polls(4)
	if got := s.keys(EventWicket); len(got) != 1 || !strings.Contains(s.rows["w:1:1"].Text, "P102 run out") {
		t.Errorf("announced %v: %q", got, s.rows["w:1:1"].Text)
	}
}

// revise makes the last ball a wide for one run.
func (s *script) revise(outcome string) {
	b := &s.snap.Balls[len(s.snap.Balls)-1]
	in := &s.snap.Innings[len(s.snap.Innings)-1]
	row := s.row(in.No, b.BatterID)
	row.Out, row.FoWOvers = false, ""
	b.Wicket, b.Wide, b.Outcome, b.Runs = false, true, outcome, 1
	in.Wickets--
	in.Runs++
	s.legal--
	in.Overs = oversOf(s.legal, 6)
}

// remove takes the last ball back.
func (s *script) remove() {
	s.revise("Wide")
	s.snap.Balls = s.snap.Balls[:len(s.snap.Balls)-1]
	s.snap.Innings[len(s.snap.Innings)-1].Runs--
}

func TestAlertRules(t *testing.T) {
	t.Run("a wicket that ends the innings is merged into its end", func(t *testing.T) {
		s := newScript(t, 2)
		s.innings(teamA)
		s.play(". . . . . . . . . . 1")
		s.ball("W")
		s.polls(4)
		want(t, s.keys(EventWicket, EventInningsEnd), "w:1:1-merged", "inn:1!")
		if text := s.confirmed[len(s.confirmed)-1].Text; !strings.HasPrefix(text, "WICKET!") || !strings.Contains(text, "BET need 2") {
			t.Errorf("the end of the innings is announced as %q", text)
		}
	})
	t.Run("two wickets in one tick", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play(".")
		s.bowl("W W")
		s.polls(4)
		want(t, s.keys(EventWicket), "w:1:1-merged", "w:1:2!")
	})
	t.Run("old balls do not alert", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play(". .")
		s.ball("W")
		s.now = s.now.Add(2 * time.Minute)
		s.polls(4)
		want(t, s.keys(EventWicket), "w:1:1-stale")
	})
	t.Run("balls whose time cannot be read", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1")
		for _, mark := range []string{".", "W", "1", "."} {
			s.ball(mark)
			for i := range s.snap.Balls {
				s.snap.Balls[i].UpdatedAt = time.Time{}
			}
			s.snap.Innings[0].UpdatedAt = time.Time{}
			s.polls(16)
		}
		want(t, s.keys(EventWicket), "w:1:1!")
		if k := s.poll().Display.KeyEvent; k == nil || k.Type != "wicket" {
			t.Errorf("the banner is %+v", k)
		}
		first, second := s.poll().Display, s.poll().Display
		if first.UpdatedAt = second.UpdatedAt; !reflect.DeepEqual(first, second) {
			t.Errorf("the display changes while nothing happens: %+v, %+v", first, second)
		}
		s.now = s.now.Add(100 * time.Second) // the node heard of this ball late
		s.ball("W")
		s.snap.Balls[len(s.snap.Balls)-1].UpdatedAt, s.snap.Innings[0].UpdatedAt = time.Time{}, time.Time{}
		s.polls(8)
		want(t, s.keys(EventWicket), "w:1:1!", "w:1:2!")
	})
	t.Run("times that are always late", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1")
		for n := range 4 {
			s.ball("W")
			s.snap.Balls[len(s.snap.Balls)-1].UpdatedAt = s.now.Add(-2 * time.Minute)
			s.polls(8)
			if s.state.Stale < n+1 {
				t.Errorf("after %d stale alerts the state counts %d", n+1, s.state.Stale)
			}
		}
		s.ball("W")
		s.polls(8)
		if s.state.Stale != 0 {
			t.Errorf("after an alert the state counts %d", s.state.Stale)
		}
	})
	t.Run("a feed catching up", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play(".")
		s.bowl("W . . . . . . . . . . . . . . . . . . 1 W")
		s.polls(4)
		want(t, s.keys(EventWicket), "w:1:1-burst", "w:1:2!")
	})
	t.Run("a node that joins late", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1 .")
		s.now = s.now.Add(6 * time.Minute)
		s.bowl("W 4")
		s.polls(4)
		want(t, s.keys(EventWicket, EventFour), "w:1:1-baseline", "4:1:103:1")
	})
	t.Run("fours and sixes do not alert by default", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("4 6 4 6")
		want(t, s.keys(EventFour, EventSix), "4:1:101:1", "6:1:101:1", "4:1:101:2", "6:1:101:2")
	})
	t.Run("hourly limit", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play(strings.Repeat(". W ", 9) + "1")
		got := s.keys(EventMatchStart, EventWicket)
		want(t, got, "start!", "w:1:1!", "w:1:2!", "w:1:3!", "w:1:4!", "w:1:5!", "w:1:6!", "w:1:7!", "w:1:8!", "w:1:9!")
		s.play("W")
		want(t, s.keys(EventWicket, EventInningsEnd)[9:], "w:1:10-budget", "inn:1-budget")
	})
}

func TestMilestonesAreCrossedOnce(t *testing.T) {
	s := newScript(t, 50)
	s.innings(teamA)
	s.play(strings.Repeat("6 ", 8) + "2 6 " + strings.Repeat("6 ", 8))
	want(t, s.keys(EventFifty, EventHundred), "m50:1:101!", "m100:1:101!")
}

// While score and balls disagree, events of the balls wait; if they go on to disagree, the balls count after six polls.
func TestInconsistentSnapshot(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 1")
	s.ball("W")
	s.snap.Innings[0].Runs += 4 // the score is ahead of the balls
	s.polls(4)
	want(t, s.keys(EventWicket))
	s.ball(".")
	s.polls(8)
	want(t, s.keys(EventWicket), "w:1:1!")
}

func TestResultGate(t *testing.T) {
	chase := func(t *testing.T) *script {
		s := newScript(t, 1)
		s.innings(teamA)
		s.play("1 1 1 1 1 1")
		s.innings(teamB)
		s.play("1 1 . . . .")
		return s
	}
	t.Run("winner and scores agree", func(t *testing.T) {
		s := chase(t)
		s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamA, "Alphas won by 4 runs"
		s.polls(3)
		want(t, s.keys(EventResult), "result!")
		if s.state.Result != "Alphas won by 4 runs" || s.state.FinishedAt.IsZero() {
			t.Errorf("state says %q at %s", s.state.Result, s.state.FinishedAt)
		}
	})
	t.Run("no winner yet", func(t *testing.T) {
		s := chase(t)
		s.snap.Status = "Finished"
		s.polls(10)
		want(t, s.keys(EventResult))
		s.snap.Winner, s.snap.Note = teamA, "Alphas won by 4 runs"
		s.polls(3)
		want(t, s.keys(EventResult), "result!")
	})
	t.Run("the winner stays wrong", func(t *testing.T) {
		s := chase(t)
		s.snap.Status, s.snap.Winner = "Finished", teamB
		s.polls(70)
		want(t, s.keys(EventResult))
		s.polls(5)
		want(t, s.keys(EventResult), "result!")
		if got := s.state.Result; strings.Contains(got, "won") {
			t.Errorf("the result names a winner that contradicts the scores: %q", got)
		}
	})
	t.Run("the feed goes on after the result", func(t *testing.T) {
		s := chase(t)
		s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamA, "Alphas won by 4 runs"
		s.polls(4)
		s.snap.Status, s.snap.Winner, s.snap.Note = "2nd Innings", 0, ""
		s.polls(400)
		if s.state.Status != ActiveLive || s.state.Result != "" {
			t.Fatalf("the match goes on, but is %s with the result %q", s.state.Status, s.state.Result)
		}
		s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamA, "Alphas won by 4 runs (DLS)"
		s.polls(4)
		want(t, s.keys(EventResult, EventCorrection), "result!", "corr:result!", "result!")
	})
	t.Run("another note after the result", func(t *testing.T) {
		s := chase(t)
		s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamA, "Alphas won by 4 runs"
		s.polls(4)
		s.snap.Note = "Alphas won by 4 runs (DLS)"
		s.polls(1)
		if s.state.Result != "Alphas won by 4 runs (DLS)" {
			t.Errorf("the result is still %q", s.state.Result)
		}
		want(t, s.keys(EventResult), "result!")
	})
	t.Run("abandoned", func(t *testing.T) {
		s := chase(t)
		s.snap.Status = "Aban."
		s.polls(11 * 60)
		want(t, s.keys(EventAbandoned))
		s.polls(2 * 60)
		want(t, s.keys(EventAbandoned), "result!")
		s.polls(7 * 60)
		if s.state.Status != ActiveEnded {
			t.Errorf("%s long after it was abandoned", s.state.Status)
		}
	})
	t.Run("ends after a quarter of an hour", func(t *testing.T) {
		s := chase(t)
		s.snap.Status, s.snap.Winner = "Finished", teamA
		s.polls(350)
		if s.state.Status != ActiveLive {
			t.Fatalf("%s after 14.6 minutes", s.state.Status)
		}
		s.polls(20)
		if s.state.Status != ActiveEnded {
			t.Errorf("%s after 15.4 minutes", s.state.Status)
		}
	})
}

// A wicket that no ball shows is numbered by its fall, and so is the wicket of a ball after it.
func TestSilentWicket(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("W . .")
	in := &s.snap.Innings[0]
	row := s.row(1, s.pair[0]) // retired out
	in.Wickets++
	row.Out, row.HowOut, row.FoWOvers, row.FoWRuns = true, "Retired out", "0.3", in.Runs
	s.snap.Batting = append(s.snap.Batting, BattingRow{Innings: 1, TeamID: teamA, PlayerID: s.next})
	s.pair[0], s.next = s.next, s.next+1
	s.polls(4)
	s.play(". W")
	want(t, s.keys(EventWicket), "w:1:1!", "w:1:2!", "w:1:3!")
	var details []string
	for _, e := range s.confirmed {
		if e.Type == EventWicket {
			details = append(details, e.Detail)
		}
	}
	want(t, details, "bowled", "retired_out", "bowled")
}

// A match that has not begun twelve hours after its start is ended.
func TestNeverBegun(t *testing.T) {
	s := newScript(t, 20)
	s.snap.Status = "Delayed"
	s.now = s.snap.StartsAt.Add(11 * time.Hour)
	s.poll()
	if s.state.Status != ActiveIdle {
		t.Errorf("%s after eleven hours", s.state.Status)
	}
	s.now = s.snap.StartsAt.Add(13 * time.Hour)
	s.poll()
	if s.state.Status != ActiveEnded {
		t.Errorf("%s after thirteen hours", s.state.Status)
	}
}
