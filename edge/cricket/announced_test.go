package cricket

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// announcedWicket plays until a wicket has been announced.
func announcedWicket(t *testing.T) *script {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 1")
	s.ball("W")
	s.polls(4)
	want(t, s.keys(EventWicket), "w:1:1!")
	return s
}

// texts returns the texts of the confirmed events of some types.
func (s *script) texts(types ...EventType) []string {
	out := []string{}
	for _, e := range s.confirmed {
		if slices.Contains(types, e.Type) {
			out = append(out, e.Text)
		}
	}
	return out
}

// undo takes the last wicket back: the batter is in again.
func (s *script) undo() {
	b := &s.snap.Balls[len(s.snap.Balls)-1]
	in := &s.snap.Innings[len(s.snap.Innings)-1]
	row := s.row(in.No, b.BatterID)
	row.Out, row.BowlerID, row.FoWOvers, row.FoWRuns = false, 0, "", 0
	b.Wicket, b.Outcome = false, ""
	in.Wickets--
	in.UpdatedAt = s.now
	s.snap.Batting = s.snap.Batting[:len(s.snap.Batting)-1]
	s.next--
	s.pair[0] = b.BatterID
}

func TestCorrections(t *testing.T) {
	t.Run("not out after a review", func(t *testing.T) {
		s := announcedWicket(t)
		s.undo()
		s.snap.Note = "Decision overturned on review"
		s.polls(2)
		want(t, s.keys(EventCorrection)) // the review may be reviewed: a correction is held as an event is
		s.polls(2)
		want(t, s.keys(EventCorrection), "corr:w:1:1!")
		want(t, s.texts(EventCorrection), "Correction: P101 not out (review) · ALP 2/0 (0.3)")
		s.polls(40)
		want(t, s.keys(EventCorrection), "corr:w:1:1!")
	})
	t.Run("taken back for a moment", func(t *testing.T) {
		s := announcedWicket(t)
		with := s.snap
		with.Balls, with.Batting, with.Innings = slices.Clone(with.Balls), slices.Clone(with.Batting), slices.Clone(with.Innings)
		s.undo()
		s.polls(2)
		s.snap = with
		s.snap.Innings[0].UpdatedAt = s.now
		s.polls(10)
		want(t, s.keys(EventCorrection))
	})
	t.Run("another batter", func(t *testing.T) {
		s := announcedWicket(t)
		b := &s.snap.Balls[len(s.snap.Balls)-1]
		row := *s.row(1, b.BatterID)
		other := s.row(1, s.pair[1])
		other.Out, other.BowlerID, other.FoWOvers, other.FoWRuns = true, row.BowlerID, row.FoWOvers, row.FoWRuns
		mine := s.row(1, b.BatterID)
		mine.Out, mine.BowlerID, mine.FoWOvers = false, 0, ""
		b.OutID, b.Outcome = s.pair[1], "Run Out"
		s.polls(4)
		want(t, s.keys(EventWicket, EventCorrection), "w:1:1!", "corr:w:1:1!")
		want(t, s.texts(EventCorrection), "Correction: not P101 but P102 run out 1 (1) · ALP 2/1 (0.3)")
	})
	t.Run("a wicket falls later under the used key", func(t *testing.T) {
		s := announcedWicket(t)
		s.undo()
		s.polls(4)
		s.play("1 . W")
		want(t, s.keys(EventWicket, EventCorrection), "w:1:1!", "corr:w:1:1!", "w:1:1!")
		if got := s.texts(EventWicket)[1]; !strings.HasPrefix(got, "WICKET! P102 b P211") {
			t.Errorf("the wicket that fell is announced as %q", got)
		}
		s.undo()
		s.polls(4)
		want(t, s.keys(EventCorrection), "corr:w:1:1!", "corr:w:1:1:2!")
	})
	t.Run("merged into an innings end", func(t *testing.T) {
		s := newScript(t, 1)
		s.innings(teamA)
		s.play(". . . . 1")
		s.ball("W")
		s.polls(4)
		want(t, s.keys(EventWicket, EventInningsEnd), "w:1:1-merged", "inn:1!")
		s.undo()
		s.polls(4)
		want(t, s.keys(EventCorrection), "corr:inn:1!", "corr:w:1:1-merged")
		want(t, s.texts(EventCorrection)[:1], "Correction: ALP 1/0 (1). BET need 2; P102 not out · ALP 1/0 (1)")
	})
	t.Run("two wickets, one of them taken back", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play(".")
		s.bowl("W W")
		s.polls(4)
		want(t, s.keys(EventWicket), "w:1:1-merged", "w:1:2!")
		s.undo()
		s.polls(4)
		want(t, s.keys(EventCorrection), "corr:w:1:2!")
	})
	t.Run("nobody was told of it", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play(". .")
		s.ball("W")
		s.now = s.now.Add(2 * time.Minute)
		s.polls(4)
		want(t, s.keys(EventWicket), "w:1:1-stale")
		s.undo()
		s.polls(4)
		if s.known["w:1:1"] {
			t.Error("the row of the withdrawn wicket is still there")
		}
		s.play(". W")
		want(t, s.keys(EventWicket, EventCorrection), "w:1:1-stale", "w:1:1!")
	})
	t.Run("a hundred that was a run short", func(t *testing.T) {
		s := newScript(t, 50)
		s.innings(teamA)
		s.play(strings.Repeat("6 ", 8) + "2 " + strings.Repeat("6 ", 8))
		s.ball("2")
		s.polls(4)
		want(t, s.keys(EventHundred), "m100:1:101!")
		b := &s.snap.Balls[len(s.snap.Balls)-1]
		b.Runs--
		s.snap.Innings[0].Runs--
		s.snap.Innings[0].UpdatedAt = s.now
		s.row(1, 101).Runs--
		s.polls(4)
		want(t, s.texts(EventCorrection), "Correction: P101 on 99, not 100 · ALP 99/0 (3)")
		s.pair = [2]int64{101, 102}
		s.play("1")
		want(t, s.keys(EventHundred, EventCorrection), "m100:1:101!", "corr:m100:1:101!", "m100:1:101!")
	})
	t.Run("a fifty that was a run short", func(t *testing.T) {
		s := newScript(t, 50)
		s.innings(teamA)
		s.play(strings.Repeat("6 ", 8))
		s.ball("2")
		s.polls(4)
		b := &s.snap.Balls[len(s.snap.Balls)-1]
		b.Runs--
		s.snap.Innings[0].Runs--
		s.snap.Innings[0].UpdatedAt = s.now
		s.row(1, 101).Runs--
		s.polls(4)
		want(t, s.keys(EventFifty, EventCorrection), "m50:1:101!", "corr:m50:1:101!")
	})
}

