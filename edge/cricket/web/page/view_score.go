package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
)

// Score is the score card: a big figure, a line of context, then details.
type Score struct {
	Phase    string
	Super    bool // a super over is being played
	Stale    bool
	Sides    []Side // the batting side first
	Headline string // "Need 15 from 6"
	Context  string
	Winner   string // class of the winner's colours, if there is a winner
	Stats    []Stat
	Banner   *Banner
}

// Side is one side of the score card.
type Side struct {
	Class   string
	Code    string
	Name    string
	Batting bool
	Prior   string // "183 &", the side's earlier innings
	Figure  string // "241/8"; empty before the first ball
	Suffix  string // "all out", "dec"
	Overs   string
	Aside   string // the main match's score during a super over, and the super over's afterwards
}

// Stat is a figure with its label.
type Stat struct{ Label, Value string }

// knownStats removes figures without a value.
func knownStats(all []Stat) []Stat {
	return slices.DeleteFunc(all, func(s Stat) bool { return s.Value == "" })
}

// Banner is the most important recent event.
type Banner struct {
	Key, Kind, Mark, Text, Over string
}

func (b *builder) score() Score {
	d := &b.in.Display
	s := Score{Phase: string(d.Phase), Stats: b.stats()}
	cur := b.current()
	s.Super = cur != nil && cur.SuperOver && d.Phase != cricket.PhaseCompleted
	for i := range d.Teams {
		s.Sides = append(s.Sides, b.scoreSide(&d.Teams[i], s.Super))
	}
	s.Headline, s.Context = b.headline()
	if d.Phase == cricket.PhaseCompleted {
		s.Winner = b.winner()
	}
	if k := d.KeyEvent; k != nil && k.Text != s.Headline {
		kind, mark := eventMark(k.Type)
		s.Banner = &Banner{Key: k.Key, Kind: kind, Mark: mark, Text: k.Text, Over: b.overOf(k.Key)}
	}
	return s
}

// current is the innings in play or the last one.
func (b *builder) current() *cricket.InningsLine {
	in := b.in.Display.Innings
	if len(in) == 0 {
		return nil
	}
	return &in[len(in)-1]
}

func (b *builder) overOf(key string) string {
	if i := slices.IndexFunc(b.in.Events, func(e cricket.Event) bool { return e.Key == key }); i >= 0 {
		return b.in.Events[i].Over
	}
	return ""
}

// scoreSide returns a side's figures. After a super over the big figure is that of the main match, as in the record.
func (b *builder) scoreSide(t *cricket.TeamScore, super bool) Side {
	info := b.side(t.ID)
	side := Side{Class: info.Class, Code: info.Code, Name: info.Name, Batting: t.Batting}
	var main, extra []cricket.InningsLine
	for _, in := range b.in.Display.Innings {
		switch {
		case in.TeamID != t.ID:
		case in.SuperOver:
			extra = append(extra, in)
		default:
			main = append(main, in)
		}
	}
	shown, aside, label := main, extra, "Super over"
	if super {
		shown, aside, label = b.round(extra), main, "Match"
	}
	if n := len(shown); n > 0 {
		side.Figure, side.Suffix = figure(&shown[n-1])
		side.Overs = shown[n-1].Overs
		for i := range shown[:n-1] {
			fig, suffix := figure(&shown[i])
			side.Prior += strings.TrimSpace(fig+suffixShort(suffix)) + " & "
		}
		side.Prior = strings.TrimSuffix(side.Prior, " ")
	}
	if len(aside) > 0 {
		var list []string
		for i := range aside {
			fig, _ := figure(&aside[i])
			list = append(list, fig)
		}
		side.Aside = label + " " + strings.Join(list, " and ")
	}
	return side
}

// round returns the super over of a side that belongs to the current round.
func (b *builder) round(extra []cricket.InningsLine) []cricket.InningsLine {
	cur := b.current()
	if len(extra) == 0 || (cur.No-1)/2 != (extra[len(extra)-1].No-1)/2 {
		return nil
	}
	return extra[len(extra)-1:]
}

// figure returns an innings' score and how it ended.
func figure(in *cricket.InningsLine) (score, suffix string) {
	switch {
	case in.Forfeited:
		return "–", "forfeited"
	case in.AllOut && !in.SuperOver:
		return fmt.Sprint(in.Runs), "all out"
	case in.Declared:
		return fmt.Sprintf("%d/%d", in.Runs, in.Wickets), "dec"
	default:
		return fmt.Sprintf("%d/%d", in.Runs, in.Wickets), ""
	}
}

func suffixShort(suffix string) string {
	if suffix == "dec" {
		return "d"
	}
	return ""
}

// winner returns the class of the winning side: the side named before "win" in the result.
func (b *builder) winner() string {
	head, _, ok := strings.Cut(b.in.Display.Result, " w")
	if !ok {
		return ""
	}
	for _, s := range b.sides {
		if strings.HasSuffix(head, s.Name) || strings.HasSuffix(head, s.Code) {
			return s.Class
		}
	}
	return ""
}

// stats returns the rates beside the headline. Their order does not change during an innings.
func (b *builder) stats() []Stat {
	d := &b.in.Display
	if len(d.Innings) == 0 || d.Phase == cricket.PhaseCompleted || d.Phase == cricket.PhaseAbandoned {
		return nil
	}
	var day, target, left string
	if d.Day > 0 {
		day = fmt.Sprint(d.Day)
	}
	if d.Target > 0 {
		target = fmt.Sprint(d.Target)
	}
	if d.Target == 0 && d.BallsLeft > 0 && d.Phase == cricket.PhaseLive {
		left = fmt.Sprintf("%d.%d", d.BallsLeft/b.bpo, d.BallsLeft%b.bpo)
	}
	return knownStats([]Stat{{"Day", day}, {"Run rate", d.RunRate}, {"Required", d.RequiredRate}, {"Target", target}, {"Overs left", left}})
}
