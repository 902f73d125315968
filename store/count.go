package store

import (
	"context"
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
	"github.com/touchline/touchline/store/internal/txn"
)

// countSlice is how many items Count looks at within one View.
const countSlice = 10_000

// Counts is how much a table holds. Items past their TTL count until they are swept.
type Counts struct {
	Items   int64
	Bytes   int64 // as attr.Size counts them
	Indexes []IndexCounts
}

// IndexCounts is how much an index shows, or will when it is filled; in the order of TableSpec.Indexes.
type IndexCounts struct {
	Name  string
	Items int64
	Bytes int64 // of what the index shows of them
}

// Count counts the items of a table. It walks all of them, in slices, each of which sees the table as it is then: beside
// writers the sum is one that may never have been. No item is decoded; of an index whose projection is not all
// attributes those that it shows are looked at.
func (s *Store) Count(ctx context.Context, name string) (counts Counts, err error) {
	var after []byte
	id := int64(-1)
	for more := true; more; {
		err = s.View(ctx, func(tx *Tx) error {
			t, err := tx.table(name)
			if err != nil {
				return err
			}
			if id != int64(t.ID) { // the first slice, or it was dropped and made again
				counts, after, id = newCounts(t), nil, int64(t.ID)
			}
			more, after, err = tx.countSlice(t, after, &counts)
			return err
		})
		if err != nil {
			return Counts{}, err
		}
	}
	return counts, nil
}

func newCounts(t *catalogue.Table) (c Counts) {
	for _, ix := range t.Indexes {
		c.Indexes = append(c.Indexes, IndexCounts{Name: ix.Spec.Name})
	}
	return c
}

// countSlice counts items behind a key and returns where to go on.
func (tx *Tx) countSlice(t *catalogue.Table, after []byte, counts *Counts) (more bool, to []byte, err error) {
	if err := tx.core.Enter(); err != nil {
		return false, nil, err
	}
	defer tx.core.Leave()
	bucket, err := tx.core.Bucket(t.Bucket)
	if err != nil {
		return false, nil, err
	}
	shown := make([]*IndexCounts, len(t.Indexes)) // an index that came or went between two slices counts from there
	for i, ix := range t.Indexes {
		at := slices.IndexFunc(counts.Indexes, func(c IndexCounts) bool { return c.Name == ix.Spec.Name })
		if at >= 0 {
			shown[i] = &counts.Indexes[at]
		}
	}
	to = txn.Slice(bucket, after, countSlice, func(_, v []byte) bool {
		r := format.Row(v)
		if err = r.Known(); err != nil {
			return false
		}
		counts.Items++
		counts.Bytes += int64(r.Size())
		for i, ix := range t.Indexes {
			if err = countEntry(t, ix, r, shown[i]); err != nil {
				return false
			}
		}
		return true
	})
	return to != nil, to, err
}

// countEntry adds an item to what an index shows, if it does; into may be nil.
func countEntry(t *catalogue.Table, ix *catalogue.Index, r format.Row, into *IndexCounts) error {
	if into == nil {
		return nil
	}
	total := 0
	for i, a := range ix.Key.Attrs {
		v, ok, err := r.Item().Get(a.Name)
		if err != nil {
			return refusal.Damaged(err, "an item cannot be decoded")
		}
		if !ok || !ix.Key.Fits(i, v, &total) {
			return nil
		}
	}
	size := r.Size()
	if ix.Spec.Projection != ProjectAll {
		var err error
		if size, err = sizeShown(t, ix, r.Item()); err != nil {
			return err
		}
	}
	into.Items++
	into.Bytes += int64(size)
	return nil
}

// sizeShown is the size of what an index shows of an item.
func sizeShown(t *catalogue.Table, ix *catalogue.Index, e attr.Encoded) (size int, err error) {
	names := slices.Clone(ix.Spec.Include)
	for _, a := range slices.Concat(t.Key.Attrs, ix.Key.Attrs) {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		v, ok, err := e.Get(name)
		if err != nil {
			return 0, refusal.Damaged(err, "an item cannot be decoded")
		}
		if ok {
			size += len(name) + attr.SizeOf(v)
		}
	}
	return size, nil
}