// A break that begins while a correction is held does not drop the correction.
func TestCorrectionDuringABreak(t *testing.T) {
	s := announcedWicket(t)
	b := &s.snap.Balls[len(s.snap.Balls)-1]
	row := s.row(1, b.BatterID)
	row.Out, row.FoWOvers = false, ""
	b.Wicket, b.Outcome = false, ""
	s.snap.Innings[0].Wickets--
	s.snap.Innings[0].UpdatedAt = s.now
	s.poll()
	s.snap.Status = "Lunch"
	for range 12 {
		s.poll()
	}
	want(t, s.keys(EventCorrection), "corr:w:1:1!")
	s.snap.Status = "1st Innings"
	s.polls(4)
	s.bowl("W")
	s.polls(6) // the feed took a wicket back: the next one is held for twelve seconds
	want(t, s.keys(EventWicket, EventCorrection), "w:1:1!", "corr:w:1:1!", "w:1:1!")
}

func TestResultIsCorrected(t *testing.T) {
	finished := func(t *testing.T) *script {
		s := newScript(t, 1)
		s.innings(teamA)
		s.play("1 1 1 1 1 1")
		s.innings(teamB)
		s.play("6 1")
		s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamB, "Betas won by 10 wickets"
		s.polls(4)
		want(t, s.keys(EventResult), "result!")
		return s
	}
	t.Run("another winner", func(t *testing.T) {
		s := finished(t)
		s.snap.Winner, s.snap.Note = teamA, "Alphas awarded the match"
		s.polls(4)
		want(t, s.texts(EventCorrection), "Correction: Alphas awarded the match")
		if s.state.Result != "Alphas awarded the match" {
			t.Errorf("the result is still %q", s.state.Result)
		}
	})
	t.Run("a winner that contradicts the scores", func(t *testing.T) {
		s := finished(t)
		s.snap.Winner, s.snap.Note = teamA, "Alphas won by 2 runs"
		s.polls(100)
		want(t, s.keys(EventCorrection))
		if s.state.Result != "Betas won by 10 wickets" {
			t.Errorf("the result is %q", s.state.Result)
		}
	})
	t.Run("a margin that the scores leave open", func(t *testing.T) {
		s := newScript(t, 20) // the overs were reduced, and the feed does not say so
		s.innings(teamA)
		s.play("1 1 1 1 1 1")
		s.innings(teamB)
		s.play("1 1 1 . . .")
		s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamA, "Alphas won by 84 runs"
		s.polls(80)
		want(t, s.texts(EventResult), "Alphas won by 84 runs")
		s.snap.Note = "Alphas won by 3 runs"
		s.polls(30)
		want(t, s.texts(EventCorrection))
		s.polls(60)
		want(t, s.texts(EventCorrection), "Correction: Alphas won by 3 runs")
		if s.state.Result != "Alphas won by 3 runs" {
			t.Errorf("the result is still %q", s.state.Result)
		}
	})
	t.Run("without a margin", func(t *testing.T) {
		for _, text := range []string{"Betas won (match awarded)", "Betas won the bowl-out"} {
			s := finished(t)
			s.snap.Note = text
			s.polls(4)
			want(t, s.texts(EventCorrection), "Correction: "+text)
			if got := s.rows[resultKey].Text; got != text {
				t.Errorf("the row is %q", got)
			}
		}
	})
	t.Run("a moment of play", func(t *testing.T) {
		s := finished(t)
		s.snap.Status = "2nd Innings"
		s.poll()
		s.snap.Status = "Finished"
		s.polls(10)
		want(t, s.keys(EventResult, EventCorrection), "result!")
	})
	t.Run("the winner is named late", func(t *testing.T) {
		s := newScript(t, 1)
		s.innings(teamA)
		s.play("2 2 2 2 2 2")
		s.innings(teamB)
		s.play("1 1 1 1 1 1")
		s.snap.Status = "Finished"
		s.polls(80)
		if got := s.texts(EventResult); len(got) != 1 || strings.Contains(got[0], "won") {
			t.Errorf("without a winner it is announced as %q", got)
		}
		s.snap.Winner, s.snap.Note = teamA, "Alphas won by 6 runs"
		s.polls(4)
		want(t, s.texts(EventCorrection), "Correction: Alphas won by 6 runs")
	})
}

