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

// Progress is a command's progress.
type Progress = admin.Progress

// Backup writes a backup of the database in dir to a new file, by default in dir/backups. A running node writes it itself.
func Backup(ctx context.Context, dir, target string, progress func(Progress)) (store.BackupInfo, error) {
	path, err := node.Database(dir)
	if err != nil {
		return store.BackupInfo{}, err
	}
	if target != "" {
		if target, err = filepath.Abs(target); err != nil { // the node may have another working directory
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
	defer s.Close() //nolint:errcheck // the backup is complete; Close only speeds up the next start
	if target, err = node.BackupTarget(dir, target, clock.Real().Wall()); err != nil {
		return store.BackupInfo{}, err
	}
	return s.Backup(ctx, target, bytesOf("copy", progress))
}

// Check verifies the database in dir, or a file. A running node does it itself while it keeps serving.
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

// Restore creates the database in dir from a backup. It must not exist yet. A backup without its checksum file is refused unless
// unchecked is set.
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

// Compact rewrites the database in dir without its free pages. The node must be stopped.
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
