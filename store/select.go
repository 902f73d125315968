package store

import (
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// Select says which attributes of its items a Query or Scan returns.
type Select uint8

// DynamoDB's selections.
const (
	SelectDefault   Select = iota // all attributes; those of the index, for an index; those of the projection, if there is one
	SelectAll                     // all attributes; a global index must project them all
	SelectProjected               // all attributes that the index projects
	SelectSpecific                // the attributes that the projection names
	SelectCount                   // the number of items only
)

// maxFew is how many attributes are looked up one by one; for more it is cheaper to decode the item.
const maxFew = 4

// choose sets the filter, and which attributes the walk returns.
func (w *walk) choose(sel Select, bound expr.Bound) error {
	if err := checkSelect(sel, w.index != nil, bound.Projection != nil); err != nil {
		return err
	}
	w.filter, w.projection, w.countOnly = bound.Filter, bound.Projection, sel == SelectCount
	if names, whole := w.projection.Names(); whole && len(names) <= maxFew {
		w.few = names
	}
	if w.index == nil || w.index.Spec.Projection == ProjectAll {
		return nil
	}
	missing := w.index.Missing(w.table, w.projection)
	if w.index.Spec.Local {
		// Attributes that a local index lacks are fetched from the table if they are requested.
		w.narrow = sel != SelectAll && len(missing) == 0
		w.fetches = !w.narrow
		return nil
	}
	w.narrow = true
	switch {
	case sel == SelectAll:
		return refusal.Invalid("One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for "+
			"global secondary index %s because its projection type is not ALL", w.index.Spec.Name)
	case len(missing) > 0:
		return refusal.Invalid("One or more parameter values were invalid: Global secondary index %s does not project [%s]",
			w.index.Spec.Name, strings.Join(missing, ", "))
	}
	return nil
}

// SelectError is the cause of errors about a Select that does not fit the projection or the index. The fault around it has the text.
type SelectError struct{}

// Error returns the empty string.
func (SelectError) Error() string { return "" }

func errSelect(format string, args ...any) error {
	return fault.Wrap(SelectError{}, fault.Invalid, "validation", format, args...)
}

func checkSelect(sel Select, index, projection bool) error {
	switch {
	case sel == SelectProjected && !index:
		return errSelect("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	case sel == SelectSpecific && !projection:
		return errSelect("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	case sel == SelectCount && projection:
		return errSelect("Cannot specify the ProjectionExpression when choosing to get only the Count")
	case (sel == SelectAll || sel == SelectProjected) && projection:
		return errSelect("Cannot specify the ProjectionExpression when choosing to get %s", sel)
	}
	return nil
}

// String returns DynamoDB's name of the selection.
func (s Select) String() string {
	switch s {
	case SelectAll:
		return "ALL_ATTRIBUTES"
	case SelectProjected:
		return "ALL_PROJECTED_ATTRIBUTES"
	case SelectSpecific:
		return "SPECIFIC_ATTRIBUTES"
	case SelectCount:
		return "COUNT"
	}
	return ""
}
