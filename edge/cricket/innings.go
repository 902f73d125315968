package cricket

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// ballsOf returns the number of legal balls in an overs text: "49.3" with six balls to the over is 297.
func ballsOf(overs string, perOver int) int {
	whole, rest, _ := strings.Cut(overs, ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return 0
	}
	extra := 0
	if rest != "" { // avoids allocating an error
		if extra, err = strconv.Atoi(rest); err != nil {
			extra = 0
		}
	}
	return max(0, n*perOver+extra)
}

// oversOf is the inverse of ballsOf.
func oversOf(balls, perOver int) string {
	return fmt.Sprintf("%d.%d", balls/perOver, balls%perOver)
}

// battingOf iterates over the batting rows of an innings in the feed's order.
func (s *Snapshot) battingOf(innings int) iter.Seq[*BattingRow] {
	return func(yield func(*BattingRow) bool) {
		for i := range s.Batting {
			if r := &s.Batting[i]; r.Innings == innings && !yield(r) {
				return
			}
		}
	}
}

// bowlingOf iterates over the bowling rows of an innings in the feed's order.
func (s *Snapshot) bowlingOf(innings int) iter.Seq[*BowlingRow] {
	return func(yield func(*BowlingRow) bool) {
		for i := range s.Bowling {
			if r := &s.Bowling[i]; r.Innings == innings && !yield(r) {
				return
			}
		}
	}
}

// innings returns an innings by its number, nil if it has no score line.
func (s *Snapshot) innings(no int) *Innings {
	for i := range s.Innings {
		if s.Innings[i].No == no {
			return &s.Innings[i]
		}
	}
	return nil
}

// regulation returns the number of innings before a super over.
func (s *Snapshot) regulation() int {
	if s.MultiDay() {
		return 4
	}
	return 2
}

// IsSuperOver reports whether an innings is part of a super over.
func (s *Snapshot) IsSuperOver(innings int) bool { return innings > s.regulation() }

// current returns the innings being played or the last one played; nil before the first.
func (s *Snapshot) current() *Innings {
	if len(s.Innings) == 0 {
		return nil
	}
	return &s.Innings[len(s.Innings)-1]
}

// last reports whether no later innings has begun.
func (s *Snapshot) last(in *Innings) bool { return in.No >= s.current().No }

// legal returns the number of legal balls of an innings.
func (s *Snapshot) legal(in *Innings) int { return ballsOf(in.Overs, s.BallsPerOver()) }

// ballsScheduled returns the number of legal balls an innings may last without rain, 0 for no limit.
func (s *Snapshot) ballsScheduled(in *Innings) int {
	if s.IsSuperOver(in.No) {
		return s.BallsPerOver()
	}
	return s.Overs * s.BallsPerOver()
}

// revisedQuota returns the number of legal balls an innings may last after rain, 0 if nothing was shortened.
func (s *Snapshot) revisedQuota(in *Innings) int {
	if s.RevOvers == "" || s.MultiDay() || s.IsSuperOver(in.No) {
		return 0
	}
	return ballsOf(s.RevOvers, s.BallsPerOver())
}

// quota returns the number of legal balls an innings may last, 0 for no limit.
func (s *Snapshot) quota(in *Innings) int {
	if n := s.revisedQuota(in); n > 0 {
		return n
	}
	return s.ballsScheduled(in)
}

// bowledOut reports whether an innings has had all its overs. Overs that rain takes off the second do not end the first.
func (s *Snapshot) bowledOut(in *Innings) bool {
	legal, revised, whole := s.legal(in), s.revisedQuota(in), s.ballsScheduled(in)
	if in.No == 1 {
		return legal > 0 && (whole > 0 && legal >= whole || legal == revised)
	}
	quota := s.quota(in)
	return quota > 0 && legal >= quota
}

// maxWickets returns the number of wickets that end an innings.
func (s *Snapshot) maxWickets(in *Innings) int {
	if s.IsSuperOver(in.No) {
		return 2
	}
	return 10
}

// sum adds up the regulation innings of a team before the given one.
func (s *Snapshot) sum(team int64, before int) int {
	total := 0
	for i := range s.Innings {
		if in := &s.Innings[i]; in.TeamID == team && in.No < before && !s.IsSuperOver(in.No) {
			total += in.Runs
		}
	}
	return total
}

// opponentOf returns a team's opponent.
func (s *Snapshot) opponentOf(team int64) int64 {
	if s.Teams[0].ID == team {
		return s.Teams[1].ID
	}
	return s.Teams[0].ID
}

// Target returns what the batting side of an innings needs to win, 0 if it is not chasing. It is the feed's
// revised target, else the target in its note, else what the scores give.
func (s *Snapshot) Target(in *Innings) int {
	switch {
	case s.IsSuperOver(in.No):
		first := s.innings(in.No - 1)
		if (in.No-s.regulation())%2 == 1 || first == nil {
			return 0
		}
		return first.Runs + 1
	case s.MultiDay():
		if in.No < 4 {
			return 0
		}
		return max(0, s.sum(s.opponentOf(in.TeamID), in.No)-s.sum(in.TeamID, in.No)+1)
	case in.No != 2:
		return 0
	default:
		return s.chaseTarget()
	}
}

