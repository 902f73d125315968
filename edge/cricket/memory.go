package cricket

import (
	"slices"
	"time"
)

// Memory is what a match must remember beyond its last snapshot: what snapshots without all balls cannot show
// again, and when the feed's statuses changed.
type Memory struct {
	StatusAt time.Time `dynamodbav:"statusAt,omitempty"` // when the current status was first read
	TossAt   time.Time `dynamodbav:"tossAt,omitempty"`
	LineUpAt time.Time `dynamodbav:"lineUpAt,omitempty"`
	Stumps   int       `dynamodbav:"stumps,omitempty"` // the last day whose stumps were read
	Stops    []Stop    `dynamodbav:"stops,omitempty"`  // interruptions, newest last
	Stopped  bool      `dynamodbav:"stopped,omitempty"`

	Streaks   []Streak `dynamodbav:"streaks,omitempty"`   // wickets with the bowler's latest balls
	HatTricks []Streak `dynamodbav:"hatTricks,omitempty"` // three wickets in three balls

	Balled    []int        `dynamodbav:"balled,omitempty"`  // innings whose balls were read
	Innings   int          `dynamodbav:"innings,omitempty"` // the innings of the fields below
	Batters   []BatterSeen `dynamodbav:"batters,omitempty"`
	Bowlers   []BowlerSeen `dynamodbav:"bowlers,omitempty"`
	Close     bool         `dynamodbav:"close,omitempty"`     // the chase was close once
	CloseLast bool         `dynamodbav:"closeLast,omitempty"` // the same in the last over
	Rowed     bool         `dynamodbav:"rowed,omitempty"`     // rows may have reported what no ball had shown
}

// Stop is the point at which play was interrupted.
type Stop struct {
	Innings int    `dynamodbav:"i"`
	Overs   string `dynamodbav:"o"`
}

// Streak is a bowler's wickets in consecutive balls.
type Streak struct {
	Bowler  int64   `dynamodbav:"b"`
	Places  []int64 `dynamodbav:"p"`           // of the balls
	Outs    []int64 `dynamodbav:"w,omitempty"` // the batters out
	Last    int64   `dynamodbav:"l,omitempty"` // id of the last ball
	Nth     int     `dynamodbav:"n,omitempty"` // of a hat-trick: the number of its last wicket among the bowler's
	Innings int     `dynamodbav:"i"`           // of the last ball
	Over    string  `dynamodbav:"o"`
}

// BatterSeen is what is known of a batter's sixes in the current innings.
type BatterSeen struct {
	Player int64 `dynamodbav:"p"`
	Last   int   `dynamodbav:"l,omitempty"` // sixes in the row at the last snapshot
	Jump   int   `dynamodbav:"j,omitempty"` // sixes in the row when two were added at once
}

// BowlerSeen is the number of a bowler's maidens reported from balls in the current innings.
type BowlerSeen struct {
	Player  int64 `dynamodbav:"p"`
	Maidens int   `dynamodbav:"m"`
}

// next returns the memory after a snapshot; prev is the state before it, recorded its keys. detect uses it, and Step keeps the same one.
func (m Memory) next(prev *State, s *Snapshot, recorded keySet) Memory {
	m.noteStatus(prev, s)
	if len(s.Balls) > 0 {
		m.noteStreaks(s)
	}
	in := s.current()
	if in == nil {
		return m
	}
	if len(s.ballsIn(in.No)) > 0 && !slices.Contains(m.Balled, in.No) {
		m.Balled = append(slices.Clip(m.Balled), in.No)
	}
	m.Rowed = m.Rowed || (in.Runs > 0 || in.Wickets > 0) && (len(s.ballsIn(in.No)) == 0 || !s.agrees(in))
	if m.Innings != in.No {
		m.Innings, m.Batters, m.Bowlers = in.No, nil, nil
	}
	m.noteRows(prev, s, in, m.knownKeys(recorded))
	if s.Balls == nil && s.closeNow(in) {
		last := s.closeKeyAt(s.quota(in)-s.legal(in)) == closeLastKey
		m.Close, m.CloseLast = m.Close || !last, m.CloseLast || last
	}
	return m
}

// noteStatus remembers when the status, toss and line-ups were first read, the day, and whether play is
// interrupted. An interruption counts from its second snapshot, because statuses flap.
func (m *Memory) noteStatus(prev *State, s *Snapshot) {
	if m.StatusAt.IsZero() || prev.PreviousStatus.word() != s.Status.word() {
		m.StatusAt = s.ReadAt
	}
	if m.TossAt.IsZero() && s.Toss.TeamID != 0 {
		m.TossAt = s.ReadAt
	}
	if m.LineUpAt.IsZero() && s.LineUp >= bothLineUps {
		m.LineUpAt = s.ReadAt
	}
	m.Stumps = max(m.Stumps, s.Status.stumps())
	stop := s.stop()
	switch phase := s.phase(); {
	case phase == PhaseInterrupted && prev.PreviousStatus.word() == s.Status.word():
		if !m.Stopped {
			m.Stopped = true
			m.Stops = append(slices.DeleteFunc(slices.Clone(m.Stops), func(x Stop) bool { return x == stop }), stop)
		}
	case phase == PhaseInterrupted, phase == "":
	case phase != PhaseLive, len(m.Stops) == 0, s.ballsSince(m.Stops[len(m.Stops)-1]) > resumedBalls:
		m.Stopped = false // another day or innings, or play has continued for a while
	}
}

