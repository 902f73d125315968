// Package past shows an earlier state of an index, which it reconstructs from the journal.
package past

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// Past is the difference between an index and its earlier state; nil means none.
type Past struct {
	index   *catalogue.Index
	changed map[string]bool // by primary key: the items written since then
	entries []entry         // the entries of those items at that time, sorted by key
}

// entry is an entry of the earlier index, with its item.
type entry struct {
	key []byte
	row format.Row
}

// Collect collects what was written to a table since an instant. An item's state at that instant is the old image of its first record since
// then.
func Collect(tx *txn.Tx, t *catalogue.Table, ix *catalogue.Index, at time.Time) (*Past, error) {
	journal, err := tx.Bucket(format.BucketJournal)
	if err != nil {
		return nil, err
	}
	first, since := tx.JournalState().First, at.UnixNano()
	images := map[string][]byte{}
	c := journal.Cursor()
	for k, v := c.Last(); k != nil && binary.BigEndian.Uint64(k) >= first; k, v = c.Prev() {
		r, err := format.DecodeRecord(v)
		if err != nil {
			return nil, err
		}
		if r.At <= since {
			break
		}
		if r.Table != t.ID {
			continue
		}
		if images[string(r.Key)], err = format.OldImage(journal, &r); err != nil {
			return nil, err
		}
	}
	p := &Past{index: ix, changed: make(map[string]bool, len(images))}
	for primary, image := range images {
		p.changed[primary] = true
		if err := p.add([]byte(primary), image); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(p.entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	return p, nil
}

// add adds an earlier item; nil means that it did not exist.
func (p *Past) add(primary, image []byte) error {
	if image == nil {
		return nil
	}
	it, err := format.DecodeItem(image)
	if err != nil {
		return err
	}
	key, _, err := p.index.EntryKey(attr.Encoded(image), primary)
	if err != nil || key == nil {
		return err
	}
	p.entries = append(p.entries, entry{key, format.NewRow(it, attr.Size(it), nil)})
	return nil
}

// Find returns the item of an earlier entry, or nil if there is none.
func (p *Past) Find(key []byte) format.Row {
	if p == nil {
		return nil
	}
	i, ok := p.search(key)
	if !ok {
		return nil
	}
	return p.entries[i].row
}

// search returns the position of the first entry at or after key.
func (p *Past) search(key []byte) (int, bool) {
	return slices.BinarySearchFunc(p.entries, key, func(e entry, key []byte) int { return bytes.Compare(e.key, key) })
}

// Range is a range of an index and the direction in which it is read.
type Range struct {
	Low, High  []byte // nil: unbounded
	Start      []byte // the key to continue after; nil: none
	Descending bool
}

// keys returns the keys of the earlier entries in a range, in its direction.
func (p *Past) keys(r Range) (out [][]byte) {
	from, to := 0, len(p.entries)
	if !r.Descending {
		from, _ = p.search(r.Low)
		if r.Start != nil {
			i, found := p.search(r.Start)
			if found {
				i++
			}
			from = max(from, i)
		}
	} else if end := r.High; end != nil || r.Start != nil {
		if r.Start != nil {
			end = r.Start
		}
		to, _ = p.search(end)
	}
	for _, e := range p.entries[from:to] {
		out = append(out, e.key)
	}
	if r.Descending {
		slices.Reverse(out)
	}
	return out
}

// Merge returns the entries of the earlier index in the direction of a range: the present entries, from k on, except those of items
// written since, and the earlier entries of those items. The latter have no value.
func (p *Past) Merge(r Range, next func() (k, v []byte), k, v []byte) (step func() (k, v []byte)) {
	keys := p.keys(r)
	return func() (outK, outV []byte) {
		for k != nil && p.isChanged(k, v) {
			k, v = next()
		}
		if len(keys) > 0 && (k == nil || bytes.Compare(keys[0], k) < 0 != r.Descending) {
			outK, keys = keys[0], keys[1:]
			return outK, nil
		}
		if outK, outV = k, v; k != nil {
			k, v = next()
		}
		return outK, outV
	}
}

// isChanged reports whether an entry belongs to an item written since then. Damaged entries are left to the reader.
func (p *Past) isChanged(k, v []byte) bool {
	primary, err := p.index.PrimaryOf(k, v)
	return err == nil && p.changed[string(primary)]
}