// chaseTarget returns what the side batting second needs in limited overs.
func (s *Snapshot) chaseTarget() int {
	switch {
	case s.RevTarget > 0:
		return s.RevTarget
	case s.noteTarget() > 0:
		return s.noteTarget()
	default:
		return s.chaseSum()
	}
}

// chaseSum returns one run more than the first innings.
func (s *Snapshot) chaseSum() int {
	if first := s.innings(1); first != nil {
		return first.Runs + 1
	}
	return 0
}

// noteTarget reads "Target 183 runs" from the note; 0 if it gives no target for the second innings.
func (s *Snapshot) noteTarget() int {
	if in := s.current(); in != nil && in.No > 2 {
		return 0
	}
	fields := strings.Fields(s.Note)
	for i, f := range fields[:max(0, len(fields)-1)] {
		if !strings.EqualFold(f, "target") {
			continue
		}
		if n, err := strconv.Atoi(strings.Trim(fields[i+1], ".,;:")); err == nil && n > 0 {
			return n
		}
	}
	return 0
}

// isShortened reports whether rain shortened the match.
func (s *Snapshot) isShortened() bool { return s.RevOvers != "" || s.RevTarget > 0 }

// rainRuled reports whether a rain rule set the target: the feed says so, or the target differs from the
// scores'. Equally fewer overs for both sides need no rule.
func (s *Snapshot) rainRuled() bool {
	return s.RevTarget > 0 && s.RevTarget != s.chaseSum() || s.RainScore[0].Known || s.RainScore[1].Known ||
		s.noteHas("dls", "d/l", "vjd", "duckworth")
}

// namesTarget reports whether the feed gives the target itself.
func (s *Snapshot) namesTarget() bool { return s.RevTarget > 0 || s.noteTarget() > 0 }

// Cause is the reason why an innings ended.
type Cause string

// Causes of an innings end; CauseNone while it continues.
const (
	CauseNone      Cause = ""
	CauseAllOut    Cause = "all_out"
	CauseOvers     Cause = "overs"
	CauseTarget    Cause = "target"
	CauseDeclared  Cause = "declared"
	CauseForfeited Cause = "forfeited"
	CauseClosed    Cause = "closed"
)

// CauseOfEnd returns why an innings is over, CauseNone if it is not. The last innings of a match that just stops
// (rain, a draw) has no cause: the result covers it.
func (s *Snapshot) CauseOfEnd(in *Innings) Cause {
	phase := s.phase()
	target := s.Target(in)
	moved := !s.last(in) || phase == PhaseInningsBreak
	switch {
	case in.Wickets >= s.maxWickets(in):
		return CauseAllOut
	case target > 0 && in.Runs >= target:
		return CauseTarget
	case s.bowledOut(in):
		return CauseOvers
	case s.shortHanded(in, moved || phase == PhaseCompleted && s.isDecidedOnScore(in)):
		return CauseAllOut
	case !moved:
		return CauseNone
	case s.MultiDay() && s.legal(in) == 0 && in.Runs == 0 && in.Wickets == 0:
		return CauseForfeited
	case s.MultiDay():
		return CauseDeclared
	default:
		return CauseClosed
	}
}

// decides reports whether only the result can follow the end of an innings: the side batting last reached the
// target, or fell short of a tie.
func (s *Snapshot) decides(innings int) bool {
	in := s.innings(innings)
	if in == nil || !s.last(in) {
		return false
	}
	target := s.Target(in)
	switch s.CauseOfEnd(in) {
	case CauseTarget:
		return true
	case CauseOvers, CauseAllOut:
		return target > 0 && in.Runs != target-1
	default:
		return false
	}
}

// shortHanded reports whether an innings ended at eight or nine wickets because the other batters were absent or
// retired hurt. In limited overs nobody declares; otherwise the balls show who went off and did not return.
func (s *Snapshot) shortHanded(in *Innings, over bool) bool {
	if !over || s.IsSuperOver(in.No) || in.Wickets < 8 {
		return false
	}
	return !s.MultiDay() || in.Wickets+s.wentOff(in) >= s.maxWickets(in)
}

// wentOff counts the batters of an innings who are neither out nor at the crease: retired hurt.
func (s *Snapshot) wentOff(in *Innings) int {
	balls, n := s.ballsIn(in.No), 0
	if len(balls) == 0 {
		return 0 // rows alone do not show who is at the crease
	}
	last := &balls[len(balls)-1]
	for i := range s.Batting {
		r := &s.Batting[i]
		if r.Innings == in.No && !r.Out && r.PlayerID != last.PairIDs[0] && r.PlayerID != last.PairIDs[1] &&
			!s.justIn(in.No, r, balls) {
			n++
		}
	}
	return n
}

// isDecidedOnScore reports whether the side batting last lost on the score alone: an innings cut short by rain has a revised target.
func (s *Snapshot) isDecidedOnScore(in *Innings) bool {
	return s.RevTarget == 0 && s.Winner != 0 && s.Winner != in.TeamID
}