// The verdict says whether the scores confirm the winner, contradict it or leave it open.
func TestVerdict(t *testing.T) {
	limited := func(second Innings, winner int64, note string) *Snapshot {
		return &Snapshot{
			Status: "Finished", Type: "T20", Overs: 20, Winner: winner, Note: note,
			Teams:   [2]Team{{teamA, "Alphas", "ALP"}, {teamB, "Betas", "BET"}},
			Innings: []Innings{{No: 1, TeamID: teamA, Runs: 150, Wickets: 6, Overs: "20.0"}, second},
		}
	}
	test := func(totals ...int) *Snapshot {
		s := &Snapshot{Status: "Finished", Type: "Test/5day", Teams: [2]Team{{ID: teamA}, {ID: teamB}}}
		for i, runs := range totals {
			s.Innings = append(s.Innings, Innings{No: i + 1, TeamID: int64(i%2 + 1), Runs: runs, Wickets: 10, Overs: "80.0"})
		}
		return s
	}
	won := func(s *Snapshot, winner int64) *Snapshot { s.Winner = winner; return s }
	revised := func(second Innings, winner int64, note string) *Snapshot {
		s := limited(second, winner, note)
		s.RevTarget, s.RevOvers = 95, "10.0"
		return s
	}
	for name, tc := range map[string]struct {
		s    *Snapshot
		want verdict
	}{
		"chased":                   {limited(Innings{No: 2, TeamID: teamB, Runs: 151, Wickets: 3, Overs: "18.0"}, teamB, ""), verdictSound},
		"chased, other named":      {limited(Innings{No: 2, TeamID: teamB, Runs: 151, Wickets: 3, Overs: "18.0"}, teamA, ""), verdictWrong},
		"defended":                 {limited(Innings{No: 2, TeamID: teamB, Runs: 140, Wickets: 9, Overs: "20.0"}, teamA, ""), verdictSound},
		"defended, wrong note":     {limited(Innings{No: 2, TeamID: teamB, Runs: 140, Wickets: 9, Overs: "20.0"}, teamA, "Alphas won by 63 runs"), verdictOpen},
		"still chasing":            {limited(Innings{No: 2, TeamID: teamB, Runs: 140, Wickets: 5, Overs: "18.0"}, teamA, ""), verdictOpen},
		"rain rule in a note":      {limited(Innings{No: 2, TeamID: teamB, Runs: 80, Wickets: 5, Overs: "10.0"}, teamA, "Alphas won by 12 runs (DLS method)"), verdictSound},
		"revised, chased":          {revised(Innings{No: 2, TeamID: teamB, Runs: 95, Overs: "9.0"}, teamB, "DLS"), verdictSound},
		"revised, chased, other":   {revised(Innings{No: 2, TeamID: teamB, Runs: 95, Overs: "9.0"}, teamA, "Alphas won (DLS)"), verdictWrong},
		"revised, defended":        {revised(Innings{No: 2, TeamID: teamB, Runs: 80, Overs: "10.0"}, teamA, ""), verdictSound},
		"revised, defended, other": {revised(Innings{No: 2, TeamID: teamB, Runs: 80, Wickets: 10, Overs: "8.0"}, teamB, "DLS"), verdictWrong},
		"revised, ended by rain":   {revised(Innings{No: 2, TeamID: teamB, Runs: 80, Wickets: 1, Overs: "7.0"}, teamB, "DLS"), verdictSound},
		"revised, rain, other":     {revised(Innings{No: 2, TeamID: teamB, Runs: 80, Wickets: 1, Overs: "7.0"}, teamA, "Betas won by 17 runs (DLS)"), verdictWrong},
		"revised, ahead":           {revised(Innings{No: 2, TeamID: teamB, Runs: 80, Overs: "10.0"}, teamB, "Betas won by 17 runs (DLS)"), verdictSound},
		"revised, not ahead":       {revised(Innings{No: 2, TeamID: teamB, Runs: 80, Overs: "10.0"}, teamB, "(DLS)"), verdictWrong},
		"revised, conceded":        {revised(Innings{No: 2, TeamID: teamB, Runs: 95, Overs: "9.0"}, teamA, "Betas conceded"), verdictSound},
		"tie, way not named":       {limited(Innings{No: 2, TeamID: teamB, Runs: 150, Wickets: 5, Overs: "20.0"}, teamA, "Alphas won by 3 runs"), verdictOpen},
		"tie, bowl-out":            {limited(Innings{No: 2, TeamID: teamB, Runs: 150, Wickets: 5, Overs: "20.0"}, teamA, "Match tied (Alphas won the bowl-out)"), verdictSound},
		"tie":                      {limited(Innings{No: 2, TeamID: teamB, Runs: 150, Wickets: 5, Overs: "20.0"}, 0, ""), verdictOpen},
		"tie, named":               {limited(Innings{No: 2, TeamID: teamB, Runs: 150, Wickets: 5, Overs: "20.0"}, 0, "Match tied"), verdictSound},
		"nobody named":             {limited(Innings{No: 2, TeamID: teamB, Runs: 140, Wickets: 9, Overs: "20.0"}, 0, ""), verdictOpen},
		"in the first innings":     {won(&Snapshot{Overs: 20, Innings: []Innings{{No: 1, TeamID: teamA, Overs: "9.0"}}}, teamA), verdictOpen},
		"by an innings":            {won(test(400, 150, 0, 0), 0), verdictOpen},
		"test chase":               {won(test(200, 180, 150, 171), teamB), verdictSound},
		"test chase, wrong":        {won(test(200, 180, 150, 171), teamA), verdictWrong},
		"test defended":            {won(test(200, 180, 150, 100), teamA), verdictSound},
		"test in the second":       {won(test(200, 180), teamA), verdictOpen},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.s.verdict(); got != tc.want {
				t.Errorf("verdict %d, want %d", got, tc.want)
			}
		})
	}
}

