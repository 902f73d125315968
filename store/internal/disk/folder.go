package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLockHeld is the error of LockFile if another process has the lock.
var ErrLockHeld = errors.New("the lock is held")

// Publish gives the draft its name unless the name is taken. A link never replaces a file. On file systems without links (FAT) a rename
// can, in the unlikely case that two processes create the same store at once and neither sees the other's file.
func Publish(draft, path string) error {
	err := os.Link(draft, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	if _, there := os.Lstat(path); there == nil { // the faster process has removed the draft too
		return nil
	}
	return os.Rename(draft, path)
}

// MakeFolder creates a folder and its parents so that they survive a crash: a file on disk is lost if its folder is not.
func MakeFolder(dir string, noSync bool) error {
	var made []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil || noSync {
		return err
	}
	for _, at := range made {
		if err := SyncDir(filepath.Dir(at)); err != nil {
			return err
		}
	}
	return nil
}

// SyncDir syncs the names in a folder to disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
