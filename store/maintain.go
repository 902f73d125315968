package store

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/backup"
	"github.com/touchline/touchline/store/internal/check"
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/file"
	"github.com/touchline/touchline/store/internal/pages"
)

// Backup writes a consistent copy of the store to a new file, while the store is in use: all that was committed when it
// began. The folder must be there, path must not; path + ".sha256" gets the checksum as sha256sum writes it, also where
// there is one without its file. The copy is a store file in good order, closed and verified: Restore takes it, and
// Open does without a scan. It is on disk when Backup returns; one that failed or was cancelled leaves nothing.
//
// The snapshot is held as long as the copy takes, at most Options.BackupDeadline, and meanwhile the store finds no free
// pages: path is on a local disk, not on a network. progress may be nil; it is told the bytes copied and how many there
// are. A disk without room for the copy and 64 MiB more is fault.Full, a taken name fault.Conflict, a store with
// damaged pages, items or journal records fault.Damaged: a backup of these would take the place of one from before.
func (s *Store) Backup(ctx context.Context, path string, progress func(done, total int64)) (BackupInfo, error) {
	return s.copies.Backup(ctx, path, progress)
}

// Restore makes a store at path out of a backup. path must not exist (fault.Conflict), nor is the backup changed. The
// checksum beside the backup is compared, every page looked at, and the format of the store, before anything appears at
// path: what is wrong is fault.Damaged; an interrupted restore leaves nothing.
//
// The store has left its history: what the node did after the backup is gone, and the world may have seen it. So it
// gets a new incarnation, and no sequence of the journal is given twice. The highest incarnation that was ever restored
// at path is kept in path + ".incarnations", so that a backup that is restored twice does not repeat one either.
// Cursors, leases and request tokens stay as they are in the backup: they tell what had been done with these records,
// and whatever is behind them is dealt with again under a new incarnation.
func Restore(ctx context.Context, from, path string, o RestoreOptions) (RestoreInfo, error) {
	return backup.Restore(ctx, from, path, o)
}

// Compact writes the file anew without the free pages that bbolt keeps for later and never gives back. Nobody may have
// the store open: that is fault.Locked. The new file takes the place of the old one when it is on disk and says the
// same, byte for byte; a crash before that leaves the old one, and a draft that the next Open removes. The disk needs
// room for both. progress may be nil; it is told the bytes written and about how many there will be.
func Compact(ctx context.Context, path string, progress func(done, total int64)) (CompactInfo, error) {
	return file.Compact(ctx, path, progress)
}

// Compaction reports what Open did: false if there was nothing to compact. The error says why the file was left as it is,
// usually for lack of room for the copy; that does no harm.
func (s *Store) Compaction() (info CompactInfo, done bool, err error) {
	c := s.compaction
	return c.Info, c.Info.Before > 0 || c.Err != nil, c.Err
}

// CheckFile looks at everything in a file that nobody has open, a store or a backup: that its pages hang together, that
// every item can be read and lies under its key, that the indexes say what the items say, both ways, that the journal is
// dense, holds both images of every record and the state of every item it tells of. It gives the first hundred problems.
//
// It only reads, and it stands what a damaged file does to it: every page is looked at before bbolt maps the file, and what
// goes wrong behind that is a problem like the others. What makes the file no store at all is a problem too; an error is a
// file that cannot be read, or is held by another process (fault.Locked). progress may be nil; it is told what is being
// looked at.
func CheckFile(ctx context.Context, path string, progress func(where string)) ([]Problem, error) {
	f, err := file.LockExisting(path, os.O_RDONLY, Options{}.WithDefaults())
	if errors.Is(err, pages.ErrNoFile) {
		return []Problem{{Where: "file", What: pages.ErrNoFile.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	return check.Locked(ctx, f, progress)
}

// CheckCopy is CheckFile beside the writers of a store in use: it takes a copy, which needs room on the disk for a moment,
// and checks that.
func (s *Store) CheckCopy(ctx context.Context, progress func(where string)) ([]Problem, error) {
	f, remove, err := s.checkTarget()
	if err != nil {
		return nil, err
	}
	defer remove()
	check.Tell(progress, "a copy of the file")
	_, err = s.copies.CopyTo(ctx, f, nil, nil)
	if fault.Is(err, fault.Damaged) {
		_ = f.Close()
		return []Problem{{Where: "file", What: err.Error()}}, nil
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return check.Locked(ctx, f, progress)
}

// checkTarget is where the copy lies: beside the store, or in memory like it.
func (s *Store) checkTarget() (f *os.File, remove func(), err error) {
	if s.engine.Path == "" {
		return disk.MemoryFile()
	}
	d, err := disk.NewDraft(s.engine.Path + file.CheckSuffix)
	if err != nil {
		return nil, nil, err
	}
	return d.F, func() { _ = os.Remove(d.Path) }, nil
}

// Housekeep does one slice, of about two milliseconds, of what nobody waits for: filling new indexes, emptying what
// belonged to dropped ones and to dropped tables, deleting items whose time is over, forgetting old tokens of
// transactions, and, a slice a minute, verifying all items (Scrub). more tells that there may be something left to do now; when nothing is due it is cheap. An error leaves
// what is due for a later call, which tries another chore first; a full disk is fault.Full, and no reason to stop.
//
// Calls from several goroutines wait for each other. A node has one loop that calls Housekeep until there is no more,
// and again when WatchTables says so, and every minute or so by Options.Now.
func (s *Store) Housekeep(ctx context.Context) (more bool, err error) { return s.keeper.Housekeep(ctx) }

// WatchTables sets sig after each commit that changed a table, its indexes or the remains of dropped ones, until stop is
// called.
func (s *Store) WatchTables(sig *clock.Signal) (stop func()) { return s.engine.TableWatches.Add(sig) }

// SweepEvery is the shortest time between the beginnings of two passes over all tables with a TTL.
func (s *Store) SweepEvery() time.Duration { return s.engine.Opts.SweepEvery }

// Scrub returns the results of the verification of items on disk.
func (s *Store) Scrub() ScrubStats { return s.keeper.ScrubStats() }

// IsNoSpace reports whether an operation failed because the disk, or the user's quota on it, is full.
func IsNoSpace(err error) bool { return disk.IsNoSpace(err) }
