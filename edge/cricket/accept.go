package cricket

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"
)

// A feed repeats answers from a minute ago, leaves arrays out and takes balls back. A snapshot that falls behind
// the accepted one is doubted, and counts if the next one agrees with it. One that lacks an array has to recur more often.
const (
	doubtPolls   = 6  // after so many doubted snapshots in a row the latest is accepted, whatever it says
	missingPolls = 24 // the same for snapshots without a score line, in a match that had one
)

// doubt is the reason why a snapshot is not accepted at once.
type doubt int

const (
	sure     doubt = iota
	older          // its score is behind the accepted one, by the feed's stamp or by its values
	vanished       // a ball that was there is missing
	partial        // it lacks an array that the match had
	empty          // it lacks the score
)

// accept decides whether a snapshot counts, and keeps track of doubted ones.
func (st *State) accept(s *Snapshot) bool {
	why := st.doubts(s)
	if why == sure {
		st.Doubt, st.Doubts = "", 0
		return true
	}
	sign := s.sign()
	again := st.Doubt == sign
	st.Doubt = sign
	st.Doubts++
	limit := doubtPolls
	switch why {
	case empty:
		again, limit = false, missingPolls
	case partial:
		again = false
	case vanished:
		again = again && !s.inconsistent()
	default:
	}
	if !again && st.Doubts < limit {
		return false
	}
	st.Doubt, st.Doubts = "", 0
	return true
}

func (st *State) doubts(s *Snapshot) doubt {
	had := len(st.PreviousScore) > 0
	switch stamp := s.stamp(); {
	case st.PreviousStatus == "":
		return sure
	case had && len(s.Innings) == 0:
		return empty
	case st.PreviousBallID != 0 && len(s.Balls) == 0 && !s.NoBalls,
		len(st.PreviousBatting) > 0 && len(s.Batting) == 0,
		len(st.PreviousBowling) > 0 && len(s.Bowling) == 0,
		st.LinedUp && s.LineUp == 0,
		!st.Nameless && s.nameless():
		return partial
	case len(s.Innings) < len(st.PreviousScore), stamp.Before(st.Stamp), stamp.Equal(st.Stamp) && st.scoreWentDown(s):
		return older
	case len(s.Balls) > 0 && st.lacksLastBall(s):
		return vanished
	default:
		return sure
	}
}

// withoutBalls marks a snapshot of a match of which no ball was ever read as one whose balls were not requested: the feed's plan has none.
func (s *Snapshot) withoutBalls(st *State) *Snapshot {
	if s.NoBalls || len(s.Balls) > 0 || st.PreviousBallID != 0 || len(st.Memory.Balled) > 0 {
		return s
	}
	marked := *s
	marked.NoBalls = true
	return &marked
}

// nameless reports whether the name of a side, the league or a batter is missing.
func (s *Snapshot) nameless() bool {
	for _, t := range s.Teams {
		if t.ID != 0 && t.Name == "" {
			return true
		}
	}
	return s.League.ID != 0 && s.League.Name == "" || slices.ContainsFunc(s.Batting, func(r BattingRow) bool {
		return s.Players[r.PlayerID] == Name{}
	})
}

// stamp returns when the feed last wrote a score line.
func (s *Snapshot) stamp() time.Time {
	var newest time.Time
	for i := range s.Innings {
		if at := s.Innings[i].UpdatedAt; at.After(newest) {
			newest = at
		}
	}
	return newest.Truncate(time.Millisecond) // the store's precision
}

// steady keeps the previous stamp of a score line that has not changed. A feed may stamp its lines anew with
// every answer, and events dated by them would stay news forever.
func (s *Snapshot) steady(before []PreviousScore) *Snapshot {
	fixed := *s
	for i := range s.Innings {
		line := scoreOf(&s.Innings[i])
		j := slices.IndexFunc(before, func(p PreviousScore) bool { line.At = p.At; return p == line })
		if j < 0 || before[j].At == 0 || before[j].At >= s.Innings[i].UpdatedAt.UnixMilli() {
			continue
		}
		if &fixed.Innings[0] == &s.Innings[0] {
			fixed.Innings = slices.Clone(s.Innings)
		}
		fixed.Innings[i].UpdatedAt = time.UnixMilli(before[j].At).UTC()
	}
	return &fixed
}

// dateLines dates score lines whose stamp could not be read by the answer; steady keeps the date of a line that has not changed.
func (s *Snapshot) dateLines() *Snapshot {
	if !slices.ContainsFunc(s.Innings, func(in Innings) bool { return in.UpdatedAt.IsZero() }) {
		return s
	}
	dated := *s
	dated.Innings = slices.Clone(s.Innings)
	for i := range dated.Innings {
		if in := &dated.Innings[i]; in.UpdatedAt.IsZero() {
			in.UpdatedAt = s.ReadAt.Add(s.Skew)
		}
	}
	return &dated
}

