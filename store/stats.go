package store

import (
	"context"
	"path/filepath"

	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// Stats returns the current figures.
func (s *Store) Stats() Stats {
	j := s.engine.Journal.Load()
	st := Stats{Journal: JournalStats{First: j.First, Last: j.Last, Bytes: j.Bytes}}
	s.engine.Meter.Fill(&st)
	st.Waiting, st.Held = s.engine.Commits.Waiting(), s.engine.Commits.TurnDuration()
	s.engine.Readers.Fill(&st)
	s.keeper.FillChores(&st)
	s.copies.Fill(&st)
	st.FileBytes = s.engine.Room.Size.Load()
	return st
}

// DiskState describes the disk space of a store, for callers with a budget. All sizes are in bytes.
type DiskState struct {
	File int64 `json:"fileBytes"` // size of the file, all of it allocated
	Used int64 `json:"usedBytes"` // the part of the file that holds data: its high water mark less its free pages
	Grow int64 `json:"growBytes"` // how much the file may still grow, by Options.MaxSize and the disk; -1: not known
}

// Share returns the used fraction of the space the store may use, between 0 and 1. It is 0 if neither a limit nor the size of the disk is
// known.
func (d DiskState) Share() float64 {
	if d.Grow < 0 || d.File+d.Grow <= 0 {
		return 0
	}
	return float64(d.Used) / float64(d.File+d.Grow)
}

// Disk returns how much space there is. It asks the operating system, which takes some microseconds.
func (s *Store) Disk() DiskState {
	d := DiskState{File: s.engine.Room.Size.Load(), Used: s.engine.UsedBytes(), Grow: -1}
	if s.engine.Path != "" {
		if free, known := disk.FreeSpace(filepath.Dir(s.engine.Path)); known {
			d.Grow = free
		}
	}
	if limit := int64(s.engine.Opts.MaxSize); limit > 0 {
		left := max(limit-d.File, 0)
		if d.Grow < 0 || left < d.Grow {
			d.Grow = left
		}
	}
	return d
}

// countSlice is how many keys Count reads in one snapshot.
const countSlice = 10_000

// Counts is the content of a table. Items past their TTL count until they are swept.
type Counts struct {
	Items   int64
	Bytes   int64            // as attr.Size counts them
	Indexes map[string]int64 // entries, by the index's name
}

// Count counts the items of a table and the entries of its indexes. It walks them in slices, each in a snapshot of its own: with
// concurrent writes the counts may never have been true at any instant.
func (s *Store) Count(ctx context.Context, name string) (Counts, error) {
	d, err := s.Describe(name)
	if err != nil {
		return Counts{}, err
	}
	c := Counts{Indexes: map[string]int64{}}
	err = s.walkBucket(ctx, name, "", func(v []byte) error {
		r := format.Row(v)
		c.Items++
		c.Bytes += int64(r.Size())
		return r.CheckVersion()
	})
	if err != nil {
		return Counts{}, err
	}
	for _, ix := range d.Spec.Indexes {
		err := s.walkBucket(ctx, name, ix.Name, func([]byte) error {
			c.Indexes[ix.Name]++
			return nil
		})
		if err != nil {
			return Counts{}, err
		}
	}
	return c, nil
}

// walkBucket calls each with the values in the bucket of a table or, with index, of one of its indexes, until each fails.
func (s *Store) walkBucket(ctx context.Context, table, index string, each func(v []byte) error) error {
	var after []byte
	for first := true; first || after != nil; first = false {
		err := s.View(ctx, func(tx *Tx) (err error) {
			after, err = tx.walkSlice(table, index, after, each)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// walkSlice is walkBucket for the values after a key. It returns the key to continue after, or nil at the end of the bucket.
func (tx *Tx) walkSlice(table, index string, after []byte, each func(v []byte) error) (to []byte, err error) {
	if err := tx.core.BeginCall(); err != nil {
		return nil, err
	}
	defer tx.core.EndCall()
	t, err := tx.table(table)
	if err != nil {
		return nil, err
	}
	name := t.Bucket
	if index != "" {
		ix := t.Find(index)
		if ix == nil { // dropped meanwhile
			return nil, nil
		}
		name = ix.Bucket
	}
	bucket, err := tx.core.Bucket(name)
	if err != nil {
		return nil, err
	}
	to = txn.Slice(bucket, after, countSlice, func(_, v []byte) bool {
		err = each(v)
		return err == nil
	})
	return to, err
}
