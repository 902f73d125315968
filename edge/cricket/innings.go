package cricket

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// ballsOf counts the legal balls of an overs text, "49.3" with six to the over being 297.
func ballsOf(overs string, perOver int) int {
	whole, rest, _ := strings.Cut(overs, ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return 0
	}
	extra := 0
	if rest != "" { // an error would have its price
		if extra, err = strconv.Atoi(rest); err != nil {
			extra = 0
		}
	}
	return max(0, n*perOver+extra)
}

// oversOf is the opposite of ballsOf.
func oversOf(balls, perOver int) string {
	return fmt.Sprintf("%d.%d", balls/perOver, balls%perOver)
}

// battingOf walks the batting rows of an innings, in the feed's order.
func (s *Snapshot) battingOf(innings int) iter.Seq[*BattingRow] {
	return func(yield func(*BattingRow) bool) {
		for i := range s.Batting {
			if r := &s.Batting[i]; r.Innings == innings && !yield(r) {
				return
			}
		}
	}
}

// bowlingOf walks the bowling rows of an innings, in the feed's order.
func (s *Snapshot) bowlingOf(innings int) iter.Seq[*BowlingRow] {
	return func(yield func(*BowlingRow) bool) {
		for i := range s.Bowling {
			if r := &s.Bowling[i]; r.Innings == innings && !yield(r) {
				return
			}
		}
	}
}

// innings finds an innings by its number; nil where it has no score line.
func (s *Snapshot) innings(no int) *Innings {
	for i := range s.Innings {
		if s.Innings[i].No == no {
			return &s.Innings[i]
		}
	}
	return nil
}

// regulation is the number of innings before a super over.
func (s *Snapshot) regulation() int {
	if s.MultiDay() {
		return 4
	}
	return 2
}

// IsSuperOver reports whether an innings is beyond regulation.
func (s *Snapshot) IsSuperOver(innings int) bool { return innings > s.regulation() }

// current is the innings being played or the last one played; nil before the first.
func (s *Snapshot) current() *Innings {
	if len(s.Innings) == 0 {
		return nil
	}
	return &s.Innings[len(s.Innings)-1]
}

// last reports whether no later innings has begun.
func (s *Snapshot) last(in *Innings) bool { return in.No >= s.current().No }

// legal counts the legal balls of an innings.
func (s *Snapshot) legal(in *Innings) int { return ballsOf(in.Overs, s.BallsPerOver()) }

// scheduled is the number of legal balls an innings was to last before any rain, 0 for no limit.
func (s *Snapshot) scheduled(in *Innings) int {
	if s.IsSuperOver(in.No) {
		return s.BallsPerOver()
	}
	return s.Overs * s.BallsPerOver()
}

// revisedQuota is the number of legal balls an innings may last after rain, 0 where nothing was shortened.
func (s *Snapshot) revisedQuota(in *Innings) int {
	if s.RevOvers == "" || s.MultiDay() || s.IsSuperOver(in.No) {
		return 0
	}
	return ballsOf(s.RevOvers, s.BallsPerOver())
}

// quota is the number of legal balls an innings may last, 0 for no limit.
func (s *Snapshot) quota(in *Innings) int {
	if n := s.revisedQuota(in); n > 0 {
		return n
	}
	return s.scheduled(in)
}

// overs reports whether an innings has had its overs. Overs that rain takes off the second do not end the first.
func (s *Snapshot) bowledOut(in *Innings) bool {
	legal, revised, whole := s.legal(in), s.revisedQuota(in), s.scheduled(in)
	if in.No == 1 {
		return legal > 0 && (whole > 0 && legal >= whole || legal == revised)
	}
	quota := s.quota(in)
	return quota > 0 && legal >= quota
}

// maxWickets is how many wickets end an innings.
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

// other is the side that a team plays against.
func (s *Snapshot) other(team int64) int64 {
	if s.Teams[0].ID == team {
		return s.Teams[1].ID
	}
	return s.Teams[0].ID
}

// Target is what the batting side of an innings needs to win, 0 while it is not chasing: the feed's revised number,
// else the number in its note, else what the scores make it.
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
		return max(0, s.sum(s.other(in.TeamID), in.No)-s.sum(in.TeamID, in.No)+1)
	case in.No != 2:
		return 0
	default:
		return s.chaseTarget()
	}
}

// chaseTarget is what the side batting second needs in limited overs.
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

// chaseSum is one run more than the first innings.
func (s *Snapshot) chaseSum() int {
	if first := s.innings(1); first != nil {
		return first.Runs + 1
	}
	return 0
}

// noteTarget reads "Target 183 runs", 0 where the note says no such thing of the second innings.
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

// shortened reports whether rain took overs off the match.
func (s *Snapshot) shortened() bool { return s.RevOvers != "" || s.RevTarget > 0 }

// rainRuled reports whether a rain rule made the target: the feed says so, or the target is not what the scores make it.
// Overs that were fewer for both sides alike need no rule.
func (s *Snapshot) rainRuled() bool {
	return s.RevTarget > 0 && s.RevTarget != s.chaseSum() || s.RainScore[0].Known || s.RainScore[1].Known ||
		s.noteHas("dls", "d/l", "vjd", "duckworth")
}

// namesTarget reports whether the feed names the target itself.
func (s *Snapshot) namesTarget() bool { return s.RevTarget > 0 || s.noteTarget() > 0 }

// Cause says why an innings ended.
type Cause string

// The causes of an innings end; none while it goes on.
const (
	CauseNone      Cause = ""
	CauseAllOut    Cause = "all_out"
	CauseOvers     Cause = "overs"
	CauseTarget    Cause = "target"
	CauseDeclared  Cause = "declared"
	CauseForfeited Cause = "forfeited"
	CauseClosed    Cause = "closed"
)

// Ended reports whether and why an innings is over. The last innings of a match that just stops (rain, a draw) has
// no cause: the result says it.
func (s *Snapshot) Ended(in *Innings) Cause {
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
	case s.shortHanded(in, moved || phase == PhaseCompleted && s.decided(in)):
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

// decides reports whether nothing but the result can follow the end of an innings: the side batting last has the target,
// or has neither reached it nor a tie.
func (s *Snapshot) decides(innings int) bool {
	in := s.innings(innings)
	if in == nil || !s.last(in) {
		return false
	}
	target := s.Target(in)
	switch s.Ended(in) {
	case CauseTarget:
		return true
	case CauseOvers, CauseAllOut:
		return target > 0 && in.Runs != target-1
	default:
		return false
	}
}

// shortHanded reports whether an innings ended with nine or eight wickets down for want of batters: the others were absent
// or had retired hurt. Where overs are limited nobody declares; else the balls tell who went off and did not come back.
func (s *Snapshot) shortHanded(in *Innings, over bool) bool {
	if !over || s.IsSuperOver(in.No) || in.Wickets < 8 {
		return false
	}
	return !s.MultiDay() || in.Wickets+s.wentOff(in) >= s.maxWickets(in)
}

// wentOff counts the batters of an innings who are not out and not at the crease: retired hurt.
func (s *Snapshot) wentOff(in *Innings) int {
	balls, n := s.ballsIn(in.No), 0
	if len(balls) == 0 {
		return 0 // rows alone do not tell them from those at the crease
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

// decided reports whether a match that is finished was lost by the side batting last, on the score alone: an innings
// that rain cut short has a revised target.
func (s *Snapshot) decided(in *Innings) bool {
	return s.RevTarget == 0 && s.Winner != 0 && s.Winner != in.TeamID
}
