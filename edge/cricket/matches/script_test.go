package matches_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
)

// script is a made-up limited-overs match: balls are written as on a scoresheet ("1 . 4 W 2wd 6"). The tests of package
// cricket have one that polls too.
type script struct {
	t     *testing.T
	snap  cricket.Snapshot
	now   time.Time
	id    int64
	legal int
	pair  [2]int64 // striker first
	next  int64    // next batter in
}

const (
	teamA = 1
	teamB = 2
)

func newScript(t *testing.T, overs int) *script {
	start := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	s := &script{t: t, now: start, id: 1000}
	s.snap = cricket.Snapshot{
		MatchID: "7", Status: "NS", Type: "T20", Overs: overs, StartsAt: start,
		Teams:   [2]cricket.Team{{ID: teamA, Name: "Alphas", Code: "ALP"}, {ID: teamB, Name: "Betas", Code: "BET"}},
		Players: map[int64]cricket.Name{},
	}
	for team := range int64(2) {
		for n := range int64(11) {
			id := (team+1)*100 + n + 1
			s.snap.Players[id] = cricket.Name{Full: fmt.Sprintf("Player %d", id), Last: fmt.Sprintf("P%d", id)}
		}
	}
	return s
}

// innings begins the next innings.
func (s *script) innings(team int64) {
	no := len(s.snap.Innings) + 1
	s.snap.Status = cricket.Status([]string{"1st Innings", "2nd Innings", "2nd Innings", "2nd Innings"}[no-1])
	s.snap.Innings = append(s.snap.Innings, cricket.Innings{No: no, TeamID: team, Overs: "0.0", UpdatedAt: s.now})
	s.legal, s.next = 0, team*100+3
	s.pair = [2]int64{team*100 + 1, team*100 + 2}
	for i, id := range s.pair {
		s.snap.Batting = append(s.snap.Batting, cricket.BattingRow{Innings: no, Order: i + 1, TeamID: team, PlayerID: id})
	}
}

// bowl adds balls without polling.
func (s *script) bowl(balls string) {
	for mark := range strings.FieldsSeq(balls) {
		s.ball(mark)
	}
}

func (s *script) ball(mark string) {
	in := &s.snap.Innings[len(s.snap.Innings)-1]
	s.id += 3
	b := cricket.Ball{
		ID: s.id, Innings: in.No, TeamID: in.TeamID, Over: s.legal / 6,
		Label:    fmt.Sprintf("%d.%d", s.legal/6, s.legal%6+1),
		BatterID: s.pair[0], PairIDs: s.pair, BowlerID: (3-in.TeamID)*100 + 11 - int64(s.legal/6%2), UpdatedAt: s.now,
	}
	switch {
	case mark == "W":
		b.Outcome, b.Wicket = "Clean Bowled", true
	case strings.HasSuffix(mark, "wd"):
		b.Wide, b.Outcome = true, "Wide"
		b.Runs, _ = strconv.Atoi(strings.TrimSuffix(mark, "wd"))
	case mark != ".":
		b.Runs, _ = strconv.Atoi(mark)
		b.Four, b.Six = b.Runs == 4, b.Runs == 6
	}
	s.snap.Balls = append(s.snap.Balls, b)
	s.score(in, &b)
}

// score adds a ball to the rows.
func (s *script) score(in *cricket.Innings, b *cricket.Ball) {
	in.Runs += b.Total()
	in.UpdatedAt = s.now
	row := s.row(in.No, b.BatterID)
	row.Runs += b.BatRuns()
	if b.Four {
		row.Fours++
	}
	if b.Six {
		row.Sixes++
	}
	if b.Legal() {
		s.legal++
		row.Balls++
	}
	in.Overs = fmt.Sprintf("%d.%d", s.legal/6, s.legal%6)
	if b.Wicket {
		in.Wickets++
		row.Out, row.BowlerID, row.FoWOvers, row.FoWRuns = true, b.BowlerID, b.Label, in.Runs
		s.pair[0] = s.next
		if in.Wickets < 10 {
			s.snap.Batting = append(s.snap.Batting, cricket.BattingRow{Innings: in.No, TeamID: in.TeamID, PlayerID: s.next})
		}
		s.next++
	}
	if b.BatRuns()%2 == 1 {
		s.pair[0], s.pair[1] = s.pair[1], s.pair[0]
	}
}

func (s *script) row(innings int, player int64) *cricket.BattingRow {
	for i := range s.snap.Batting {
		if r := &s.snap.Batting[i]; r.Innings == innings && r.PlayerID == player {
			return r
		}
	}
	s.t.Fatalf("no batting row of %d in innings %d", player, innings)
	return nil
}
