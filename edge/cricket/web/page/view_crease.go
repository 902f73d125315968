package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
)

// Crease shows the batters and the bowler.
type Crease struct {
	Title   string
	Facts   []Stat      // before the start, instead of the rest
	Batters []BatterRow // always two rows, so that a wicket does not move the page
	Class   string      // of the batting side
	Bowler  *BowlerRow
	Other   string // class of the bowling side
	Stand   string // "31 (24)"; empty: no partnership
}

// BatterRow is a batter at the crease; an empty Name leaves the row free.
type BatterRow struct {
	Name, Runs, Balls, Fours, Sixes, Rate string
	OnStrike                              bool
}

// BowlerRow is a bowler's figures.
type BowlerRow struct {
	Name, Overs, Maidens, Runs, Wickets, Economy string
}

func (b *builder) crease() Crease {
	d := &b.in.Display
	if d.Phase == cricket.PhasePrematch {
		return Crease{Title: "The match", Facts: b.facts()}
	}
	c := Crease{Title: "In the middle"}
	for i := range d.Teams {
		if info := b.side(d.Teams[i].ID); d.Teams[i].Batting {
			c.Class = info.Class
		} else {
			c.Other = info.Class
		}
	}
	batters, bowler := d.Batters, d.Bowler
	c.Stand = "–"
	if d.Partnership != nil {
		c.Stand = fmt.Sprintf("%d (%d)", d.Partnership.Runs, d.Partnership.Balls)
	}
	over := d.Phase == cricket.PhaseCompleted || d.Phase == cricket.PhaseAbandoned || d.Phase == cricket.PhaseNoNews
	if over || len(batters) == 0 {
		if tops, best := b.best(over); len(tops) > 0 {
			c.Title, c.Stand, batters, bowler = "Best of the innings", "", tops, best
		}
	}
	if over {
		c.Title, c.Class, c.Other = "Best of the match", "", "" // of both sides
	}
	for i := range batters[:min(2, len(batters))] {
		row := batterRow(&batters[i])
		row.OnStrike = row.OnStrike && d.Phase == cricket.PhaseLive
		c.Batters = append(c.Batters, row)
	}
	for len(c.Batters) < 2 {
		c.Batters = append(c.Batters, BatterRow{})
	}
	if bowler != nil {
		row := b.bowlerRow(bowler)
		c.Bowler = &row
	}
	return c
}

// facts returns what is known of a match before it starts.
func (b *builder) facts() []Stat {
	f, start := &b.in.Fixture, ""
	if !f.StartTime.IsZero() {
		start = f.StartTime.UTC().Format("Monday 2 January 2006, 15:04") + " UTC"
	}
	return knownStats([]Stat{
		{"Competition", cmp.Or(f.LeagueName, b.in.Display.League)}, {"Round", f.Round}, {"Format", f.Type}, {"Venue", f.Venue},
		{"Start", start}, {"Toss", cmp.Or(f.Toss, "Not yet")},
	})
}

// best returns the top scores and the best bowling, of the latest innings or of all but super overs, for when no play is on.
func (b *builder) best(all bool) (batters []cricket.Batter, bowler *cricket.Bowler) {
	cur := b.current()
	for i := range b.in.Card.Innings {
		in := &b.in.Card.Innings[i]
		line, ok := b.lineOf(in.No)
		if !ok || all && line.SuperOver || !all && in.No != cur.No {
			continue
		}
		for j := range in.Batting {
			batters = append(batters, in.Batting[j].Batter)
		}
		for j := range in.Bowling {
			x := &in.Bowling[j]
			if bowler == nil || x.Wickets > bowler.Wickets || x.Wickets == bowler.Wickets && x.Runs < bowler.Runs {
				bowler = x
			}
		}
	}
	slices.SortStableFunc(batters, func(x, y cricket.Batter) int {
		return cmp.Or(cmp.Compare(y.Runs, x.Runs), cmp.Compare(x.Balls, y.Balls))
	})
	return batters, bowler
}

func batterRow(x *cricket.Batter) BatterRow {
	rate := ""
	if x.Balls > 0 { // computed from the figures, because the display's rate is rounded already
		rate = strconv.Itoa((200*x.Runs + x.Balls) / (2 * x.Balls))
	}
	return BatterRow{
		Name: x.Name, Runs: fmt.Sprint(x.Runs), Balls: fmt.Sprint(x.Balls), Fours: fmt.Sprint(x.Fours),
		Sixes: fmt.Sprint(x.Sixes), Rate: cmp.Or(rate, "–"), OnStrike: x.OnStrike,
	}
}

func (b *builder) bowlerRow(x *cricket.Bowler) BowlerRow {
	row := BowlerRow{
		Name: x.Name, Overs: x.Overs, Maidens: fmt.Sprint(x.Maidens), Runs: fmt.Sprint(x.Runs),
		Wickets: fmt.Sprint(x.Wickets), Economy: "–",
	}
	if balls := legalBalls(x.Overs, b.bpo); balls > 0 {
		row.Economy = fmt.Sprintf("%.2f", float64(x.Runs)*6/float64(balls))
	}
	return row
}

