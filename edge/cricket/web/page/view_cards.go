package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
)

// InningsCard is the scorecard of one innings.
type InningsCard struct {
	ID      string
	Class   string
	Title   string // "England, 2nd innings"
	Score   string
	Open    bool // the last two innings
	Batting []CardBatterRow
	Extras  string
	Total   string
	Rate    string
	Bowling []BowlerRow
	Other   string // class of the bowling side
}

// CardBatterRow is a batter's line on the card.
type CardBatterRow struct {
	BatterRow
	HowOut string
	NotOut bool
}

// cards returns the scorecards, newest innings first.
func (b *builder) cards() []InningsCard {
	lines := b.in.Display.Innings
	var out []InningsCard
	for i := range b.in.Card.Innings {
		in := &b.in.Card.Innings[i]
		if at := slices.IndexFunc(lines, func(l cricket.InningsLine) bool { return l.No == in.No }); at >= 0 {
			out = append(out, b.inningsCard(in, &lines[at], at >= len(lines)-2))
		}
	}
	slices.Reverse(out)
	return out
}

func (b *builder) inningsCard(in *cricket.CardInnings, line *cricket.InningsLine, open bool) InningsCard {
	side := b.side(in.TeamID)
	score, suffix := figure(line)
	c := InningsCard{
		ID: fmt.Sprint(in.No), Class: side.Class, Title: b.inningsTitle(line), Open: open,
		Score:  joinWords(score, suffix, "("+line.Overs+")"),
		Extras: fmt.Sprint(in.Extras), Total: joinWords(score, suffix), Rate: line.Overs,
	}
	for _, t := range b.in.Display.Teams {
		if t.ID != in.TeamID {
			c.Other = b.side(t.ID).Class
		}
	}
	for i := range in.Batting {
		x := &in.Batting[i]
		c.Batting = append(c.Batting, CardBatterRow{BatterRow: batterRow(&x.Batter), HowOut: x.HowOut, NotOut: !x.Out})
	}
	for i := range in.Bowling {
		c.Bowling = append(c.Bowling, b.bowlerRow(&in.Bowling[i]))
	}
	return c
}

func joinWords(words ...string) string { return strings.Join(nonEmpty(words), " ") }
