package cricket

import (
	"strings"
	"testing"
	"time"
)

// The operator can switch optional and default alerts; other types never alert.
func TestOptionalAlerts(t *testing.T) {
	s := newScript(t, 20)
	s.options = Options{Alerts: map[EventType]bool{
		EventSix: true, EventFour: true, EventMatchStart: false, EventMaiden: true,
	}}
	s.innings(teamA)
	s.play("6 4 1 6") // 40 s apart, and fours and sixes share a minute
	want(t, s.keys(EventMatchStart, EventFour, EventSix), "start", "6:1:101:1!", "4:1:101:1-cooldown", "6:1:102:1!")
	s.play(". . . . . . . .")
	want(t, s.keys(EventMaiden), "md:1:2")
}

// The fifty of a batter who is out by then does not alert; nor does the six that made a fifty.
func TestOvertakenMilestones(t *testing.T) {
	t.Run("fifty, and out", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play(strings.Repeat("6 ", 8))
		s.ball("2")
		s.polls(1)
		s.ball("W")
		s.polls(6)
		want(t, s.keys(EventFifty, EventWicket), "m50:1:101-stale", "w:1:1!")
	})
	t.Run("six and fifty", func(t *testing.T) {
		s := newScript(t, 20)
		s.options = Options{Alerts: map[EventType]bool{EventSix: true}}
		s.innings(teamA)
		s.play("4 4 4 4 4 4 4 4 4 4 4 4")
		s.ball("6")
		s.polls(4)
		want(t, s.keys(EventFifty, EventSix), "6:1:101:1-merged", "m50:1:101!")
		want(t, s.texts(EventFifty), "SIX! FIFTY! P101 54 (13)")
		six := &s.snap.Balls[12]
		s.runs(six, -2)
		six.Six, six.Four = false, true
		s.polls(6)
		want(t, s.texts(EventCorrection)[:1], "Correction: FOUR! P101; FIFTY! P101 52 (13) · ALP 52/0 (2.1)")
	})
	t.Run("six and fifty that only a row shows", func(t *testing.T) {
		s := newScript(t, 20)
		s.options = Options{Alerts: map[EventType]bool{EventSix: true}}
		s.snap.NoBalls = true
		s.innings(teamA)
		s.bowl(strings.Repeat("4 . ", 12))
		s.snap.Balls = nil
		s.polls(20)
		s.bowl("6")
		s.snap.Balls = nil
		s.polls(20)
		want(t, s.keys(EventFifty, EventSix), "m50:1:101!", "6:1:101:1-merged")
		want(t, s.texts(EventFifty), "SIX! FIFTY! P101 54 (25)")
	})
	t.Run("hundred, and the other one run out", func(t *testing.T) {
		s := newScript(t, 50)
		s.innings(teamA)
		s.play(strings.Repeat("6 ", 8) + "2 " + strings.Repeat("6 ", 8) + "1 1")
		s.ball("1")
		ball, row := &s.snap.Balls[19], s.row(1, 102)
		ball.Wicket, ball.Outcome, ball.OutID = true, "Run Out", 102
		row.Out, row.FoWOvers, row.FoWRuns = true, ball.Label, s.snap.Innings[0].Runs
		s.snap.Innings[0].Wickets = 1
		s.polls(4)
		want(t, s.keys(EventHundred, EventWicket), "m100:1:101-merged", "w:1:1!")
		want(t, s.texts(EventWicket), "WICKET! P102 run out 1 (1), hundred for P101 100 (19) · ALP 101/1 (3.2)")
		ball.Wicket, ball.Outcome, ball.OutID, row.Out = false, "", 0, false
		s.runs(ball, -1)
		s.snap.Innings[0].Wickets = 0
		s.polls(6)
		want(t, s.texts(EventCorrection)[:1], "Correction: P101 on 99, not 100; P102 not out · ALP 100/0 (3.2)")
	})
}

