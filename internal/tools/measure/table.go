package measure

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// Target is a row of the table: what is compared with what, and the limit for the ratio.
type Target struct {
	ID    string // group, slash, row
	What  string
	Floor string // the denominator of the ratio; empty: the limit is for our figure alone
	Limit float64
	Most  bool // the limit is an upper one, not a lower one
}

// AtLeast returns a target with a lower limit for the ratio.
func AtLeast(id, what, floor string, limit float64) Target {
	return Target{ID: id, What: what, Floor: floor, Limit: limit}
}

// AtMost returns a target with an upper limit for the ratio.
func AtMost(id, what, floor string, limit float64) Target {
	return Target{ID: id, What: what, Floor: floor, Limit: limit, Most: true}
}

// Met reports whether a measured value meets the target.
func (t Target) Met(v float64) bool {
	if t.Most {
		return v <= t.Limit
	}
	return v >= t.Limit
}

func (t Target) bound() string {
	if t.Most {
		return "<="
	}
	return ">="
}

// Table collects the measurements of its targets. Rows of targets that are not selected are left out.
type Table struct {
	Targets []Target       // in the order of the table; ids are unique
	Select  *regexp.Regexp // matches the ids; nil: all

	rows []Row
}

// Row is one row of the table.
type Row struct {
	ID      string  `json:"id"`
	What    string  `json:"what"`
	Against string  `json:"floor,omitempty"`
	Ours    *Figure `json:"ours,omitempty"`
	Floor   *Figure `json:"floorMeasured,omitempty"`
	Ratio   float64 `json:"ratio,omitempty"` // of ours to the floor; 0: the target is for our figure alone
	Bound   string  `json:"bound"`
	Target  float64 `json:"target"`
	Met     bool    `json:"met"`
	Missing string  `json:"notMeasured,omitempty"` // reason for a missing figure
}

// Wants reports whether there is such a row and it is selected.
func (t *Table) Wants(id string) bool {
	return slices.ContainsFunc(t.Targets, func(target Target) bool { return target.ID == id }) && t.selects(id)
}

func (t *Table) selects(id string) bool { return t.Select == nil || t.Select.MatchString(id) }

// WantsGroup reports whether any row of a group is selected.
func (t *Table) WantsGroup(name string) bool {
	return slices.ContainsFunc(t.Targets, func(target Target) bool { return target.in(name) && t.selects(target.ID) })
}

func (t *Target) in(group string) bool { return strings.HasPrefix(t.ID, group+"/") }

// unreported is the reason for a missing figure about a process, whose zeros mean that.
const unreported = "the system does not report it"

// Compare adds a row with a floor.
func (t *Table) Compare(id string, ours, floor Figure) { t.CompareWith(id, "", ours, floor) }

// CompareWith is Compare with a floor that is only known after it was measured: which is added to the target's name of the floor.
func (t *Table) CompareWith(id, which string, ours, floor Figure) {
	if math.IsNaN(ours.Median / floor.Median) {
		t.Missing(id, unreported)
		return
	}
	t.add(id, func(r *Row, target Target) {
		if which != "" {
			r.Against += ": " + which
		}
		r.Ours, r.Floor, r.Ratio = &ours, &floor, ours.Median/floor.Median
		r.Met = target.Met(r.Ratio)
	})
}

// Alone adds a row whose target is for our figure alone.
func (t *Table) Alone(id string, ours Figure) {
	t.add(id, func(r *Row, target Target) { r.Ours, r.Met = &ours, target.Met(ours.Median) })
}

// AloneMB is Alone for memory. A zero means that the system does not report it.
func (t *Table) AloneMB(id string, megabytes ...float64) {
	if slices.Contains(megabytes, 0) {
		t.Missing(id, unreported)
		return
	}
	t.Alone(id, FigureOf(megabytes, "MB"))
}

// Missing adds a row that could not be measured.
func (t *Table) Missing(id, why string) {
	t.add(id, func(r *Row, _ Target) { r.Missing = why })
}

// MissingGroup adds all rows of a group that could not be measured.
func (t *Table) MissingGroup(name, why string) {
	for _, target := range t.Targets {
		if target.in(name) {
			t.Missing(target.ID, why)
		}
	}
}

func (t *Table) add(id string, fill func(*Row, Target)) {
	if !t.selects(id) {
		return
	}
	target := t.Targets[slices.IndexFunc(t.Targets, func(target Target) bool { return target.ID == id })]
	r := Row{ID: id, What: target.What, Against: target.Floor, Bound: target.bound(), Target: target.Limit}
	fill(&r, target)
	t.rows = append(t.rows, r)
}

// Rows returns the rows in the order of the targets, not of the measurements.
func (t *Table) Rows() []Row {
	out := make([]Row, 0, len(t.rows))
	for _, target := range t.Targets {
		for _, r := range t.rows {
			if r.ID == target.ID {
				out = append(out, r)
			}
		}
	}
	return out
}
