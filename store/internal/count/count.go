// Package count counts the items of a table and of its indexes.
package count

import (
	"slices"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
	"github.com/touchline/touchline/store/internal/txn"
)

// sliceItems is how many items Slice processes.
const sliceItems = 10_000

// Counts is the content of a table. Items past their TTL count until they are swept.
type Counts struct {
	Items   int64
	Bytes   int64 // as attr.Size counts them
	Indexes []IndexCounts
}

// IndexCounts is the content of an index, or what it will be once filled. Indexes are in the order of TableSpec.Indexes.
type IndexCounts struct {
	Name  string
	Items int64
	Bytes int64 // of the attributes that the index has
}

// New returns zero counts for a table and its indexes.
func New(t *catalogue.Table) (c Counts) {
	for _, ix := range t.Indexes {
		c.Indexes = append(c.Indexes, IndexCounts{Name: ix.Spec.Name})
	}
	return c
}

// Slice adds the next items after a key to counts. It returns the key to continue after, or nil at the end of the table. It decodes no
// items, only the projected attributes for indexes that do not have all.
func Slice(tx *txn.Tx, t *catalogue.Table, after []byte, counts *Counts) (to []byte, err error) {
	if err := tx.Enter(); err != nil {
		return nil, err
	}
	defer tx.Leave()
	bucket, err := tx.Bucket(t.Bucket)
	if err != nil {
		return nil, err
	}
	shown := make([]*IndexCounts, len(t.Indexes)) // an index added or dropped between two slices is counted only in part
	for i, ix := range t.Indexes {
		at := slices.IndexFunc(counts.Indexes, func(c IndexCounts) bool { return c.Name == ix.Spec.Name })
		if at >= 0 {
			shown[i] = &counts.Indexes[at]
		}
	}
	to = txn.Slice(bucket, after, sliceItems, func(_, v []byte) bool {
		r := format.Row(v)
		if err = r.Known(); err != nil {
			return false
		}
		counts.Items++
		counts.Bytes += int64(r.Size())
		for i, ix := range t.Indexes {
			if err = entry(t, ix, r, shown[i]); err != nil {
				return false
			}
		}
		return true
	})
	return to, err
}

// entry adds an item to the counts of an index that contains it; into may be nil.
func entry(t *catalogue.Table, ix *catalogue.Index, r format.Row, into *IndexCounts) error {
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
	if ix.Spec.Projection != catalogue.ProjectAll {
		var err error
		if size, err = sizeShown(t, ix, r.Item()); err != nil {
			return err
		}
	}
	into.Items++
	into.Bytes += int64(size)
	return nil
}

// sizeShown returns the size of the attributes of an item that an index has.
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
