package measure

import (
	"regexp"
	"slices"
	"strings"
)

// Target is one row of the table: what is compared with what, and what the ratio must be.
type Target struct {
	ID    string // group, slash, row
	What  string
	Floor string // what the ratio is to; empty: the limit is about ours alone
	Limit float64
	Most  bool // a ratio is good up to the limit, not from it on
}

// AtLeast is a target whose ratio is good from the limit on.
func AtLeast(id, what, floor string, limit float64) Target {
	return Target{ID: id, What: what, Floor: floor, Limit: limit}
}

// AtMost is a target whose ratio is good up to the limit.
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

// Table collects what was measured of its targets. The row of a target that is not selected is left out, whatever is
// said of it.
type Table struct {
	Targets []Target       // in the order in which they are shown; their ids differ
	Select  *regexp.Regexp // of the ids; nil: all

	rows []Row
}

// Row is one line of the table.
type Row struct {
	ID      string  `json:"id"`
	What    string  `json:"what"`
	Against string  `json:"floor,omitempty"`
	Ours    *Figure `json:"ours,omitempty"`
	Floor   *Figure `json:"floorMeasured,omitempty"`
	Ratio   float64 `json:"ratio,omitempty"` // ours to the floor; 0: the target is about ours alone
	Bound   string  `json:"bound"`
	Target  float64 `json:"target"`
	Met     bool    `json:"met"`
	Missing string  `json:"notMeasured,omitempty"` // why there is no figure
}

// Wants reports whether a row is selected.
func (t *Table) Wants(id string) bool { return t.Select == nil || t.Select.MatchString(id) }

// WantsGroup reports whether any row of a group is selected.
func (t *Table) WantsGroup(name string) bool {
	return slices.ContainsFunc(t.Targets, func(target Target) bool { return target.in(name) && t.Wants(target.ID) })
}

func (t *Target) in(group string) bool { return strings.HasPrefix(t.ID, group+"/") }

// Compare adds a row with a floor.
func (t *Table) Compare(id string, ours, floor Figure) { t.CompareWith(id, "", ours, floor) }

// CompareWith is Compare with a floor that is known only after it was measured: its name stands in the row behind the
// one of the target.
func (t *Table) CompareWith(id, which string, ours, floor Figure) {
	t.add(id, func(r *Row, target Target) {
		if which != "" {
			r.Against += ": " + which
		}
		r.Ours, r.Floor, r.Ratio = &ours, &floor, ours.Median/floor.Median
		r.Met = target.Met(r.Ratio)
	})
}

// Alone adds a row whose target is about ours alone.
func (t *Table) Alone(id string, ours Figure) {
	t.add(id, func(r *Row, target Target) { r.Ours, r.Met = &ours, target.Met(ours.Median) })
}

// Beside is Alone with a floor that is only shown.
func (t *Table) Beside(id string, ours, floor Figure) {
	t.add(id, func(r *Row, target Target) {
		r.Ours, r.Floor, r.Met = &ours, &floor, target.Met(ours.Median)
	})
}

// Missing adds a row that could not be measured.
func (t *Table) Missing(id, why string) {
	t.add(id, func(r *Row, _ Target) { r.Missing = why })
}

// MissingGroup adds all rows of a group, which could not be measured.
func (t *Table) MissingGroup(name, why string) {
	for _, target := range t.Targets {
		if target.in(name) {
			t.Missing(target.ID, why)
		}
	}
}

func (t *Table) add(id string, fill func(*Row, Target)) {
	if !t.Wants(id) {
		return
	}
	target := t.Targets[slices.IndexFunc(t.Targets, func(target Target) bool { return target.ID == id })]
	r := Row{ID: id, What: target.What, Against: target.Floor, Bound: target.bound(), Target: target.Limit}
	fill(&r, target)
	t.rows = append(t.rows, r)
}

// Rows returns the rows in the order of the targets, whatever was measured first.
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
