package cricket

import (
	"strconv"
	"strings"
)

// Mark returns the ball's mark for display.
func (b *Ball) Mark() BallMark {
	m := BallMark{Label: b.Label}
	total := b.Total()
	switch {
	case b.Wicket:
		m.Mark, m.Kind = "W", "wicket"
	case b.Wide:
		m.Mark, m.Kind = countMark(total, "wd"), "extra"
	case b.NoBall:
		m.Mark, m.Kind = countMark(total, "nb"), "extra"
	case b.Byes > 0:
		m.Mark, m.Kind = countMark(b.Byes, "b"), "extra"
	case b.LegByes > 0:
		m.Mark, m.Kind = countMark(b.LegByes, "lb"), "extra"
	case b.Four:
		m.Mark, m.Kind = "4", "four"
	case b.Six:
		m.Mark, m.Kind = "6", "six"
	case total == 0:
		m.Mark, m.Kind = ".", "dot"
	default:
		m.Mark, m.Kind = strconv.Itoa(total), "run"
	}
	return m
}

func countMark(n int, suffix string) string { return strconv.Itoa(n) + suffix }

// eleven is the size of a side.
const eleven = 11

func (s *Snapshot) card(in *Innings) CardInnings {
	balls := s.ballsIn(in.No)
	c := CardInnings{
		No: in.No, TeamID: in.TeamID, Overs: s.overs(balls),
		Batting: make([]CardBatter, 0, eleven), Bowling: make([]Bowler, 0, eleven),
	}
	c.Extras = in.Runs
	for r := range s.battingOf(in.No) {
		c.Extras -= r.Runs
		line := CardBatter{Batter: s.batter(r), Out: r.Out, HowOut: "not out"}
		if r.Out {
			line.HowOut = s.rowHowOut(r, balls)
		}
		c.Batting = append(c.Batting, line)
	}
	for r := range s.bowlingOf(in.No) {
		c.Bowling = append(c.Bowling, s.bowlerLine(r))
	}
	return c
}

// rowHowOut describes a dismissal from its ball, whose text says more than the row's code.
func (s *Snapshot) rowHowOut(r *BattingRow, balls []Ball) string {
	for i := range balls {
		b := &balls[i]
		if b.Wicket && b.batterOut() == r.PlayerID {
			return s.howOut(dismissalOf(b.Outcome, b.BowlerID, b.CatchID), b.BowlerID, b.CatchID)
		}
	}
	return s.howOut(rowDismissal(r), r.BowlerID, r.CatchID)
}

// overs groups the balls of an innings by over, for the charts.
func (s *Snapshot) overs(balls []Ball) []CardOver {
	out := make([]CardOver, 0, len(balls)/s.BallsPerOver()+1)
	var marks []string
	for i := range balls {
		b := &balls[i]
		if len(out) == 0 || out[len(out)-1].No != b.Over+1 {
			out = append(out, CardOver{No: b.Over + 1, Bowler: s.lastName(b.BowlerID)})
			marks = marks[:0]
		}
		o := &out[len(out)-1]
		o.Runs += b.Total()
		if b.Wicket {
			o.Wickets++
		}
		marks = append(marks, b.Mark().Mark)
		if i+1 == len(balls) || balls[i+1].Over != b.Over {
			o.Balls = strings.Join(marks, " ")
		}
	}
	return out
}
