package cricket

import (
	"cmp"
	"slices"
)

// The bounds of what a score can be; beyond them a value is the feed's mistake.
const (
	maxRuns    = 9999
	maxCount   = 999 // a batter's fours, a bowler's maidens
	maxInnings = 64  // super overs may repeat
)

// sanitize returns a snapshot that the rules can count on: innings numbered from 1 without a gap (but for one that was
// forfeited), rows and balls of those alone, every ball once and in order, nothing below zero. A snapshot that is so
// already is given as it is.
func (s *Snapshot) sanitize() *Snapshot {
	if s.isSane() {
		return s
	}
	fixed := *s
	fixed.Overs = min(max(s.Overs, 0), maxRuns)
	fixed.RevTarget = min(max(s.RevTarget, 0), maxRuns)
	fixed.Innings = nil
	byNo := slices.Clone(s.Innings)
	slices.SortStableFunc(byNo, func(a, b Innings) int { return cmp.Compare(a.No, b.No) })
	n := 0
	for _, in := range byNo {
		if !fixed.follows(n, in.No) || in.No > maxInnings {
			continue
		}
		n = in.No
		in.Runs, in.Wickets = min(max(in.Runs, 0), maxRuns), min(max(in.Wickets, 0), 99)
		in.Penalty, in.Powerplay = min(max(in.Penalty, 0), maxRuns), max(in.Powerplay, 0)
		if !overs(in.Overs) {
			in.Overs = "0.0"
		}
		fixed.Innings = append(fixed.Innings, in)
	}
	fixed.Batting = slices.DeleteFunc(slices.Clone(s.Batting), func(r BattingRow) bool { return !saneBatting(&r, n) })
	fixed.Bowling = slices.DeleteFunc(slices.Clone(s.Bowling), func(r BowlingRow) bool { return !saneBowling(&r, n) })
	fixed.Balls = sanitizeBalls(s.Balls, n)
	return &fixed
}

func (s *Snapshot) isSane() bool {
	if s.Overs < 0 || s.Overs > maxRuns || s.RevTarget < 0 || s.RevTarget > maxRuns || len(s.Innings) > maxInnings {
		return false
	}
	n := 0
	for i := range s.Innings {
		in := &s.Innings[i]
		if !s.follows(n, in.No) || in.Runs < 0 || in.Runs > maxRuns || in.Wickets < 0 || in.Wickets > 99 ||
			in.Penalty < 0 || in.Penalty > maxRuns || in.Powerplay < 0 || !overs(in.Overs) {
			return false
		}
		n = in.No
	}
	for i := range s.Batting {
		if !saneBatting(&s.Batting[i], n) {
			return false
		}
	}
	for i := range s.Bowling {
		if !saneBowling(&s.Bowling[i], n) {
			return false
		}
	}
	for i := range s.Balls {
		if !saneBall(&s.Balls[i], n) || i > 0 && ballOrder(&s.Balls[i-1], &s.Balls[i]) >= 0 {
			return false
		}
	}
	return true
}

// follows reports whether an innings can have the score line after that of another, 0 for none. Side by side they are but
// where an innings of several days was forfeited, which need not have a line.
func (s *Snapshot) follows(before, no int) bool {
	return no == before+1 || s.MultiDay() && no == before+2 && no <= s.regulation()
}

func saneBatting(r *BattingRow, innings int) bool {
	return r.Innings >= 1 && r.Innings <= innings && r.Runs >= 0 && r.Runs <= maxRuns && r.Balls >= 0 &&
		r.Fours >= 0 && r.Fours <= maxCount && r.Sixes >= 0 && r.Sixes <= maxCount
}

func saneBowling(r *BowlingRow, innings int) bool {
	return r.Innings >= 1 && r.Innings <= innings && r.Wickets >= 0 && r.Wickets <= 99 && r.Maidens >= 0 && r.Maidens <= maxCount
}

func saneBall(b *Ball, innings int) bool {
	return b.Innings >= 1 && b.Innings <= innings && b.ID > 0 && b.Over >= 0 && b.Over <= maxRuns &&
		small(b.Runs) && small(b.Byes) && small(b.LegByes) && small(b.NoBallRuns)
}

// small reports whether one ball can bring so many runs.
func small(runs int) bool { return runs >= 0 && runs <= 99 }

func ballOrder(a, b *Ball) int {
	return cmp.Or(cmp.Compare(a.Innings, b.Innings), cmp.Compare(a.ID, b.ID))
}

// sanitizeBalls orders the balls. Of two with one id the one written last counts, else the later in the reply.
func sanitizeBalls(balls []Ball, innings int) []Ball {
	out := slices.DeleteFunc(slices.Clone(balls), func(b Ball) bool { return !saneBall(&b, innings) })
	slices.SortStableFunc(out, func(a, b Ball) int { return cmp.Or(ballOrder(&a, &b), a.UpdatedAt.Compare(b.UpdatedAt)) })
	kept := out[:0]
	for i := range out {
		if i+1 < len(out) && ballOrder(&out[i], &out[i+1]) == 0 {
			continue
		}
		kept = append(kept, out[i])
	}
	return kept
}

// overs reports whether a text is a number of overs, "49.3".
func overs(text string) bool {
	n := ballsOf(text, 6)
	if n < 0 || n > 6*maxRuns {
		return false
	}
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && c != '.' {
			return false
		}
	}
	return text != ""
}
