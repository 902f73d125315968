package measure

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// Report is the output of a program.
type Report struct {
	Machine Machine `json:"machine"`
	Quick   bool    `json:"quick"`
	Rows    []Row   `json:"rows"`
}

// WriteText writes the machine and the table.
func (r Report) WriteText(w io.Writer) error {
	_, _ = fmt.Fprint(w, r.Machine)
	if r.Quick {
		_, _ = fmt.Fprintln(w, "quick run: small sizes, few rounds; it shows that everything works and says little about speed")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "row\twhat\tours (min..max)\tfloor\tmeasured (min..max)\tratio\ttarget\t")
	met, measured := 0, 0
	for _, row := range r.Rows {
		_, _ = fmt.Fprintln(t, row.line())
		if row.Missing == "" {
			measured++
		}
		if row.Met {
			met++
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d of %d measured rows meet their target\n", met, measured)
	return err
}

func (r Row) line() string {
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
		ratio = Number(r.Ratio)
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

// String returns the median and the spread.
func (f Figure) String() string {
	if f.Min == f.Max {
		return Number(f.Median) + " " + f.Unit
	}
	return fmt.Sprintf("%s %s (%s..%s)", Number(f.Median), f.Unit, Number(f.Min), Number(f.Max))
}

// Number formats a number with about three significant digits.
func Number(v float64) string {
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
		return Number(v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
