package node

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
)

// derivations implements operator.Derivations.
type derivations struct{ all []*deriver }

// DerivedRules implements operator.Derivations.
func (a derivations) DerivedRules() (out []operator.Derived) {
	for _, d := range a.all {
		if state, ok := d.state(); ok {
			out = append(out, state)
		}
	}
	return out
}

func (a derivations) find(application, name string) (*deriver, error) {
	i := slices.IndexFunc(a.all, func(d *deriver) bool { return d.app.Name == application && d.Name == name })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "not_found", "No application counts such rows.")
	}
	return a.all[i], nil
}

// differencesShown bounds the rows that the page lists.
const differencesShown = 500

// Differences implements operator.Derivations.
func (a derivations) Differences(ctx context.Context, application, name string) (out operator.Differences, err error) {
	d, err := a.find(application, name)
	if err != nil {
		return out, err
	}
	out.Derived, _ = d.state()
	units, err := d.differences(ctx)
	if err != nil {
		return out, err
	}
	out.Seen = seenOf(units)
	for i := range units {
		for j := range units[i].rows {
			if len(out.Rows) == differencesShown {
				out.More++
				continue
			}
			out.Rows = append(out.Rows, differenceOf(&units[i].rows[j]))
		}
	}
	return out, nil
}

// Recount implements operator.Derivations.
func (a derivations) Recount(ctx context.Context, application, name, seen string) (written int, err error) {
	d, err := a.find(application, name)
	if err != nil {
		return 0, err
	}
	units, err := d.differences(ctx)
	if err != nil {
		return 0, err
	}
	if seenOf(units) != seen {
		return 0, fault.New(fault.Conflict, "recount_changed", "The rows have changed since this list was made: look at the differences again.")
	}
	for i := range units {
		missing, err := d.missing(ctx, units[i].unit)
		if err != nil {
			return written, err
		}
		if len(missing) > 0 {
			return written, fault.New(fault.Unavailable, "counting_waits", "%s Try again later.", app.CountingWaits(missing))
		}
		n, err := d.Adopt(ctx, d.node.store, units[i].unit, derived.Fingerprint(units[i].rows))
		written += n
		d.deriveAgain(units[i].unit)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// unitDifferences is the rows of a unit that stay as they are.
type unitDifferences struct {
	unit string
	rows []derived.Row
}

// differences reads the rows that stay as they are, of all units that have any.
func (d *deriver) differences(ctx context.Context) (out []unitDifferences, err error) {
	d.mu.Lock()
	units := maps.Clone(d.told)
	d.mu.Unlock()
	err = d.node.store.View(ctx, func(tx *store.Tx) error {
		for _, unit := range slices.Sorted(maps.Keys(units)) {
			if units[unit].others == 0 {
				continue
			}
			rows, err := d.Rule.Differences(tx, unit)
			if err != nil {
				return err
			}
			if len(rows) > 0 {
				out = append(out, unitDifferences{unit, rows})
			}
		}
		return nil
	})
	return out, err
}

// seenOf names a list of differences.
func seenOf(units []unitDifferences) string {
	var all []derived.Row
	for i := range units {
		all = append(all, units[i].rows...)
	}
	return derived.Fingerprint(all)
}

// differenceOf returns a row for people: the values that differ.
func differenceOf(r *derived.Row) operator.Difference {
	is, shall := r.Values()
	return operator.Difference{Row: keyText(r.Key), Is: valuesText(is, shall, r.Was == nil), Shall: valuesText(shall, is, r.After == nil)}
}

func keyText(key attr.Item) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(key)) {
		parts = append(parts, key[name].Text())
	}
	return strings.Join(parts, " / ")
}

// valuesText lists the values that other does not have.
func valuesText(values, other attr.Item, none bool) string {
	if none {
		return "no row"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if v := values[name]; !v.Equal(other[name]) {
			parts = append(parts, name+" "+textOf(v))
		}
	}
	return strings.Join(parts, ", ")
}

// textOf returns a value for people, of at most 200 bytes.
func textOf(v attr.Value) string {
	text := v.Text()
	if k := v.Kind(); k != attr.KindS && k != attr.KindN {
		text = string(attr.AppendValueJSON(nil, v))
	}
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return text
}
