package store

import (
	"context"
	"path/filepath"

	"github.com/touchline/touchline/store/internal/count"
	"github.com/touchline/touchline/store/internal/disk"
)

// Stats returns the current figures.
func (s *Store) Stats() Stats {
	j := s.engine.Journal.Load()
	st := Stats{Journal: JournalStats{First: j.First, Last: j.Last, Bytes: j.Bytes}}
	s.engine.Meter.Fill(&st)
	st.Waiting, st.Held = s.engine.Commits.Waiting(), s.engine.Commits.Held()
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

// Count counts the items of a table. It walks them in slices, each in a snapshot of its own: with concurrent writes the sum may never
// have been true at any instant.
func (s *Store) Count(ctx context.Context, name string) (counts Counts, err error) {
	var after []byte
	for id := int64(-1); id < 0 || after != nil; {
		err = s.View(ctx, func(tx *Tx) error {
			t, err := tx.table(name)
			if err != nil {
				return err
			}
			if id != int64(t.ID) { // the first slice, or the table was dropped and created again
				counts, after, id = count.New(t), nil, int64(t.ID)
			}
			after, err = count.Slice(tx.core, t, after, &counts)
			return err
		})
		if err != nil {
			return Counts{}, err
		}
	}
	return counts, nil
}
