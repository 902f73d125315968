package store

import (
	"context"
	"path/filepath"

	"github.com/touchline/touchline/store/internal/count"
	"github.com/touchline/touchline/store/internal/disk"
)

// Stats returns the present figures.
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

// DiskState is what a store has of its disk, for callers with a budget. All sizes are in bytes.
type DiskState struct {
	File int64 `json:"fileBytes"` // the file, all of it allocated
	Used int64 `json:"usedBytes"` // of the file, what holds data: its high water mark less its free pages
	Grow int64 `json:"growBytes"` // what the file may still grow by, for Options.MaxSize and the disk; -1: not known
}

// Share is the used part of what the store may use at most, between 0 and 1; 0 if neither a limit nor the disk's size is
// known.
func (d DiskState) Share() float64 {
	if d.Grow < 0 || d.File+d.Grow <= 0 {
		return 0
	}
	return float64(d.Used) / float64(d.File+d.Grow)
}

// Disk returns how much room there is. It asks the operating system, which takes some microseconds.
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

// Count counts the items of a table. It walks all of them in slices, each in a snapshot of its own: if there are writes
// meanwhile, the sum may never have been true at one instant.
func (s *Store) Count(ctx context.Context, name string) (counts Counts, err error) {
	var after []byte
	for id := int64(-1); id < 0 || after != nil; {
		err = s.View(ctx, func(tx *Tx) error {
			t, err := tx.table(name)
			if err != nil {
				return err
			}
			if id != int64(t.ID) { // the first slice, or it was dropped and made again
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