// ballsTimed dates balls whose stamp could not be read, by the score line and the number of balls since.
func (s *Snapshot) ballsTimed() *Snapshot {
	if !slices.ContainsFunc(s.Balls, func(b Ball) bool { return b.UpdatedAt.IsZero() }) {
		return s
	}
	dated := *s
	dated.Balls = slices.Clone(s.Balls)
	for i := range dated.Balls {
		b := &dated.Balls[i]
		if in := s.innings(b.Innings); b.UpdatedAt.IsZero() && in != nil {
			last := len(s.Balls) - len(s.ballsAfter(b.Innings)) - 1
			b.UpdatedAt, b.Untimed = in.UpdatedAt.Add(-time.Duration(last-i)*perBall), true
		}
	}
	return &dated
}

// ballsAfter returns the balls of later innings.
func (s *Snapshot) ballsAfter(innings int) []Ball {
	from, _ := slices.BinarySearchFunc(s.Balls, innings+1, func(b Ball, n int) int { return b.Innings - n })
	return s.Balls[from:]
}

// scoreWentDown reports whether a score went down.
func (st *State) scoreWentDown(s *Snapshot) bool {
	for _, p := range st.PreviousScore {
		in := s.innings(p.Innings)
		if in == nil || in.Runs < p.Runs || in.Wickets < p.Wickets || s.legal(in) < ballsOf(p.Overs, s.BallsPerOver()) {
			return true
		}
	}
	return false
}

// lacksLastBall reports whether one of the last balls is no longer there.
func (st *State) lacksLastBall(s *Snapshot) bool { return len(st.sameBalls(s)) < len(st.Last30Balls) }

// sameBalls finds the last balls of the state among those of a snapshot, as their indexes. A ball without its id is there if one
// with its label and mark is that was not there before: feeds renumber balls.
func (st *State) sameBalls(s *Snapshot) map[int]bool {
	same := make(map[int]bool, len(st.Last30Balls))
	var missing []*PreviousBall
	for i := range st.Last30Balls {
		b, found := &st.Last30Balls[i], false
		for j := len(s.Balls) - 1; j >= 0 && !found; j-- {
			if found = s.Balls[j].ID == b.ID; found {
				same[j] = true
			}
		}
		if !found {
			missing = append(missing, b)
		}
	}
	for _, b := range missing {
		for j := len(s.Balls) - 1; j >= 0; j-- {
			if !same[j] && s.Balls[j].Label == b.Label && s.Balls[j].Mark().Mark == b.Mark {
				same[j] = true
				break
			}
		}
	}
	return same
}

// sign returns a digest that equal snapshots share.
func (s *Snapshot) sign() string {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, s.Status, s.Winner, s.NoResult, len(s.Balls), len(s.Batting), len(s.Bowling))
	for i := range s.Innings {
		in := &s.Innings[i]
		_, _ = fmt.Fprint(h, in.No, in.TeamID, in.Runs, in.Wickets, in.Overs, in.UpdatedAt.UnixMilli())
	}
	for i := max(0, len(s.Balls)-30); i < len(s.Balls); i++ {
		_, _ = fmt.Fprint(h, s.Balls[i].ID, s.Balls[i].Outcome, s.Balls[i].Total())
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// settleStatus returns the snapshot as it is shown. A new phase or an unknown status counts once two snapshots
// have it, because feeds report interruptions and results and take them back. The start of a match counts at
// once, and so does play if a ball was bowled since: a super over has only six.
func (st *State) settleStatus(s *Snapshot) *Snapshot {
	phase, known := s.phaseKnown()
	if st.PreviousStatus == "" || s.Status == st.PreviousStatus || known && phase == st.MatchPhase ||
		st.MatchPhase == PhasePrematch && phase != PhaseCompleted || phase == PhaseLive && st.playsOn(s) || st.NewStatus == s.Status {
		st.NewStatus = ""
		return s
	}
	st.NewStatus = s.Status
	shown := *s
	shown.Status = st.PreviousStatus
	return &shown
}

// playsOn reports whether a ball was bowled since the last snapshot.
func (st *State) playsOn(s *Snapshot) bool {
	in := s.current()
	if in == nil {
		return false
	}
	i := slices.IndexFunc(st.PreviousScore, func(p PreviousScore) bool { return p.Innings == in.No })
	return s.legal(in) > 0 && (i < 0 || s.legal(in) > ballsOf(st.PreviousScore[i].Overs, s.BallsPerOver()))
}
