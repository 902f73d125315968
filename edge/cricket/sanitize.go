package cricket

import (
	"cmp"
	"slices"
)

// The bounds of a plausible score; anything beyond them is a fault of the feed.
const (
	maxRuns    = 9999
	maxCount   = 999 // a batter's fours, a bowler's maidens
	maxInnings = 64  // super overs may repeat
)

// sanitize returns a snapshot that the rules can rely on: innings numbered from 1 without a gap (except for a
// forfeited one), only their rows and balls, every ball once and in order, nothing below zero. Of innings 1, 2 and
// 4 of a T20, for example, 4 is removed with its rows and balls. Lists that are already in order are not copied.
func (s *Snapshot) sanitize() *Snapshot {
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
	fixed.Batting = saneRows(s.Batting, func(r *BattingRow) bool { return saneBatting(r, n) })
	fixed.Bowling = saneRows(s.Bowling, func(r *BowlingRow) bool { return saneBowling(r, n) })
	fixed.Balls = inOrder(saneRows(s.Balls, func(b *Ball) bool { return saneBall(b, n) }))
	return &fixed
}

// saneRows returns the sane rows: the list itself if all are.
func saneRows[T any](rows []T, sane func(*T) bool) []T {
	for i := range rows {
		if !sane(&rows[i]) {
			return slices.DeleteFunc(slices.Clone(rows), func(r T) bool { return !sane(&r) })
		}
	}
	return rows
}

// follows reports whether innings no may come next after innings before (0 for none). They are adjacent, except
// that forfeited innings of a multi-day match need not have score lines: two captains may agree to forfeit one each.
func (s *Snapshot) follows(before, no int) bool {
	return no == before+1 || s.MultiDay() && no > before && no <= before+3 && no <= s.regulation()
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

// small reports whether a single ball can yield that many runs.
func small(runs int) bool { return runs >= 0 && runs <= 99 }

func ballOrder(a, b *Ball) int {
	return cmp.Or(cmp.Compare(a.place(), b.place()), cmp.Compare(legal(a), legal(b)), cmp.Compare(a.ID, b.ID))
}

// legal orders the balls of a label: wides and no-balls have that of the ball that follows them.
func legal(b *Ball) int {
	if b.Legal() {
		return 1
	}
	return 0
}

// inOrder sorts the balls by place, and by id where labels repeat: a ball that was deleted and entered again has a later id than
// those bowled after it. Of two with the same id it keeps the one updated last, or the
// later one in the reply, even if a revision moved the ball to another innings.
func inOrder(balls []Ball) []Ball {
	ordered := true
	for i := 1; i < len(balls) && ordered; i++ {
		ordered = ballOrder(&balls[i-1], &balls[i]) < 0
	}
	if ordered {
		return balls
	}
	kept := make([]Ball, 0, len(balls))
	at := make(map[int64]int, len(balls))
	for i := range balls {
		b := &balls[i]
		j, twice := at[b.ID]
		if !twice {
			at[b.ID] = len(kept)
			kept = append(kept, *b)
		} else if !b.UpdatedAt.Before(kept[j].UpdatedAt) {
			kept[j] = *b
		}
	}
	slices.SortFunc(kept, func(a, b Ball) int { return ballOrder(&a, &b) })
	return kept
}

// overs reports whether text is a number of overs, "49.3".
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
