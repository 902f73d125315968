package edge

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Progress is how far a command has come.
type Progress = admin.Progress

// Backup writes a backup of the database in dir to a new file; without a target into dir/backups. A node that runs
// makes it itself.
func Backup(ctx context.Context, dir, target string, progress func(Progress)) (store.BackupInfo, error) {
	path, err := node.Database(dir)
	if err != nil {
		return store.BackupInfo{}, err
	}
	if target != "" {
		if target, err = filepath.Abs(target); err != nil { // the node has another working directory
			return store.BackupInfo{}, err
		}
	}
	s, err := store.Open(path, store.Options{LockTimeout: node.HeldAfter, CompactAbove: -1})
	if fault.Is(err, fault.Locked) {
		client, err := node.Ask(dir)
		if err != nil {
			return store.BackupInfo{}, err
		}
		return client.Backup(ctx, target, progress)
	}
	if err != nil {
		return store.BackupInfo{}, err
	}
	defer s.Close() //nolint:errcheck // the backup is made; what Close adds is the speed of the next start
	if target, err = node.BackupTarget(dir, target, clock.Real().Now()); err != nil {
		return store.BackupInfo{}, err
	}
	return s.Backup(ctx, target, bytesOf("copy", progress))
}

// Check looks at everything in the database in dir, or in a file. A node that runs does it itself, beside its writers.
func Check(ctx context.Context, dir, file string, progress func(Progress)) (admin.CheckResult, error) {
	path := file
	if path == "" {
		var err error
		if path, err = node.Database(dir); err != nil {
			return admin.CheckResult{}, err
		}
	}
	problems, err := store.CheckFile(ctx, path, func(where string) {
		if progress != nil {
			progress(Progress{What: where})
		}
	})
	if fault.Is(err, fault.Locked) && file == "" {
		client, err := node.Ask(dir)
		if err != nil {
			return admin.CheckResult{}, err
		}
		return client.Check(ctx, progress)
	}
	return admin.NewCheckResult(problems), err
}

// Restore makes the database in dir out of a backup. There must be none. A backup without its checksum is refused
// unless unchecked.
func Restore(ctx context.Context, dir, backup string, unchecked bool, progress func(Progress)) (store.RestoreInfo, error) {
	path := filepath.Join(dir, node.StoreFile)
	r, err := store.Restore(ctx, backup, path, store.RestoreOptions{Unchecked: unchecked, Progress: bytesOf("copy", progress)})
	if f, ok := errors.AsType[*fault.Error](err); ok {
		switch f.Code {
		case "file_exists":
			return r, fault.Wrap(err, f.Kind, f.Code,
				"%s already exists: stop the node if it runs, move the file away, and restore again", path)
		case "no_checksum":
			return r, fault.Wrap(err, f.Kind, f.Code, "%s (--unchecked restores it anyway)", f.Message)
		}
	}
	return r, err
}

// Compact writes the database in dir anew, without its free pages. No node may run.
func Compact(ctx context.Context, dir string, progress func(Progress)) (store.CompactInfo, error) {
	path, err := node.Database(dir)
	if err != nil {
		return store.CompactInfo{}, err
	}
	info, err := store.Compact(ctx, path, bytesOf("compact", progress))
	if fault.Is(err, fault.Locked) {
		return store.CompactInfo{}, fault.Wrap(err, fault.Locked, "store_locked",
			"%s is in use by another touchline process: stop the node, then compact", path)
	}
	return info, err
}

func bytesOf(what string, progress func(Progress)) func(done, total int64) {
	if progress == nil {
		return nil
	}
	return func(done, total int64) { progress(Progress{What: what, Done: done, Total: total}) }
}