// Corrections, and events true again after one, may exceed the hourly limit for news. Beyond that they wait:
// they are announced late, in one alert, or not at all if there is nothing left to correct.
func TestCorrectionsFindRoom(t *testing.T) {
	full := func(s *script, n int) {
		s.state.AlertTimes = nil
		for i := range n {
			s.state.AlertTimes = append(s.state.AlertTimes, s.now.Add(-58*time.Minute+time.Duration(i)*time.Second).UnixMilli())
		}
	}
	t.Run("beyond the news", func(t *testing.T) {
		s := announcedWicket(t)
		full(s, firstAlerts)
		s.undo()
		s.polls(4)
		want(t, s.keys(EventCorrection), "corr:w:1:1!")
		s.play("W")
		s.play("W")
		want(t, s.keys(EventWicket), "w:1:1!", "w:1:1!", "w:1:2-budget")
	})
	t.Run("late", func(t *testing.T) {
		s := announcedWicket(t)
		full(s, mostAlerts)
		s.undo()
		s.polls(12)
		want(t, s.keys(EventCorrection))
		s.polls(48)
		want(t, s.keys(EventCorrection), "corr:w:1:1!")
	})
	t.Run("not at all", func(t *testing.T) {
		s := announcedWicket(t)
		with := s.snap
		with.Balls, with.Batting, with.Innings = slices.Clone(with.Balls), slices.Clone(with.Batting), slices.Clone(with.Innings)
		full(s, mostAlerts)
		s.undo()
		s.polls(12)
		s.snap = with
		s.snap.Innings[0].UpdatedAt = s.now
		s.polls(60)
		want(t, s.keys(EventWicket, EventCorrection), "w:1:1!")
	})
	t.Run("in the words of one that has room", func(t *testing.T) {
		s := newScript(t, 1)
		s.innings(teamA)
		s.play("1 1 W 1 1 1")
		s.innings(teamB)
		s.play("1 1 . . . .")
		s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamA, "Alphas won by 3 runs"
		s.polls(8)
		full(s, mostAlerts-1) // the last place is for the result or its correction
		s.snap.Status, s.snap.Winner, s.snap.Note = "2nd Innings", 0, ""
		b := &s.snap.Balls[2]
		row := s.row(1, b.BatterID)
		row.Out, row.BowlerID, row.FoWOvers, row.FoWRuns = false, 0, "", 0
		b.Wicket, b.Outcome = false, ""
		s.snap.Innings[0].Wickets--
		s.snap.Innings[0].UpdatedAt, s.snap.Innings[1].UpdatedAt = s.now, s.now
		s.polls(8)
		want(t, s.keys(EventCorrection), "corr:inn:1-merged", "corr:result!", "corr:w:1:1-merged")
	})
	t.Run("the match waits for it", func(t *testing.T) {
		s := newScript(t, 1)
		s.innings(teamA)
		s.play("1 1 W 1 1 1")
		s.innings(teamB)
		s.play("6")
		s.snap.Status, s.snap.Winner, s.snap.Note = "Finished", teamB, "Betas won by 10 wickets"
		s.polls(4)
		full(s, mostAlerts)
		row := s.row(1, 102)
		if !row.Out {
			row = s.row(1, 101)
		}
		row.Out, row.BowlerID, row.FoWOvers = false, 0, ""
		b := &s.snap.Balls[2]
		b.Wicket, b.Outcome = false, ""
		s.snap.Innings[0].Wickets--
		s.polls(int(keepOpen/(2500*time.Millisecond)) + 8)
		if want(t, s.keys(EventCorrection)[:1], "corr:inn:1!"); s.state.Status == ActiveLive {
			s.polls(100)
		}
		if s.state.Status != ActiveEnded {
			t.Errorf("after the correction the match is %s", s.state.Status)
		}
	})
}

