package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
)

// Worm is the chart of runs over by over. The lines are drawn in overs and runs, with y downwards, and stretched
// by the browser; whatever must keep its shape (dots, labels) is placed by percent.
type Worm struct {
	Known   bool
	Say     string // the chart as text
	ViewBox string
	Lines   []WormLine
	XTicks  []Tick
	YTicks  []Tick
	Target  *WormTarget
}

// WormLine is one innings.
type WormLine struct {
	Class  string
	Points string
	Again  bool
	Now    bool
	Dots   []Dot
	End    Label
}

// Dot is a mark in a chart.
type Dot struct{ X, Y, Say string }

// Label is a text in a chart.
type Label struct {
	X, Y, Text string
	Nudge      int // pixels down, so that two labels do not overlap
}

// WormTarget is the line of the target.
type WormTarget struct{ Y, Text string }

func newWorm(runs []inningsRuns, d *cricket.Display) Worm {
	if len(runs) == 0 {
		return Worm{}
	}
	w := width(runs)
	if d.Lead != nil {
		w = math.Ceil((w+2)/10) * 10
	}
	top := 50.0
	for i := range runs {
		top = max(top, float64(runs[i].Line.Runs))
	}
	target := d.Target
	if d.Lead != nil || lastIsSuper(d) {
		target = 0
	}
	h := math.Ceil(max(top, float64(target)) * 1.08) // headroom for the label of the highest line, target included
	step := niceStep(h, 6)
	c := Worm{
		Known: true, ViewBox: fmt.Sprintf("0 0 %g %g", w, h),
		XTicks: ticks(w, niceStep(w, 6), false), YTicks: ticks(h, step, true),
	}
	for i := range runs {
		line := wormLine(&runs[i], w, h)
		line.Now = i == len(runs)-1
		c.Lines = append(c.Lines, line)
	}
	separateLabels(c.Lines, runs, w, h)
	if target > 0 {
		c.Target = &WormTarget{percent(1 - float64(target)/h), fmt.Sprintf("Target %d", target)}
	}
	c.Say = wormWords(runs)
	return c
}

func lastIsSuper(d *cricket.Display) bool {
	return len(d.Innings) > 0 && d.Innings[len(d.Innings)-1].SuperOver
}

func wormLine(r *inningsRuns, w, h float64) WormLine {
	var points strings.Builder
	fmt.Fprintf(&points, "0,%g", h)
	line := WormLine{Class: r.Class, Again: r.Again}
	x, y := 0.0, 0.0
	for i := range r.Overs {
		o := &r.Overs[i]
		x, y = float64(o.No), float64(o.Total)
		if i == len(r.Overs)-1 {
			x, y = min(x, max(r.Length, x-1)), max(y, float64(r.Line.Runs))
		}
		fmt.Fprintf(&points, " %g,%g", math.Round(x*100)/100, h-y)
		for n := range o.Wickets {
			// Several wickets in one over are drawn side by side.
			at := x - float64(n)*w*0.012
			line.Dots = append(line.Dots, Dot{percent(at / w), percent(1 - y/h), fmt.Sprintf("Wicket %d, over %d", o.Down-n, o.No)})
		}
	}
	line.Points = points.String()
	score, suffix := figure(&r.Line)
	line.End = Label{percent(x / w), percent(1 - y/h), r.Code + " " + score + suffixShort(suffix), 0}
	return line
}

// separateLabels moves two end labels that would overlap.
func separateLabels(lines []WormLine, runs []inningsRuns, w, h float64) {
	for i := range lines {
		for j := range i {
			dx := math.Abs(runs[i].Length-runs[j].Length) / w
			dy := float64(runs[i].Line.Runs-runs[j].Line.Runs) / h
			if dx > 0.22 || math.Abs(dy) > 0.09 {
				continue
			}
			up, down := i, j
			if dy < 0 {
				up, down = j, i
			}
			lines[up].End.Nudge, lines[down].End.Nudge = -9, 9
		}
	}
}

// wormWords describes the chart.
func wormWords(runs []inningsRuns) string {
	parts := make([]string, 0, len(runs)+1)
	for i := range runs {
		l := &runs[i].Line
		parts = append(parts, fmt.Sprintf("%s %d for %d after %s overs", runs[i].Title, l.Runs, l.Wickets, l.Overs))
	}
	if len(runs) == 2 {
		over := int(runs[1].Length)
		a, b := totalAfter(&runs[0], over), totalAfter(&runs[1], over)
		if over > 0 && a >= 0 && b >= 0 {
			switch diff := b - a; {
			case diff > 0:
				parts = append(parts, fmt.Sprintf("%s %d ahead after %d overs", runs[1].Code, diff, over))
			case diff < 0:
				parts = append(parts, fmt.Sprintf("%s %d behind after %d overs", runs[1].Code, -diff, over))
			default:
				parts = append(parts, fmt.Sprintf("level after %d overs", over))
			}
		}
	}
	return "Runs by over: " + strings.Join(parts, "; ") + "."
}

// totalAfter returns the total at the end of an over, -1 if the innings was over by then.
func totalAfter(r *inningsRuns, over int) int {
	for i := range r.Overs {
		if r.Overs[i].No == over {
			return r.Overs[i].Total
		}
	}
	return -1
}
