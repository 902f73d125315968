package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// HeldAfter is how long a command waits for the lock of a database before it concludes that a running node holds it.
const HeldAfter = 100 * time.Millisecond

// Database returns the path of the database in dir, or an error if it does not exist.
func Database(dir string) (string, error) {
	path := filepath.Join(dir, StoreFile)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", fault.Wrap(err, fault.NotFound, "no_database", "there is no database in %s (--data-dir names another directory)", dir)
		}
		return "", fault.Wrap(err, fault.Unavailable, "no_database", "cannot read %s: %s", path, ReasonOf(err))
	}
	return path, nil
}

// Ask returns a client of the node that holds the database in dir.
func Ask(dir string) (*admin.Client, error) {
	socket, err := adminSocket(dir)
	if err != nil {
		return nil, err
	}
	return admin.NewClient(socket), nil
}

// OnDatabase runs do on the database in dir, or ask on the running node that holds it.
func OnDatabase(dir string, do func(s *store.Store) error, ask func(c *admin.Client) error) error {
	path, err := Database(dir)
	if err != nil {
		return err
	}
	s, err := store.Open(path, store.Options{LockTimeout: HeldAfter, CompactAbove: -1})
	if fault.Is(err, fault.Locked) {
		client, err := Ask(dir)
		if err != nil {
			return err
		}
		return ask(client)
	}
	if err != nil {
		return err
	}
	err = do(s)
	if closing := s.Close(); err == nil {
		err = closing
	}
	return err
}

// BackupTarget returns the file of a backup: target, or by default a file in dir/backups with the time in its name. In that folder it
// removes drafts left by killed processes: the caller holds the store, so nobody else writes there.
func BackupTarget(dir, target string, now time.Time) (string, error) {
	if target != "" {
		return target, nil
	}
	folder := filepath.Join(dir, "backups")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "cannot_write", "cannot create %s: %s", folder, ReasonOf(err))
	}
	drafts, _ := filepath.Glob(filepath.Join(folder, "touchline-*.db.tmp")) // fails only on a bad pattern
	for _, name := range drafts {
		_ = os.Remove(name) // the next backup tries again
	}
	return filepath.Abs(filepath.Join(folder, "touchline-"+now.UTC().Format("20060102T150405Z")+".db"))
}
