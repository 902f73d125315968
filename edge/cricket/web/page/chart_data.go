package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
)

// inningsRuns is one innings for the charts: over by over, with running totals.
type inningsRuns struct {
	Class, Code, Title string
	Again              bool // the side's second innings: drawn dashed
	Overs              []overRuns
	Line               cricket.InningsLine
	Length             float64 // overs bowled
	Quota              float64 // overs that the innings in play may last, 0 for no limit
}

type overRuns struct {
	No, Runs, Wickets int
	Total, Down       int // at the end of the over
	Bowler, Balls     string
}

func (o *overRuns) say() string {
	return fmt.Sprintf("Over %d, %s: %s (%d)", o.No, o.Bowler, strings.ReplaceAll(o.Balls, ".", "0"), o.Runs)
}

// runs returns the regulation innings whose overs are known. Super overs are too short to draw.
func (b *builder) runs() []inningsRuns {
	var out []inningsRuns
	d := &b.in.Display
	for i := range b.in.Card.Innings {
		in := &b.in.Card.Innings[i]
		line, ok := b.lineOf(in.No)
		if !ok || line.SuperOver || len(in.Overs) == 0 {
			continue
		}
		side := b.side(in.TeamID)
		r := inningsRuns{Class: side.Class, Code: side.Code, Title: b.inningsTitle(&line), Line: line}
		if d.Lead != nil {
			r.Again = b.inningsOf(&line) > 1
		}
		legal := legalBalls(line.Overs, b.bpo)
		r.Length = float64(legal) / float64(b.bpo)
		if cur := b.current(); cur.No == in.No && d.BallsLeft > 0 && d.Lead == nil {
			r.Quota = float64(legal+d.BallsLeft) / float64(b.bpo)
		}
		total, down := 0, 0
		for _, o := range in.Overs {
			total, down = total+o.Runs, down+o.Wickets
			r.Overs = append(r.Overs, overRuns{o.No, o.Runs, o.Wickets, total, down, o.Bowler, o.Balls})
		}
		out = append(out, r)
	}
	return out
}

func (b *builder) lineOf(no int) (cricket.InningsLine, bool) {
	i := slices.IndexFunc(b.in.Display.Innings, func(l cricket.InningsLine) bool { return l.No == no })
	if i < 0 {
		return cricket.InningsLine{}, false
	}
	return b.in.Display.Innings[i], true
}

// width returns the width of the charts in overs.
func width(runs []inningsRuns) float64 {
	w := 5.0
	for i := range runs {
		r := &runs[i]
		w = max(w, math.Ceil(r.Length), r.Quota, float64(r.Overs[len(r.Overs)-1].No))
	}
	return w
}

// Tick is a grid line with its label.
type Tick struct {
	At   string // percent of the plot
	Text string
}

// percent formats a fraction of the plot's width or height.
func percent(share float64) string { return fmt.Sprintf("%.2f%%", 100*share) }

// niceStep returns the distance of grid lines: a round number that gives at most the wanted number of lines.
func niceStep(span float64, most int) float64 {
	for _, step := range []float64{1, 2, 5, 10, 20, 50, 100, 200, 500} {
		if span/step <= float64(most) {
			return step
		}
	}
	return 1000
}

func ticks(span, step float64, flip bool) []Tick {
	var out []Tick
	for v := 0.0; v <= span+1e-9; v += step {
		at := v / span
		if flip {
			at = 1 - at
		}
		out = append(out, Tick{percent(at), fmt.Sprintf("%.0f", v)})
	}
	return out
}

// OverTable is the content of the charts in figures.
type OverTable struct {
	Heads []string
	Rows  []OverRow
}

// OverRow is one over in every innings.
type OverRow struct {
	No    int
	Cells []OverCell
}

// OverCell is one over of one innings; Total is empty if it was not bowled.
type OverCell struct {
	Runs, Total string
	Say         string // "Over 12, Starc: 1 0 4 W 2wd 1 (8)"
}

func newOverTable(runs []inningsRuns) OverTable {
	var t OverTable
	last := 0
	for i := range runs {
		t.Heads = append(t.Heads, runs[i].Title)
		last = max(last, runs[i].Overs[len(runs[i].Overs)-1].No)
	}
	at := make([]int, len(runs))
	for no := 1; no <= last; no++ {
		row := OverRow{No: no, Cells: make([]OverCell, len(runs))}
		for i := range runs {
			if at[i] < len(runs[i].Overs) && runs[i].Overs[at[i]].No == no {
				o := &runs[i].Overs[at[i]]
				row.Cells[i] = OverCell{fmt.Sprint(o.Runs), fmt.Sprintf("%d/%d", o.Total, o.Down), o.say()}
				at[i]++
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