// legalBalls returns the number of legal balls in an overs text.
func legalBalls(overs string, perOver int) int {
	var whole, rest int
	if n, _ := fmt.Sscanf(overs, "%d.%d", &whole, &rest); n == 0 {
		return 0
	}
	return whole*perOver + rest
}

// OverGroup is the balls of an over as discs.
type OverGroup struct {
	Key    string
	Head   string // the innings, if it differs from that of the over shown before
	No     int
	Bowler string
	Discs  []Disc
	Runs   string
	Now    bool // the over in progress
}

// Disc is one ball.
type Disc struct {
	Mark string // the text on it
	Kind string // dot, run, four, six, wicket, extra
	Say  string // for screen readers
	New  bool   // the latest ball
}

// overGroups is the number of overs drawn; narrow screens show fewer.
const overGroups = 8

// overs returns the latest overs across innings, newest first. They come from the scorecard, which has whole
// overs; if it has no balls, only the display's last six are shown.
func (b *builder) overs() []OverGroup {
	var out []OverGroup
	innings := b.in.Card.Innings
	for i := len(innings) - 1; i >= 0 && len(out) < overGroups; i-- {
		in := &innings[i]
		line, ok := b.lineOf(in.No)
		if !ok || len(in.Overs) == 0 {
			continue
		}
		groups := overGroupsOf(in, overGroups-len(out))
		if cur := b.current(); cur.No == in.No {
			groups[0].Now = true
			if discs := groups[0].Discs; len(discs) > 0 {
				discs[len(discs)-1].New = true
			}
		} else {
			groups[0].Head = b.inningsTitle(&line)
		}
		out = append(out, groups...)
	}
	if len(out) == 0 {
		return b.lastSix()
	}
	return out
}

// inningsTitle names an innings: "England, 2nd innings" if a side may have two.
func (b *builder) inningsTitle(line *cricket.InningsLine) string {
	name := b.side(line.TeamID).Name
	switch {
	case line.SuperOver:
		return name + ", super over"
	case b.in.Display.Lead != nil:
		return name + ", " + ordinal(b.inningsOf(line)) + " innings"
	default:
		return name
	}
}

func overGroupsOf(in *cricket.CardInnings, most int) []OverGroup {
	var out []OverGroup
	for i := len(in.Overs) - 1; i >= 0 && len(out) < most; i-- {
		o := &in.Overs[i]
		g := OverGroup{Key: fmt.Sprintf("%d.%d", in.No, o.No), No: o.No, Bowler: o.Bowler, Runs: fmt.Sprint(o.Runs)}
		for m := range strings.FieldsSeq(o.Balls) {
			g.Discs = append(g.Discs, discOf(m, markKind(m)))
		}
		out = append(out, g)
	}
	return out
}

func (b *builder) lastSix() []OverGroup {
	var out []OverGroup
	balls := b.in.Display.LastBalls
	for i, one := range slices.Backward(balls) {
		var over, ball int
		if n, _ := fmt.Sscanf(one.Label, "%d.%d", &over, &ball); n < 1 {
			continue
		}
		if len(out) == 0 || out[len(out)-1].No != over+1 {
			out = append(out, OverGroup{Key: fmt.Sprintf("x.%d", over+1), No: over + 1, Now: len(out) == 0})
		}
		g := &out[len(out)-1]
		disc := discOf(one.Mark, one.Kind)
		disc.New = i == len(balls)-1
		g.Discs = append([]Disc{disc}, g.Discs...)
	}
	return out
}

// markKind returns the kind of ball of a mark.
func markKind(mark string) string {
	switch {
	case mark == ".":
		return "dot"
	case strings.Contains(mark, "W"):
		return "wicket"
	case mark == "4":
		return "four"
	case mark == "6":
		return "six"
	case strings.Trim(mark, "0123456789") != "":
		return "extra"
	default:
		return "run"
	}
}

func discOf(mark, kind string) Disc {
	d := Disc{Mark: mark, Kind: kind, Say: mark + " runs"}
	switch kind {
	case "dot":
		d.Mark, d.Say = "", "dot ball"
	case "wicket":
		d.Say = "wicket"
	case "four", "six":
		d.Say = kind
	case "extra":
		d.Say = extraWords(mark)
		if mark == "1wd" || mark == "1nb" {
			d.Mark = mark[1:]
		}
	default:
		if mark == "1" {
			d.Say = "1 run"
		}
	}
	return d
}

func extraWords(mark string) string {
	digits := strings.TrimRight(mark, "abcdefghijklmnopqrstuvwxyz+")
	word := map[string]string{"wd": "wide", "nb": "no-ball", "b": "bye", "lb": "leg bye"}[mark[len(digits):]]
	if word == "" {
		return "extras " + mark
	}
	if digits == "" || digits == "1" {
		return word
	}
	return digits + " from a " + word
}