// A wicket is announced with its dismissal, an innings with its score, and one target at a time: when these change, phones get a
// correction.
func TestFactsAreCorrected(t *testing.T) {
	t.Run("how it fell", func(t *testing.T) {
		s := announcedWicket(t)
		b := &s.snap.Balls[len(s.snap.Balls)-1]
		b.Outcome = "LBW OUT"
		s.polls(4)
		if got := s.texts(EventCorrection); len(got) != 1 || !strings.HasPrefix(got[0], "Correction: P101 lbw b P211 1 ") {
			t.Errorf("corrections %q", got)
		}
	})
	t.Run("the score of an innings", func(t *testing.T) {
		s := newScript(t, 1)
		s.innings(teamA)
		s.play("1 1 1 1 1 1")
		b := &s.snap.Balls[5]
		b.Runs, b.Four = 4, true
		s.snap.Innings[0].Runs += 3
		s.snap.Innings[0].UpdatedAt = s.now
		s.polls(4)
		want(t, s.texts(EventInningsEnd, EventCorrection), "ALP 6/0 (1). BET need 7", "Correction: ALP 9/0 (1). BET need 10")
	})
	t.Run("a target that is taken back", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1 1 1")
		s.snap.RevOvers = "18"
		s.polls(4)
		s.snap.RevOvers = "10"
		s.polls(4)
		s.snap.RevOvers = "18"
		s.polls(4)
		s.snap.RevOvers = ""
		s.polls(4)
		want(t, s.keys(EventTargetRevised, EventCorrection), "dls:0:18!", "dls:0:10!", "corr:dls!", "corr:dls:2!")
		want(t, s.texts(EventCorrection), "Correction: Match reduced to 18 overs a side", "Correction: the target stands · ALP 3/0 (0.3)")
		s.snap.RevOvers = "18"
		s.polls(4)
		want(t, s.keys(EventTargetRevised), "dls:0:18!", "dls:0:10!", "dls:0:18!")
	})
	t.Run("the first of two wickets is taken back", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("W W")
		b := &s.snap.Balls[0]
		row := s.row(1, b.BatterID)
		row.Out, row.BowlerID, row.FoWOvers = false, 0, ""
		b.Wicket, b.Outcome = false, ""
		s.snap.Innings[0].Wickets--
		s.snap.Innings[0].UpdatedAt = s.now
		s.polls(4)
		want(t, s.texts(EventCorrection)[:1], "Correction: not P101 but P103 b P211 0 (1); P103 was the 1st wicket, not the 2nd · ALP 0/1 (0.2)")
	})
}

