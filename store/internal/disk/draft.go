package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
)

// Draft is a file under another name until it is complete and on disk, so a crash leaves the whole file under its own name, or no file. A
// draft is locked: two writers of the same file cannot write to one draft, and a draft left by a crash is recognized by its free lock.
// Such a draft is removed rather than overwritten, because a crash in the middle of Publish leaves a file with both names.
type Draft struct {
	F    *os.File
	Path string
}

// NewDraft creates an empty draft. If it is being written, the error is fault.Conflict.
func NewDraft(path string) (*Draft, error) {
	d := &Draft{Path: path}
	for range 3 { // another writer may finish the draft between two steps: then try again
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, CannotWrite(path, err)
		}
		d.F = f
		if err := d.lock(); err != nil {
			_ = f.Close()
			return nil, err
		}
		if !SameFile(f, path) {
			_ = f.Close()
			continue
		}
		if left, err := f.Stat(); err != nil || left.Size() > 0 {
			err = errors.Join(err, os.Remove(path), f.Close())
			if err != nil {
				return nil, CannotWrite(path, err)
			}
			continue
		}
		if err := errors.Join(f.Chmod(0o600), f.Truncate(0)); err != nil {
			d.Discard()
			return nil, CannotWrite(path, err)
		}
		return d, nil
	}
	return nil, CannotWrite(path, errors.New("it keeps disappearing"))
}

func (d *Draft) lock() error {
	err := LockFile(d.F, 0)
	if errors.Is(err, ErrLockHeld) {
		return fault.New(fault.Conflict, "in_progress", "%s is being written by another touchline process", d.Path)
	}
	return err
}

// Reopen opens the draft again after bbolt has closed it.
func (d *Draft) Reopen(size int64) error {
	f, err := os.OpenFile(d.Path, os.O_RDWR, 0)
	if err != nil {
		return CannotWrite(d.Path, err)
	}
	d.F = f
	if err := d.lock(); err != nil {
		return err
	}
	if info, err := f.Stat(); err != nil || info.Size() != size {
		return CannotWrite(d.Path, errors.New("another process has changed it"))
	}
	return nil
}

// End closes the draft's file if it was published, and discards the draft otherwise.
func (d *Draft) End(made bool) {
	if !made {
		d.Discard()
		return
	}
	_ = d.F.Close()
}

// Discard removes the draft, unless the file under its name is another by now.
func (d *Draft) Discard() {
	_, err := d.F.Stat()
	if errors.Is(err, fs.ErrClosed) || SameFile(d.F, d.Path) { // bbolt closes the file when it fails
		_ = os.Remove(d.Path)
	}
	_ = d.F.Close()
}

// Publish syncs the draft and gives it its name. The name must be free unless replace is set. The file stays open and locked if the
// system allows that. If Publish fails, a name that was free is free again.
func (d *Draft) Publish(path string, replace bool) error {
	like := filepath.Dir(path)
	if _, err := os.Lstat(path); err == nil {
		like = path
	}
	KeepOwner(d.F, like)
	if err := d.F.Sync(); err != nil {
		return CannotWrite(path, err)
	}
	failpoint.Hit(failpoint.DraftSynced)
	DropCache(d.F)
	if runtime.GOOS == "windows" { // an open file cannot be renamed there
		_ = d.F.Close()
	}
	err := rename(d.Path, path, replace)
	if errors.Is(err, fs.ErrExist) {
		return errTaken(path)
	}
	if err == nil {
		err = failpoint.Fail(failpoint.DraftNamed)
	}
	if err == nil {
		err = SyncDir(filepath.Dir(path))
	}
	if err != nil {
		if !replace && d.has(path) {
			_ = os.Remove(path)
		}
		return CannotWrite(path, err)
	}
	return nil
}

// has reports whether the draft already has the given name.
func (d *Draft) has(path string) bool {
	mine, err := d.F.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

// rename moves a file. Without replace it uses a link, which never replaces a file; on file systems without links (FAT) it first checks
// that the name is free.
func rename(from, to string, replace bool) error {
	if replace {
		return os.Rename(from, to)
	}
	err := os.Link(from, to)
	if err == nil {
		failpoint.Hit(failpoint.DraftLinked)
		return os.Remove(from)
	}
	if _, there := os.Lstat(to); there == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}

// MustBeNew refuses a name that is taken.
func MustBeNew(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return errTaken(path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return CannotWrite(path, err)
}

// SameFile reports whether the path still names the open file.
func SameFile(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// RoomFor refuses to write the given number of bytes if the folder's disk lacks room for them and for the node's own writes meanwhile.
func RoomFor(dir string, bytes int64) error {
	free, known := FreeSpace(dir)
	if !known || free >= bytes+leaveFree {
		return nil
	}
	return fault.New(fault.Full, "no_room", "not enough room in %s: %s needed, %s free, of which %s are reserved for the node",
		dir, megabytes(bytes), megabytes(free), megabytes(leaveFree))
}

// leaveFree is the space that copies leave on a disk for the node, which continues to write.
const leaveFree = 64 << 20

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func errTaken(path string) error {
	return fault.New(fault.Conflict, "file_exists", "%s already exists and will not be overwritten", path)
}

// CannotWrite returns the fault of a file that could not be written.
func CannotWrite(path string, err error) error {
	if IsNoSpace(err) {
		return fault.Wrap(err, fault.Full, "no_room", "cannot write %s: the disk is full", path)
	}
	return fault.Wrap(err, fault.Unavailable, "cannot_write", "cannot write %s: %s", path, Reason(err))
}

// CannotRead returns the fault of a file that could not be read.
func CannotRead(path string, err error) error {
	kind := fault.Unavailable
	if errors.Is(err, fs.ErrNotExist) {
		kind = fault.NotFound
	}
	return fault.Wrap(err, kind, "cannot_read", "cannot read %s: %s", path, Reason(err))
}

// Reason returns the operating system's message without the path, which our message already has.
func Reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
