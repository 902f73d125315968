package store

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
)

// IndexesAsOf has the queries and scans of global indexes that follow see them as they were at an instant, as DynamoDB's
// are behind their tables: items written since are as they were, or not there, and deleted ones still are. It goes as far
// back as the journal does, and its price is one look at each record since. The table itself and its local indexes are
// seen as they are.
func (tx *Tx) IndexesAsOf(at time.Time) { tx.indexesAsOf = at }

// past is what an index differs in from what it was.
type past struct {
	index   *catalogue.Index
	changed map[string]bool // by primary key: the items that were written since
	entries []pastEntry     // those of them that were in the index then, sorted by key
}

// pastEntry is an entry of an index that was, with its item.
type pastEntry struct {
	key []byte
	row format.Row
}

// pastOf looks for what was written to a table since an instant. Of the records of an item the earliest since then has as
// its old image what the item was.
func (tx *Tx) pastOf(t *catalogue.Table, ix *catalogue.Index, at time.Time) (*past, error) {
	journal, err := tx.core.Bucket(format.BucketJournal)
	if err != nil {
		return nil, err
	}
	first, since := tx.core.JournalState().First, at.UnixNano()
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
	p := &past{index: ix, changed: make(map[string]bool, len(images))}
	for primary, image := range images {
		p.changed[primary] = true
		if err := p.add([]byte(primary), image); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(p.entries, func(a, b pastEntry) int { return bytes.Compare(a.key, b.key) })
	return p, nil
}

// add takes an item as it was, nil: it was not there.
func (p *past) add(primary, image []byte) error {
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
	p.entries = append(p.entries, pastEntry{key, format.NewRow(it, attr.Size(it), nil)})
	return nil
}

// find returns the item of an entry that was, nil if there is none.
func (p *past) find(key []byte) format.Row {
	if p == nil {
		return nil
	}
	i, ok := p.search(key)
	if !ok {
		return nil
	}
	return p.entries[i].row
}

// search returns the place of the first entry at or behind key.
func (p *past) search(key []byte) (int, bool) {
	return slices.BinarySearchFunc(p.entries, key, func(e pastEntry, key []byte) int { return bytes.Compare(e.key, key) })
}

// keys returns the keys of the entries in the walk's direction, from where it begins.
func (p *past) keys(w *walk) (out [][]byte) {
	from, to := 0, len(p.entries)
	if !w.descending {
		from, _ = p.search(w.low)
		if w.start != nil {
			i, found := p.search(w.start)
			if found {
				i++
			}
			from = max(from, i)
		}
	} else if end := w.high; end != nil || w.start != nil {
		if w.start != nil {
			end = w.start
		}
		to, _ = p.search(end)
	}
	for _, e := range p.entries[from:to] {
		out = append(out, e.key)
	}
	if w.descending {
		slices.Reverse(out)
	}
	return out
}

// merge gives, in the walk's direction, the entries of the index as it is without the items that were written since, and
// those of these as they were. Of the latter there is no value.
func (p *past) merge(w *walk, next func() (k, v []byte), k, v []byte) (step func() (k, v []byte)) {
	keys := p.keys(w)
	return func() (outK, outV []byte) {
		for k != nil && p.isChanged(k, v) {
			k, v = next()
		}
		if len(keys) > 0 && (k == nil || bytes.Compare(keys[0], k) < 0 != w.descending) {
			outK, keys = keys[0], keys[1:]
			return outK, nil
		}
		if outK, outV = k, v; k != nil {
			k, v = next()
		}
		return outK, outV
	}
}

// isChanged reports whether an entry is of an item that was written since. A damaged one is left to its reader.
func (p *past) isChanged(k, v []byte) bool {
	primary, err := p.index.PrimaryOf(k, v)
	return err == nil && p.changed[string(primary)]
}
