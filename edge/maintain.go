package edge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// What the commands that look after the files tell.
type (
	// Progress is how far a command has come.
	Progress = admin.Progress
	// BackupResult tells of a backup.
	BackupResult = admin.BackupResult
	// CheckResult tells of a check.
	CheckResult = admin.CheckResult
)

// heldAfter is how long a command waits for a file before it takes it to be a running node's.
const heldAfter = 100 * time.Millisecond

// Backup writes a backup of the database in dir to a new file; without a target into dir/backups. A node that runs
// makes it itself.
func Backup(ctx context.Context, dir, target string, progress func(Progress)) (BackupResult, error) {
	path, err := database(dir)
	if err != nil {
		return BackupResult{}, err
	}
	if target != "" {
		if target, err = filepath.Abs(target); err != nil { // the node has another working directory
			return BackupResult{}, err
		}
	}
	s, err := store.Open(path, store.Options{LockTimeout: heldAfter, CompactAbove: -1})
	if fault.Is(err, fault.Locked) {
		client, err := askNode(dir)
		if err != nil {
			return BackupResult{}, err
		}
		return client.Backup(ctx, target, progress)
	}
	if err != nil {
		return BackupResult{}, err
	}
	defer s.Close() //nolint:errcheck // the backup is made; what Close adds is the speed of the next start
	if target, err = backupTarget(dir, target, clock.Real().Now()); err != nil {
		return BackupResult{}, err
	}
	info, err := s.Backup(ctx, target, bytesOf("copy", progress))
	return admin.NewBackupResult(info), err
}

// Check looks at everything in the database in dir, or in a file. A node that runs does it itself, beside its writers.
func Check(ctx context.Context, dir, file string, progress func(Progress)) (CheckResult, error) {
	path := file
	if path == "" {
		var err error
		if path, err = database(dir); err != nil {
			return CheckResult{}, err
		}
	}
	problems, err := store.CheckFile(ctx, path, func(where string) {
		if progress != nil {
			progress(Progress{What: where})
		}
	})
	if fault.Is(err, fault.Locked) && file == "" {
		client, err := askNode(dir)
		if err != nil {
			return CheckResult{}, err
		}
		return client.Check(ctx, progress)
	}
	return admin.NewCheckResult(problems), err
}

// RestoreResult describes a restored backup.
type RestoreResult struct {
	Path        string `json:"path"`
	Bytes       int64  `json:"bytes"`
	Node        string `json:"node"`
	Incarnation uint64 `json:"incarnation"`
	Seq         uint64 `json:"seq"` // the last journal record of the backup
	Tables      int    `json:"tables"`
}

// Restore makes the database in dir out of a backup. There must be none. A backup without its checksum is refused
// unless unchecked.
func Restore(ctx context.Context, dir, backup string, unchecked bool, progress func(Progress)) (RestoreResult, error) {
	path := filepath.Join(dir, storeFile)
	r, err := store.Restore(ctx, backup, path, store.RestoreOptions{Unchecked: unchecked, Progress: bytesOf("copy", progress)})
	if f, ok := errors.AsType[*fault.Error](err); ok {
		switch f.Code {
		case "file_exists":
			return RestoreResult{}, fault.Wrap(err, f.Kind, f.Code,
				"%s already exists: stop the node if it runs, move the file away, and restore again", path)
		case "no_checksum":
			return RestoreResult{}, fault.Wrap(err, f.Kind, f.Code, "%s (--unchecked restores it anyway)", f.Message)
		}
	}
	return RestoreResult{
		Path: r.Path, Bytes: r.Bytes, Node: r.Node, Incarnation: r.Incarnation, Seq: r.Seq, Tables: r.Tables,
	}, err
}

// CompactResult describes what a compaction did.
type CompactResult struct {
	Path        string  `json:"path"`
	Before      int64   `json:"before"` // bytes
	After       int64   `json:"after"`
	TookSeconds float64 `json:"tookSeconds"`
}

// Compact writes the database in dir anew, without its free pages. No node may run.
func Compact(ctx context.Context, dir string, progress func(Progress)) (CompactResult, error) {
	path, err := database(dir)
	if err != nil {
		return CompactResult{}, err
	}
	info, err := store.Compact(ctx, path, bytesOf("compact", progress))
	if fault.Is(err, fault.Locked) {
		return CompactResult{}, fault.Wrap(err, fault.Locked, "store_locked",
			"%s is in use by another touchline process: stop the node, then compact", path)
	}
	return CompactResult{Path: path, Before: info.Before, After: info.After, TookSeconds: info.Took.Seconds()}, err
}

// database is the file in dir, which must be there.
func database(dir string) (string, error) {
	path := filepath.Join(dir, storeFile)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", fault.Wrap(err, fault.NotFound, "no_database", "there is no database in %s (--data-dir names another directory)", dir)
		}
		return "", fault.Wrap(err, fault.Unavailable, "no_database", "cannot read %s: %s", path, reasonOf(err))
	}
	return path, nil
}

// askNode makes a client of the node that holds the database in dir.
func askNode(dir string) (*admin.Client, error) {
	socket, err := adminSocket(dir)
	if err != nil {
		return nil, err
	}
	return admin.NewClient(socket), nil
}

// backupTarget is the file of a backup: the one that was asked for, or one with the time in its name, in a folder of
// its own, from which it removes the drafts of processes that were killed: who calls holds the store, and nobody else
// writes there.
func backupTarget(dir, target string, now time.Time) (string, error) {
	if target != "" {
		return target, nil
	}
	folder := filepath.Join(dir, "backups")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "cannot_write", "cannot create %s: %s", folder, reasonOf(err))
	}
	drafts, _ := filepath.Glob(filepath.Join(folder, "touchline-*.db.tmp")) // fails only on a bad pattern
	for _, name := range drafts {
		_ = os.Remove(name) // the next backup tries again
	}
	return filepath.Abs(filepath.Join(folder, "touchline-"+now.UTC().Format("20060102T150405Z")+".db"))
}

func bytesOf(what string, progress func(Progress)) func(done, total int64) {
	if progress == nil {
		return nil
	}
	return func(done, total int64) { progress(Progress{What: what, Done: done, Total: total}) }
}