// The row of a boundary that the feed takes back is deleted; a six that becomes a four is recorded as a four.
func TestBoundariesAreRevised(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 4 6")
	four, six := &s.snap.Balls[1], &s.snap.Balls[2]
	want(t, s.keys(EventFour, EventSix), "4:1:102:1", "6:1:102:1")
	four.Runs, four.Four = 3, false
	six.Runs, six.Six, six.Four = 4, false, true
	s.snap.Innings[0].Runs -= 3
	s.snap.Innings[0].UpdatedAt = s.now
	s.row(1, four.BatterID).Runs -= 3
	s.polls(8)
	if s.known["6:1:102:1"] {
		t.Error("the row of the withdrawn six is still there")
	}
	want(t, s.keys(EventFour, EventSix, EventCorrection), "4:1:102:1", "6:1:102:1", "4:1:102:1")
	if row := s.rows["4:1:102:1"]; row.Type != EventFour || row.Text != "FOUR! P102 · ALP 8/0 (0.3)" {
		t.Errorf("the row of the six that became a four is %+v", row)
	}
	s.play(strings.Repeat("1 ", 2*lastBalls+6))
	for _, f := range s.state.Announced.facts() {
		if strings.HasPrefix(f.key, "4:") {
			t.Errorf("%+v is still kept for an old ball", f)
		}
	}
}
