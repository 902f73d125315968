package cricket

import (
	"fmt"
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
	extra, err := strconv.Atoi(rest)
	if err != nil {
		extra = 0
	}
	return n*perOver + extra
}

// oversOf is the opposite of ballsOf.
func oversOf(balls, perOver int) string {
	return fmt.Sprintf("%d.%d", balls/perOver, balls%perOver)
}

// regulation is the number of innings before a super over.
func (s *Snapshot) regulation() int {
	if s.MultiDay() {
		return 4
	}
	return 2
}

// IsSuperOver tells whether an innings is beyond regulation.
func (s *Snapshot) IsSuperOver(innings int) bool { return innings > s.regulation() }

// current is the innings being played or the last one played; nil before the first.
func (s *Snapshot) current() *Innings {
	if len(s.Innings) == 0 {
		return nil
	}
	return &s.Innings[len(s.Innings)-1]
}

// last tells whether no later innings has begun.
func (s *Snapshot) last(in *Innings) bool { return in.No == s.current().No }

// legal counts the legal balls of an innings.
func (s *Snapshot) legal(in *Innings) int { return ballsOf(in.Overs, s.BallsPerOver()) }

// quota is the number of legal balls an innings may last, 0 for no limit.
func (s *Snapshot) quota(in *Innings) int {
	switch {
	case s.IsSuperOver(in.No):
		return s.BallsPerOver()
	case s.MultiDay():
		return 0
	case s.RevOvers != "":
		return ballsOf(s.RevOvers, s.BallsPerOver())
	default:
		return s.Overs * s.BallsPerOver()
	}
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

// Target is what the batting side of an innings needs to win, 0 while it is not chasing.
func (s *Snapshot) Target(in *Innings) int {
	switch {
	case s.IsSuperOver(in.No):
		if (in.No-s.regulation())%2 == 1 {
			return 0
		}
		return s.Innings[in.No-2].Runs + 1
	case s.MultiDay():
		if in.No < 4 {
			return 0
		}
		return s.sum(s.other(in.TeamID), in.No) - s.sum(in.TeamID, in.No) + 1
	case in.No != 2:
		return 0
	case s.RevTarget > 0:
		return s.RevTarget
	default:
		return s.Innings[0].Runs + 1
	}
}

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

// Ended tells whether and why an innings is over. The last innings of a match that just stops (rain, a draw) has
// no cause: the result says it.
func (s *Snapshot) Ended(in *Innings) Cause {
	phase, _ := s.Status.Phase()
	target, quota := s.Target(in), s.quota(in)
	moved := !s.last(in) || phase == PhaseInningsBreak
	switch {
	case in.Wickets >= s.maxWickets(in):
		return CauseAllOut
	case target > 0 && in.Runs >= target:
		return CauseTarget
	case quota > 0 && s.legal(in) >= quota:
		return CauseOvers
	case s.shortHanded(in, moved || phase == PhaseCompleted && s.decided(in)):
		return CauseAllOut
	case !moved:
		return CauseNone
	case s.MultiDay() && s.legal(in) == 0 && in.Runs == 0:
		return CauseForfeited
	case s.MultiDay():
		return CauseDeclared
	default:
		return CauseClosed
	}
}

// shortHanded tells a limited-overs innings that ended early with nine or eight wickets down: batters were absent
// or retired hurt.
func (s *Snapshot) shortHanded(in *Innings, over bool) bool {
	return over && !s.MultiDay() && !s.IsSuperOver(in.No) && in.Wickets >= 8
}

// decided tells whether a match that is finished was lost by the side batting last, on the score alone: an innings
// that rain cut short has a revised target.
func (s *Snapshot) decided(in *Innings) bool {
	return s.RevTarget == 0 && s.Winner != 0 && s.Winner != in.TeamID
}
