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

// Backup writes a consistent copy of the store to a new file while the store is in use. The copy has everything that was committed when
// Backup began. The folder must exist, path must not. The checksum is written to path + ".sha256" in the format of sha256sum, replacing
// one left without its file. The copy is a verified store file without a free list: Restore accepts it, and an Open of the copy itself
// walks it once. It is on disk when Backup returns. A backup that failed or was cancelled leaves nothing.
//
// Backup holds a snapshot for as long as the copy takes, at most until the first write after Options.BackupDeadline, and meanwhile the
// store cannot reuse free pages: path should be on a local disk, not on a network. progress may be nil; it gets the number of bytes copied
// and the total. A disk without room for the copy and 64 MiB more is fault.Full, an existing path is fault.Conflict, and a store with
// damaged pages, items or journal records is fault.Damaged: a backup of these would replace an older, good one.
func (s *Store) Backup(ctx context.Context, path string, progress func(done, total int64)) (BackupInfo, error) {
	return s.copies.Backup(ctx, path, progress)
}

// Restore creates a store at path from a backup. path must not exist (fault.Conflict); the backup is not changed. Before anything appears
// at path, Restore compares the checksum beside the backup and verifies every page and the format of the store. A mismatch is
// fault.Damaged. An interrupted restore leaves nothing.
//
// A restored store has left its history: what the node did after the backup is gone, but the rest of the world may have seen it. So it
// gets a new incarnation, and no journal sequence is used twice. The highest incarnation ever restored at path is kept in path +
// ".incarnations", so a backup that is restored twice does not repeat one either. Cursors, leases and request tokens stay as they are in
// the backup. They describe what had been done with its records; everything after them is processed again under the new incarnation.
func Restore(ctx context.Context, from, path string, o RestoreOptions) (RestoreInfo, error) {
	return backup.Restore(ctx, from, path, o)
}

// Compact rewrites the file without the free pages that bbolt keeps and never returns to the disk. If anybody has the store open, the
// error is fault.Locked. The new file replaces the old one once it is on disk and has the same content, byte for byte. A crash before
// that leaves the old file, and a draft that the next Open removes. The disk needs room for both. progress may be nil; it gets the bytes
// written and about how many there will be.
func Compact(ctx context.Context, path string, progress func(done, total int64)) (CompactInfo, error) {
	return file.Compact(ctx, path, progress)
}

// Compaction reports what the compaction in Open did; done is false if there was nothing to compact. The error says why the file was left
// as it is, usually for lack of room for the copy, which does no harm.
func (s *Store) Compaction() (info CompactInfo, done bool, err error) {
	c := s.compaction
	return c.Info, c.Info.Before > 0 || c.Err != nil, c.Err
}

// CheckFile verifies everything in a file that nobody has open, a store or a backup: that its pages are consistent, that every item can
// be read and lies under its key, that indexes and items agree both ways, that the journal has no holes, and that it holds both images of
// every record and the state of every item it names. It returns the first hundred problems.
//
// CheckFile only reads, and damaged files cannot crash it: it verifies every page before bbolt maps the file, and reports later failures
// as problems too. A file that is no store at all is a problem as well. An error means that the file cannot be read or is held by another
// process (fault.Locked). progress may be nil; it gets the name of the part being checked.
func CheckFile(ctx context.Context, path string, progress func(where string)) ([]Problem, error) {
	f, err := file.LockExisting(path, os.O_RDONLY, Options{}.WithDefaults())
	if errors.Is(err, pages.ErrNoFile) {
		return []Problem{{Where: "file", What: pages.ErrNoFile.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	return check.LockedFile(ctx, f, progress)
}

// CheckCopy is CheckFile for a store in use: it checks a copy, which needs disk space for a moment.
func (s *Store) CheckCopy(ctx context.Context, progress func(where string)) ([]Problem, error) {
	f, remove, err := s.checkTarget()
	if err != nil {
		return nil, err
	}
	defer remove()
	check.ReportProgress(progress, "a copy of the file")
	_, err = s.copies.CopyTo(ctx, f, nil)
	if fault.Is(err, fault.Damaged) {
		_ = f.Close()
		return []Problem{{Where: "file", What: err.Error()}}, nil
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return check.LockedFile(ctx, f, progress)
}

// checkTarget creates the file for the copy: beside the store, or in memory if the store is.
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

// Housekeep does one slice, of about two milliseconds, of background work: filling new indexes, emptying dropped indexes and tables,
// deleting expired items, and, one slice a minute, verifying all items (Scrub). more reports that work may remain; with nothing due, a
// call is cheap. After an error the work stays due for a later call, which tries another chore first. A full disk is fault.Full and no
// reason to stop.
//
// Concurrent calls wait for each other. A node has one loop that calls Housekeep until more is false, and again when WatchTables signals,
// and every minute or so by Options.Now.
func (s *Store) Housekeep(ctx context.Context) (more bool, err error) { return s.keeper.Housekeep(ctx) }

// WatchTables sets sig after each commit that changed a table, its indexes or the remains of dropped ones, until stop is called.
func (s *Store) WatchTables(sig *clock.Signal) (stop func()) { return s.engine.TableWatches.Add(sig) }

// SweepEvery returns the shortest time between the starts of two passes over all tables with a TTL.
func (s *Store) SweepEvery() time.Duration { return s.engine.Opts.SweepEvery }

// Scrub returns the results of the verification of items on disk.
func (s *Store) Scrub() ScrubStats { return s.keeper.ScrubStats() }

// IsNoSpace reports whether an operation failed because the disk, or the user's quota on it, is full.
func IsNoSpace(err error) bool { return disk.IsNoSpace(err) }
