package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
)

// Bars is the runs per over, one row of bars per innings, all on the same scale.
type Bars struct {
	Known  bool
	XTicks []Tick
	Rows   []BarRow
}

// BarRow is one innings.
type BarRow struct {
	Class   string
	Title   string
	Say     string
	ViewBox string
	YTicks  []Tick
	Path    string // the older bars of a long match as one path: their figures are in the table of overs
	Bars    []Bar
	Dots    []Dot // wickets; several in one over are stacked
}

// Bar is one over, in overs and runs, with y downwards.
type Bar struct {
	X, Y, H string
	Say     string
	Now     bool
}

func newBars(runs []inningsRuns, d *cricket.Display) Bars {
	if len(runs) == 0 {
		return Bars{}
	}
	w := width(runs)
	top := 12.0
	for i := range runs {
		for j := range runs[i].Overs {
			o := &runs[i].Overs[j]
			top = max(top, float64(o.Runs)+3*float64(o.Wickets))
		}
	}
	step := niceStep(top, 4)
	h := math.Ceil(top/step) * step
	c := Bars{Known: true, XTicks: ticks(w, niceStep(w, 6), false)}
	for i := range runs {
		now := d.Phase == cricket.PhaseLive && runs[i].Line.No == len(d.Innings)
		row := barRow(&runs[i], w, h, step, now)
		if len(runs) > 2 {
			keep := 0
			if i == len(runs)-1 {
				keep = namedBars
			}
			row.merge(h, keep)
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

func barRow(r *inningsRuns, w, h, step float64, now bool) BarRow {
	row := BarRow{
		Class: r.Class, Title: r.Title, ViewBox: fmt.Sprintf("0 0 %g %g", w, h), YTicks: ticks(h, step, true),
	}
	best := 0
	for i := range r.Overs {
		o := &r.Overs[i]
		if o.Runs > r.Overs[best].Runs {
			best = i
		}
		say := o.say()
		row.Bars = append(row.Bars, Bar{
			X: fmt.Sprintf("%g", float64(o.No)-0.9), Y: fmt.Sprintf("%g", h-float64(o.Runs)),
			H: fmt.Sprint(o.Runs), Say: say, Now: now && i == len(r.Overs)-1,
		})
		for n := range o.Wickets {
			y := float64(o.Runs) + (float64(n)+0.55)*h*0.13
			row.Dots = append(row.Dots, Dot{percent((float64(o.No) - 0.5) / w), percent(1 - y/h), say})
		}
	}
	row.Say = fmt.Sprintf("Runs an over, %s: most in over %d with %d.", r.Title, r.Overs[best].No, r.Overs[best].Runs)
	return row
}

// namedBars is how many overs of a long match are drawn as separate bars with a tooltip: the latest.
const namedBars = 30

// merge draws all but the last bars as one path. An over of a Test then takes a quarter of the space.
func (r *BarRow) merge(h float64, keep int) {
	n := max(0, len(r.Bars)-keep)
	var path strings.Builder
	for i := range r.Bars[:n] {
		if b := &r.Bars[i]; b.H != "0" {
			fmt.Fprintf(&path, "M%s %gv-%sh.8v%sz", b.X, h, b.H, b.H)
		}
	}
	r.Path, r.Bars = path.String(), r.Bars[n:]
}
