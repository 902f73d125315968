package store

import (
	"bytes"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/refusal"
)

// checkStart refuses a start key with missing or additional attributes, or whose index attributes do not fit the index. startAt checks
// the rest. For a table itself, Query finds such faults here and Scan in startAt.
func (w *walk) checkStart(key attr.Item, scan bool) error {
	switch {
	case key == nil:
		return nil
	case scan && w.index == nil:
		return nil
	case len(key) != len(w.lastKeyNames()):
		return catalogue.ErrStartKey()
	}
	return w.key().CheckStart(key, len(w.key().Attrs))
}

// startAt encodes the start key. It must be one that a page can have ended with.
func (w *walk) startAt(key attr.Item) error {
	if key == nil {
		return nil
	}
	primary := attr.Item{}
	for _, a := range w.table.Key.Attrs {
		if v, ok := key[a.Name]; ok {
			primary[a.Name] = v
		}
	}
	if w.index == nil {
		primary = key
	}
	start, err := w.table.RequestKey(primary)
	if err != nil {
		return refusal.Invalid("The provided starting key is invalid: %s", err)
	}
	if w.index != nil {
		if start, _, err = w.index.EntryKey(expr.Item(key), start); err != nil || start == nil {
			return catalogue.ErrStartKey()
		}
	}
	w.Start = start
	return nil
}

// checkInside refuses a start key outside of the query: in another partition, or where the condition on the sort key does not hold.
func (w *walk) checkInside(partition []attr.Value, sorted bool) error {
	if w.Start == nil {
		return nil
	}
	mine, err := catalogue.AppendKeys(nil, partition)
	if err != nil {
		return err
	}
	n, err := w.key().PartitionLen(w.Start)
	if err != nil {
		return catalogue.ErrStartKey()
	}
	same := bytes.Equal(w.Start[:n], mine)
	switch {
	case !sorted && !same:
		return refusal.Invalid("The provided starting key is outside query boundaries based on provided conditions")
	case w.single:
		return errOneRow()
	case !sorted:
		return nil
	}
	here := append(mine, w.Start[n:]...)
	switch {
	case bytes.Compare(here, w.Low) < 0 || w.High != nil && bytes.Compare(here, w.High) >= 0, !same && w.key().Multi():
		return refusal.Invalid("The provided starting key does not match the range key predicate")
	case !same:
		return errOneRow()
	}
	return nil
}

// checkSegment refuses a start key that belongs to another segment of a scan.
func (w *walk) checkSegment() error {
	if w.Start == nil {
		return nil
	}
	if mine, err := w.mine(w.Start); err != nil || mine {
		return err
	}
	return refusal.Invalid("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "+
		"Segment. TotalSegments: %d Segment: %d", w.segments, w.segment)
}

func errOneRow() error {
	return refusal.Invalid("The query can return at most one row and cannot be restarted")
}
