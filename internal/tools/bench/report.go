package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// row is one line of the table.
type row struct {
	ID      string  `json:"id"`
	What    string  `json:"what"`
	Against string  `json:"floor,omitempty"`
	Ours    *figure `json:"ours,omitempty"`
	Floor   *figure `json:"floorMeasured,omitempty"`
	Ratio   float64 `json:"ratio,omitempty"` // ours to the floor; 0: the target is about ours alone
	Bound   string  `json:"bound"`
	Target  float64 `json:"target"`
	Met     bool    `json:"met"`
	Missing string  `json:"notMeasured,omitempty"` // why there is no figure
}

// report is what the program prints.
type report struct {
	Machine machine `json:"machine"`
	Quick   bool    `json:"quick"`
	Rows    []row   `json:"rows"`
}

// compare adds a row with a floor. A row that is not selected is left out.
func (b *bench) compare(id string, ours, floor figure) {
	b.add(id, func(r *row, t target) {
		r.Ours, r.Floor, r.Ratio = &ours, &floor, ours.Median/floor.Median
		r.Met = t.met(r.Ratio)
	})
}

// alone adds a row whose target is about ours alone.
func (b *bench) alone(id string, ours figure) {
	b.add(id, func(r *row, t target) { r.Ours, r.Met = &ours, t.met(ours.Median) })
}

// beside is alone with a floor that is only shown.
func (b *bench) beside(id string, ours, floor figure) {
	b.add(id, func(r *row, t target) {
		r.Ours, r.Floor, r.Met = &ours, &floor, t.met(ours.Median)
	})
}

// missing adds a row that could not be measured.
func (b *bench) missing(id, why string) {
	b.add(id, func(r *row, _ target) { r.Missing = why })
}

func (b *bench) add(id string, fill func(*row, target)) {
	if !b.wants(id) {
		return
	}
	for _, t := range targets {
		if t.id == id {
			r := row{ID: t.id, What: t.what, Against: t.floor, Bound: t.bound.String(), Target: t.limit}
			fill(&r, t)
			b.table = append(b.table, r)
			return
		}
	}
	panic("no target " + id)
}

func (r report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r report) writeText(w io.Writer) error {
	_, _ = fmt.Fprint(w, r.Machine)
	if r.Quick {
		_, _ = fmt.Fprintln(w, "quick run: small sizes, few rounds; it shows that everything works and says little about speed")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "row\twhat\tours (min..max)\tfloor\tmeasured (min..max)\tratio\ttarget\t")
	met, measured := 0, 0
	for _, want := range targets { // in the order of the targets, whatever was measured first
		for _, row := range r.Rows {
			if row.ID != want.id {
				continue
			}
			_, _ = fmt.Fprintln(t, row.line())
			if row.Missing == "" {
				measured++
			}
			if row.Met {
				met++
			}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d of %d measured rows meet their target\n", met, measured)
	return err
}

func (r row) line() string {
	head := r.ID + "\t" + r.What + "\t"
	target := r.Bound + " " + limit(r.Target) + "\t"
	if r.Missing != "" {
		return head + "-\t" + r.Against + "\t-\t-\t" + target + "not measured: " + r.Missing
	}
	floor, ratio := "-", "-"
	if r.Floor != nil {
		floor = r.Floor.String()
	}
	if r.Ratio != 0 {
		ratio = number(r.Ratio)
	}
	if r.Against == "" {
		target = r.Bound + " " + limit(r.Target) + " " + r.Ours.Unit + "\t"
	}
	verdict := "met"
	if !r.Met {
		verdict = "MISSED"
	}
	return head + r.Ours.String() + "\t" + r.Against + "\t" + floor + "\t" + ratio + "\t" + target + verdict
}

// String is the median and the spread.
func (f figure) String() string {
	if f.Min == f.Max {
		return number(f.Median) + " " + f.Unit
	}
	return fmt.Sprintf("%s %s (%s..%s)", number(f.Median), f.Unit, number(f.Min), number(f.Max))
}

// number shows three digits that count.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 1e6:
		return strconv.FormatFloat(v/1e6, 'f', 2, 64) + "M"
	case a >= 1e4:
		return strconv.FormatFloat(v/1e3, 'f', 1, 64) + "k"
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.1 || a == 0:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

func limit(v float64) string {
	if v > 0 && v < 0.1 {
		return fmt.Sprintf("1/%.0f", 1/v)
	}
	if v >= 1e6 {
		return number(v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
