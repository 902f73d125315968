package store

import (
	"path/filepath"
	"time"
)

// DiskState is what a store has of its disk, for callers with a budget. All sizes are in bytes.
type DiskState struct {
	File  int64 // the file, all of it allocated
	Used  int64 // of the file, what holds data: its high water mark less its free pages
	Limit int64 // Options.MaxSize; 0: none
	Free  int64 // of the disk; -1: not known, or there is no disk (OpenMemory)
	Grow  int64 // what the file may still grow by, for Limit and Free; -1: not known

	Full        bool      // the last commit was refused for lack of room
	LastRefused time.Time // real time of the last such one; zero: none
}

// Share is how much of what the store may ever use it does use, between 0 and 1; 0 if neither the limit nor the disk is
// known.
func (d DiskState) Share() float64 {
	if d.Grow < 0 || d.File+d.Grow <= 0 {
		return 0
	}
	return float64(d.Used) / float64(d.File+d.Grow)
}

// Disk returns how much room there is. It asks the system, and costs some microseconds.
func (s *Store) Disk() DiskState {
	d := DiskState{File: s.room.size.Load(), Limit: int64(s.opts.MaxSize), Free: -1, Grow: -1}
	d.Used = s.usedBytes()
	if s.path != "" {
		if free, known := freeSpace(filepath.Dir(s.path)); known {
			d.Free, d.Grow = free, free
		}
	}
	if d.Limit > 0 {
		left := max(d.Limit-d.File, 0)
		if d.Grow < 0 || left < d.Grow {
			d.Grow = left
		}
	}
	d.Full = s.meter.lastWasFull.Load()
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	d.LastRefused = s.meter.fullAt
	return d
}

// usedBytes is how much of the file holds data: what bbolt counts as free it will use again, as soon as nobody reads it.
func (s *Store) usedBytes() int64 {
	var st Stats
	s.fillFromFile(&st)
	free := s.db.Stats()
	return max(st.UsedBytes-int64(free.FreePageN+free.PendingPageN)*s.room.page, 0)
}