// An alert covers other events of its tick, by the rules of the catalogue.
func TestMerges(t *testing.T) {
	t.Run("wicket and hat-trick", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1 . W W")
		s.ball("W")
		s.polls(4)
		got := s.keys(EventWicket, EventHatTrick)
		want(t, got, "w:1:1!", "w:1:2!", "w:1:3-merged", "ht:1:211:3!")
		s.undo()
		s.polls(6)
		want(t, s.keys(EventCorrection), "corr:ht:1:211:3!", "corr:w:1:3-merged")
		want(t, s.texts(EventCorrection), "Correction: no hat-trick for P211; P104 not out · ALP 1/2 (0.5)", "Correction: P104 not out · ALP 1/2 (0.5)")
	})
	t.Run("boundary that wins", func(t *testing.T) {
		s := newScript(t, 1)
		s.options = Options{Alerts: map[EventType]bool{EventSix: true}}
		s.innings(teamA)
		s.play("1 1 1 1 1 1")
		s.innings(teamB)
		s.play("1 1")
		s.ball("6")
		s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamB, "Betas won by 10 wickets"
		s.polls(4)
		want(t, s.keys(EventSix, EventInningsEnd, EventResult), "inn:1!", "6:2:201:1-merged", "inn:2-merged", "result!")
	})
}

// The last wicket of an abandoned match does not alert, and after half an hour the match is finished.
func TestAbandonedMatchDoesNotAlert(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 .")
	s.ball("W")
	s.snap.Status = "Aban."
	s.polls(8)
	want(t, s.keys(EventWicket), "w:1:1-abandoned")
	s.polls(int(31 * time.Minute / (2500 * time.Millisecond)))
	if s.state.FinishedAt.IsZero() {
		t.Error("abandoned for half an hour, but not finished")
	}
}

// A result that exceeds the hourly limit is not dropped: it waits until the limit allows it.
func TestResultFindsRoom(t *testing.T) {
	s := newScript(t, 1)
	s.innings(teamA)
	s.play("1 1 1 1 1 1")
	s.innings(teamB)
	s.play("1 1 1 1 . .")
	s.state.AlertTimes = nil
	for i := range mostAlerts {
		s.state.AlertTimes = append(s.state.AlertTimes, s.now.Add(-59*time.Minute+time.Duration(i)*time.Second).UnixMilli())
	}
	s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamA, "Alphas won by 2 runs"
	s.polls(8)
	want(t, s.keys(EventResult))
	if s.state.Result == "" || s.state.Quiet() {
		t.Errorf("while it waits: result %q, quiet %v", s.state.Result, s.state.Quiet())
	}
	s.polls(30)
	want(t, s.keys(EventResult), "result!")
}

// A correction, however often it happens, is news of what it corrects.
func TestNewsOfEvents(t *testing.T) {
	for _, tc := range []struct {
		kind EventType
		key  string
		fact string
		news News
	}{
		{EventWicket, "w:1:3", "w:1:3", NewsWicket},
		{EventCorrection, "corr:w:1:3", "w:1:3", NewsWicket},
		{EventCorrection, "corr:w:1:3:2", "w:1:3", NewsWicket},
		{EventResult, "result", "result", NewsResult},
		{EventCorrection, "corr:result", "result", NewsResult},
		{EventCorrection, "corr:result:2", "result", NewsResult},
		{EventPostponed, "postp", "postp", NewsResult},
		{EventFifty, "m50:1:77", "m50:1:77", NewsOther},
		{EventCorrection, "corr:m50:1:77:3", "m50:1:77", NewsOther},
		{EventCorrection, "corr:5w:2:9", "5w:2:9", NewsWicket},
		{EventCorrection, "corr:inn:1:2", "inn:1", NewsWicket},
		{EventTargetRevised, "dls:180:20", "dls", NewsOther},
		{EventCorrection, "corr:dls:2", "dls", NewsOther},
	} {
		e := Event{Type: tc.kind, Key: tc.key}
		if got := e.FactKey(); got != tc.fact {
			t.Errorf("%s is news of %q, want %q", tc.key, got, tc.fact)
		}
		if got := e.News(); got != tc.news {
			t.Errorf("%s is news of kind %q, want %q", tc.key, got, tc.news)
		}
	}
}
