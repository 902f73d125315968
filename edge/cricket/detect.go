package cricket

import (
	"slices"
	"time"
)

// Candidate is an event as one reading of the feed has it. It is an Event to be once it has held: the reading may
// be corrected within seconds.
type Candidate struct {
	Event
	SeenAt  time.Time // when the feed says it happened
	Mark    string    // what it was read from; when that changes, the hold begins again
	Subject string    // who it is about (the batter out, the winner): the same key with another is another fact
}

// Detect tells everything that has happened in a match as the reading has it, in order. It knows nothing of what
// was told before: keys do. So a poll that was missed, a restart and a second poller all find the same events. What
// the reading cannot show comes from prev: a break that has begun, balls that it leaves out.
func Detect(_ *State, s *Snapshot) []Candidate {
	var out []Candidate
	var r runs
	for i := range s.Innings {
		in := &s.Innings[i]
		balls := s.ballsIn(in.No)
		if i == 0 {
			out = append(out, s.detectStart(in, balls)...)
		}
		if s.IsSuperOver(in.No) && (in.No-s.regulation())%2 == 1 {
			out = append(out, s.detectSuperOver(in))
		}
		t := newTally(s, in, &r)
		for j := range balls {
			out = append(out, t.ball(&balls[j])...)
		}
		out = append(out, t.unseen()...)
		if cause := s.Ended(in); cause != CauseNone {
			out = append(out, s.detectInningsEnd(in, cause))
		}
	}
	out = append(out, s.detectStumps()...)
	return append(out, s.detectResult()...)
}

// ballsIn is the run of balls of one innings.
func (s *Snapshot) ballsIn(innings int) []Ball {
	from, _ := slices.BinarySearchFunc(s.Balls, innings, func(b Ball, n int) int { return b.Innings - n })
	to, _ := slices.BinarySearchFunc(s.Balls, innings+1, func(b Ball, n int) int { return b.Innings - n })
	return s.Balls[from:to]
}

// agrees tells whether score and balls of an innings say the same. They are a ball apart for a moment in many
// replies; what only one of them shows waits for the next.
func (s *Snapshot) agrees(in *Innings) bool {
	balls := s.ballsIn(in.No)
	if len(balls) == 0 {
		return true // no balls were asked for, or none was bowled
	}
	runs, wickets, legal := in.Penalty, 0, 0
	for i := range balls {
		b := &balls[i]
		runs += b.Total()
		if b.Wicket {
			wickets++
		}
		if b.Legal() {
			legal++
		}
	}
	return runs == in.Runs && wickets <= in.Wickets && legal == s.legal(in)
}

// torn tells whether the innings in play disagrees with its balls.
func (s *Snapshot) torn() bool {
	in := s.current()
	return in != nil && !s.agrees(in)
}
