package cricket

import (
	"slices"
	"strconv"
	"strings"
)

// spells follows consecutive wickets, by bowler, over the whole match. A window of recent balls is not enough:
// of 174 real hat-tricks, five were spread over more than thirty balls.
type spells struct {
	s    *Snapshot
	open map[int64]*Streak
	last *Ball
}

func (k *Streak) length() int {
	if k == nil {
		return 0
	}
	return len(k.Places)
}

// newSpells starts from the remembered streaks of balls before the snapshot's first.
func newSpells(s *Snapshot, m *Memory) *spells {
	sp := &spells{s: s, open: map[int64]*Streak{}}
	if len(s.Balls) == 0 {
		return sp
	}
	first := s.Balls[0].place()
	for _, k := range m.Streaks {
		k.Places = slices.DeleteFunc(slices.Clone(k.Places), func(at int64) bool { return at >= first })
		k.Outs = slices.Clone(k.Outs[:min(len(k.Outs), len(k.Places))])
		if len(k.Places) > 0 {
			sp.open[k.Bowler] = &k
		}
	}
	return sp
}

// ball adds the next ball. It returns the bowler's streak if the ball extended it, otherwise nil; the streak is
// valid until the next call. Super overs do not count.
func (sp *spells) ball(b *Ball) *Streak {
	if sp.s.IsSuperOver(b.Innings) {
		return nil
	}
	if last := sp.last; last != nil && last.Innings == b.Innings && sp.s.gap(last, b) {
		sp.end(last.BowlerID) // the missing balls may have broken it
		sp.end(b.BowlerID)
	}
	sp.last = b
	if !b.Wicket || !dismissalOf(b.Outcome, b.BowlerID, b.CatchID).isCredited() {
		sp.end(b.BowlerID)
		return nil
	}
	k := sp.open[b.BowlerID]
	if k == nil {
		k = &Streak{Bowler: b.BowlerID}
		sp.open[b.BowlerID] = k
	}
	k.Outs = append(k.Outs, b.batterOut())
	k.Places, k.Last, k.Innings, k.Over = append(k.Places, b.place()), b.ID, b.Innings, b.Label
	return k
}

// end ends a bowler's streak.
func (sp *spells) end(bowler int64) {
	if k := sp.open[bowler]; k != nil {
		k.Places, k.Outs = k.Places[:0], k.Outs[:0]
	}
}

// gap reports whether legal balls are missing between two adjacent balls of a snapshot. Overs of five or seven
// balls are umpires' mistakes, not gaps.
func (s *Snapshot) gap(a, b *Ball) bool {
	na, nb := ballInOver(a.Label), ballInOver(b.Label)
	switch b.Over - a.Over {
	case 0:
		return nb > na+1
	case 1:
		return nb > 1 || na < s.BallsPerOver()-1
	default:
		return true
	}
}

// ballInOver returns the number of a ball in its over, 4 for "12.4".
func ballInOver(label string) int {
	_, n, _ := strings.Cut(label, ".")
	i, err := strconv.Atoi(n)
	if err != nil {
		return 0
	}
	return i
}

// hatTrick returns the words for a hat-trick, "Shami: Kohli, Rahul, Pant", and its subject, the bowler and the batters out.
func (s *Snapshot) hatTrick(k *Streak) (words, about string) {
	words, about = s.playerName(k.Bowler, bowlerWord), subject(k.Bowler)
	var names []string
	var ids []string
	for _, id := range k.Outs {
		names, ids = append(names, s.playerName(id, batterWord)), append(ids, subject(id))
	}
	if len(names) == 3 {
		words += ": " + strings.Join(names, ", ")
		about += "+" + strings.Join(ids, "/")
	}
	return words, about
}

// sameAs reports whether two hat-tricks ended with the same ball.
func (k *Streak) sameAs(x Streak) bool { return k.Bowler == x.Bowler && k.Places[2] == x.Places[2] }

// numberHatTrick notes which of the bowler's wickets in the match a remembered hat-trick ended with.
func (m *Memory) numberHatTrick(k *Streak, n int) {
	if i := slices.IndexFunc(m.HatTricks, k.sameAs); i >= 0 {
		m.HatTricks[i].Nth = n
	}
}

// noteStreaks remembers the open streaks, the hat-tricks in the snapshot, and those from before its first ball.
func (m *Memory) noteStreaks(s *Snapshot) {
	first := s.Balls[0].place()
	kept := slices.DeleteFunc(slices.Clone(m.HatTricks), func(k Streak) bool { return len(k.Places) < 3 || k.Places[0] >= first })
	sp := newSpells(s, m)
	for i := range s.Balls {
		k := sp.ball(&s.Balls[i])
		if k == nil || len(k.Places) != 3 {
			continue
		}
		h := *k
		h.Places, h.Outs = slices.Clone(k.Places), slices.Clone(k.Outs)
		if !slices.ContainsFunc(kept, h.sameAs) {
			kept = append(kept, h)
		}
	}
	m.HatTricks, m.Streaks = kept, nil
	for _, k := range sp.open {
		if len(k.Places) > 0 {
			m.Streaks = append(m.Streaks, *k)
		}
	}
	slices.SortFunc(m.Streaks, func(a, b Streak) int { return int(a.Bowler - b.Bowler) })
}
