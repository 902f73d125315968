package cricket

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// script plays an invented match for the rules: balls are written as on a scoresheet ("1 . 4 W 2wd 6"), and the feed is polled
// every 2.5 seconds.
type script struct {
	t         *testing.T
	snap      Snapshot
	state     State
	known     map[string]bool
	rows      map[string]Event // cricket-events
	options   Options
	now       time.Time
	confirmed []Event // in order, also those without an alert
	id        int64
	legal     int
	pair      [2]int64 // striker first
	next      int64    // next batter in
}

const (
	teamA = 1
	teamB = 2
)

func newScript(t *testing.T, overs int) *script {
	start := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	s := &script{t: t, known: map[string]bool{}, rows: map[string]Event{}, now: start, id: 1000}
	s.snap = Snapshot{
		MatchID: "7", Status: "NS", Type: "T20", Overs: overs, StartsAt: start,
		Teams:   [2]Team{{teamA, "Alphas", "ALP"}, {teamB, "Betas", "BET"}},
		Players: map[int64]Name{},
	}
	for team := range int64(2) {
		for n := range int64(11) {
			id := (team+1)*100 + n + 1
			s.snap.Players[id] = Name{Full: fmt.Sprintf("Player %d", id), Last: fmt.Sprintf("P%d", id)}
		}
	}
	s.poll()
	return s
}

// innings begins the next innings.
func (s *script) innings(team int64) {
	no := len(s.snap.Innings) + 1
	s.snap.Status = Status([]string{"1st Innings", "2nd Innings", "2nd Innings", "2nd Innings"}[no-1])
	s.snap.Innings = append(s.snap.Innings, Innings{No: no, TeamID: team, Overs: "0.0", UpdatedAt: s.now})
	s.legal, s.next = 0, team*100+3
	s.pair = [2]int64{team*100 + 1, team*100 + 2}
	for i, id := range s.pair {
		s.snap.Batting = append(s.snap.Batting, BattingRow{Innings: no, Order: i + 1, TeamID: team, PlayerID: id})
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
	b := Ball{
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

// score adds a ball to the score and the batting rows.
func (s *script) score(in *Innings, b *Ball) {
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
	in.Overs = oversOf(s.legal, 6)
	if b.Wicket {
		in.Wickets++
		row.Out, row.BowlerID, row.FoWOvers, row.FoWRuns = true, b.BowlerID, b.Label, in.Runs
		s.pair[0] = s.next
		if in.Wickets < 10 {
			s.snap.Batting = append(s.snap.Batting, BattingRow{Innings: in.No, TeamID: in.TeamID, PlayerID: s.next})
		}
		s.next++
	}
	if b.BatRuns()%2 == 1 {
		s.pair[0], s.pair[1] = s.pair[1], s.pair[0]
	}
}

func (s *script) row(innings int, player int64) *BattingRow {
	for i := range s.snap.Batting {
		if r := &s.snap.Batting[i]; r.Innings == innings && r.PlayerID == player {
			return r
		}
	}
	s.t.Fatalf("no batting row of %d in innings %d", player, innings)
	return nil
}

// poll steps with the present snapshot and moves the time on by 2.5 seconds.
func (s *script) poll() Outcome {
	snap := s.snap
	snap.ReadAt = s.now
	out := Step(s.state, &snap, s.options, s.now)
	s.state = out.State
	for _, key := range out.Cleared {
		delete(s.known, key)
		delete(s.rows, key)
	}
	for _, e := range out.Revised {
		row, is := s.rows[e.Key]
		if !is {
			s.t.Errorf("event %s is revised, but was not recorded", e.Key)
		}
		e.At, e.Alert, e.Dropped, e.Owed = row.At, row.Alert, row.Dropped, row.Owed
		s.rows[e.Key] = e
	}
	alerts := 0
	for _, e := range out.Events {
		if e.Alert {
			alerts++
		}
		if s.known[e.Key] {
			s.t.Errorf("event %s is recorded twice", e.Key)
		}
		s.known[e.Key], s.rows[e.Key] = true, e
		s.confirmed = append(s.confirmed, e)
	}
	if alerts > 1 {
		s.t.Errorf("%d alerts in one tick", alerts)
	}
	s.now = s.now.Add(2500 * time.Millisecond)
	return out
}

// polls polls n times.
func (s *script) polls(n int) {
	for range n {
		s.poll()
	}
}

// play bowls balls one at a time, 40 seconds apart, and polls between them.
func (s *script) play(balls string) {
	for mark := range strings.FieldsSeq(balls) {
		s.ball(mark)
		s.polls(16)
	}
}

// keys returns the keys of the confirmed events of some types, or of all: those of alerts with "!", those of dropped alerts with
// "-" and the rule that dropped them.
func (s *script) keys(types ...EventType) []string {
	out := []string{}
	for _, e := range s.confirmed {
		if len(types) > 0 && !slices.Contains(types, e.Type) {
			continue
		}
		switch {
		case e.Alert:
			out = append(out, e.Key+"!")
		case e.Dropped != "":
			out = append(out, e.Key+"-"+e.Dropped)
		default:
			out = append(out, e.Key)
		}
	}
	return out
}
