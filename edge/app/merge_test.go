package app

import (
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// A merge that one transaction can hold is made; a larger one is left to a person.
func TestMergesFitOneTransaction(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, table.Slice: table.Slice, table.Slice + 1: 0} {
		merge := Merge(func(_, _ []table.Refused, _ func(attr.Item) (attr.Item, error)) ([]store.WriteItem, bool) {
			return make([]store.WriteItem, n), true
		})
		if writes, ok := merge(conflict.MergeCase{}); len(writes) != want || ok != (n <= table.Slice) {
			t.Errorf("of %d writes: %d, %t", n, len(writes), ok)
		}
	}
}
