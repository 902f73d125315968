package cricket

import (
	"fmt"
)

// runs follows what stretches over several balls: wickets in a row over the whole match, sixes in a row and maidens
// over one innings. A window of the last balls is not enough: of 174 real hat-tricks five took more than thirty.
type runs struct {
	wickets map[int64]int     // by bowler: wicket-balls in a row, over spells and innings
	sixes   map[int64][]int64 // by batter: ids of the sixes in a row, in this innings
	over    []*Ball           // of the over in play
}

// nextInnings forgets what does not last beyond an innings.
func (r *runs) nextInnings() {
	if r.wickets == nil {
		r.wickets = map[int64]int{}
	}
	r.sixes = map[int64][]int64{}
	r.over = nil
}

// hatTrick counts the bowler's wicket-balls in a row; the third makes a hat-trick, the fourth no other. Super overs
// are no part of the match's runs.
func (t *tally) hatTrick(b *Ball, credited bool) []Candidate {
	if t.s.IsSuperOver(t.in.No) {
		return nil
	}
	if !credited {
		t.runsOf.wickets[b.BowlerID] = 0
		return nil
	}
	t.runsOf.wickets[b.BowlerID]++
	if t.runsOf.wickets[b.BowlerID] != 3 {
		return nil
	}
	text := "HAT-TRICK! " + t.s.lastName(b.BowlerID)
	return []Candidate{t.candidate(b, EventHatTrick, hatTrickKey(b.BowlerID, b.ID), text)}
}

// sixes finds the third six in a row of a batter. A wide is not faced and breaks nothing.
func (t *tally) sixes(b *Ball) []Candidate {
	if b.Wide {
		return nil
	}
	if !b.Six {
		delete(t.runsOf.sixes, b.BatterID)
		return nil
	}
	row := append(t.runsOf.sixes[b.BatterID], b.ID)
	t.runsOf.sixes[b.BatterID] = row
	if len(row) != 3 {
		return nil
	}
	text := fmt.Sprintf("Three sixes in a row! %s · %s", t.s.lastName(b.BatterID), t.score())
	return []Candidate{t.candidate(b, EventConsecutiveSixes, sixesKey(b.BatterID, row[0]), text)}
}

// maiden finds an over of legal balls by one bowler who conceded nothing; byes are not his. It is known when the
// over has all its legal balls.
func (t *tally) maiden(b *Ball) []Candidate {
	if len(t.runsOf.over) > 0 && t.runsOf.over[0].Over != b.Over {
		t.runsOf.over = t.runsOf.over[:0]
	}
	t.runsOf.over = append(t.runsOf.over, b)
	if !b.Legal() {
		return nil
	}
	legal := 0
	for _, x := range t.runsOf.over {
		if x.BowlerID != b.BowlerID || x.Runs > 0 {
			return nil
		}
		if x.Legal() {
			legal++
		}
	}
	if legal != t.s.BallsPerOver() {
		return nil
	}
	text := fmt.Sprintf("Maiden: %s", t.s.lastName(b.BowlerID))
	return []Candidate{t.candidate(b, EventMaiden, maidenKey(t.in.No, b.Over+1), text)}
}