// resumedBalls is the number of balls for which "play resumes" is news.
const resumedBalls = 3

// stop returns the point play has reached.
func (s *Snapshot) stop() Stop {
	in := s.current()
	if in == nil {
		return Stop{Overs: "0.0"}
	}
	return Stop{in.No, in.Overs}
}

// ballsSince returns the number of balls bowled since an interruption, resumedBalls+1 in another innings.
func (s *Snapshot) ballsSince(x Stop) int {
	now := s.stop()
	if now.Innings != x.Innings {
		return resumedBalls + 1
	}
	return max(0, ballsOf(now.Overs, s.BallsPerOver())-ballsOf(x.Overs, s.BallsPerOver()))
}

// day returns the day of the match, from 1. If no stumps were read it follows from the dates.
func (m *Memory) day(s *Snapshot) int {
	if n := s.Status.stumps(); n > 0 {
		return n
	}
	day := m.Stumps
	if in := s.current(); day == 0 && in != nil && s.MultiDay() && !s.StartsAt.IsZero() {
		day = max(0, int(in.UpdatedAt.Sub(s.StartsAt)/(24*time.Hour)))
	}
	if s.isOver() {
		return max(1, day)
	}
	return day + 1
}

// noteRows remembers what rows and balls of the current innings have reported, so that neither reports it again.
// While they disagree, what balls have reported stays: some may be missing.
func (m *Memory) noteRows(prev *State, s *Snapshot, in *Innings, known keySet) {
	balls, agrees := s.ballsIn(in.No), s.agrees(in)
	sameOver := s.sameOver(prev, in)
	var batters []BatterSeen
	for r := range s.battingOf(in.No) {
		seen := BatterSeen{Player: r.PlayerID}
		k := slices.IndexFunc(m.Batters, func(b BatterSeen) bool { return b.Player == r.PlayerID })
		if k >= 0 {
			seen = m.Batters[k]
		}
		if len(balls) == 0 && k >= 0 && sameOver && r.Sixes >= seen.Last+2 {
			seen.Jump = r.Sixes
		}
		seen.Last = r.Sixes
		batters = append(batters, seen)
	}
	if batters != nil {
		m.Batters = batters
	}
	if len(balls) > 0 {
		m.noteMaidens(known, s, in, balls, agrees)
	}
}

// sameOver reports whether all balls since the last snapshot belong to one over.
func (s *Snapshot) sameOver(prev *State, in *Innings) bool {
	for _, p := range prev.PreviousScore {
		if p.Innings == in.No {
			return ballsOf(p.Overs, s.BallsPerOver())/s.BallsPerOver() == max(0, s.legal(in)-1)/s.BallsPerOver()
		}
	}
	return false
}

// noteMaidens remembers how many maidens of each bowler were reported from balls.
func (m *Memory) noteMaidens(known keySet, s *Snapshot, in *Innings, balls []Ball, agrees bool) {
	overs, before := s.maidensIn(balls), m.Bowlers
	m.Bowlers = nil
	for r := range s.bowlingOf(in.No) {
		if r.Maidens == 0 {
			continue
		}
		n := -known.absorbedMaidens(overs, in.No, r.PlayerID)
		for _, o := range overs {
			if o.bowler == r.PlayerID {
				n++
			}
		}
		if k := slices.IndexFunc(before, func(b BowlerSeen) bool { return b.Player == r.PlayerID }); k >= 0 && !agrees {
			n = max(n, before[k].Maidens)
		}
		m.Bowlers = append(m.Bowlers, BowlerSeen{r.PlayerID, n})
	}
}

// knownKeys returns the recorded keys if rows may have reported events, otherwise nil: looking up keys is expensive.
func (m *Memory) knownKeys(recorded keySet) keySet {
	if !m.Rowed {
		return nil
	}
	return recorded
}

// absorbedMaidens returns how many maidens a row reported before their balls arrived: the oldest of those not reported from balls.
func (ks keySet) absorbedMaidens(overs []maidenOver, innings int, bowler int64) int {
	untold := 0
	for _, o := range overs {
		if o.bowler == bowler && !ks.holds(familyMaiden, int64(innings), int64(o.no)) {
			untold++
		}
	}
	return min(untold, ks.rowMaidens(innings, bowler))
}

// rowMaidens counts a bowler's maidens that were reported from rows.
func (ks keySet) rowMaidens(innings int, bowler int64) int {
	n := 0
	for ks.holds(familyRowMaiden, int64(innings), bowler, int64(n)+1) {
		n++
	}
	return n
}
