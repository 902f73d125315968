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

// Draft is a file on its way: it has another name until it is complete and on disk, so that a crash leaves the whole
// file under its own name or none. It is locked: two that make the same file do not write into one draft, and one that
// a crash left behind is known by its free lock. That one is removed and not written over: a crash in the middle of
// publish leaves a file with both names.
type Draft struct {
	F    *os.File
	Path string
}

// NewDraft makes an empty draft. One that somebody else is writing is fault.Conflict.
func NewDraft(path string) (*Draft, error) {
	d := &Draft{Path: path}
	for range 3 { // one that is finished between two steps is made anew
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

// Reopen takes the draft back from bbolt, which closed it.
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

// End closes the draft's file if it was made, and discards it else.
func (d *Draft) End(made bool) {
	if !made {
		d.Discard()
		return
	}
	_ = d.F.Close()
}

// Discard removes the draft, unless it has become somebody else's.
func (d *Draft) Discard() {
	_, err := d.F.Stat()
	if errors.Is(err, fs.ErrClosed) || SameFile(d.F, d.Path) { // bbolt has closed it, where it failed
		_ = os.Remove(d.Path)
	}
	_ = d.F.Close()
}

// Publish puts the draft on disk and gives it its name, which must be free unless it replaces what is there. It stays
// open, and locked, where the system allows that. If it fails, a name that was free is free again.
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
	if runtime.GOOS == "windows" { // there an open file keeps its name
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

// has reports whether the draft has that name by now.
func (d *Draft) has(path string) bool {
	mine, err := d.F.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

// rename moves a file. A link does not replace; where there are none (FAT) it is looked first.
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

// SameFile reports whether the open file still has that name.
func SameFile(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// RoomFor refuses to write bytes into a folder whose disk has no room for them and for what goes on there meanwhile.
func RoomFor(dir string, bytes int64) error {
	free, known := FreeSpace(dir)
	if !known || free >= bytes+leaveFree {
		return nil
	}
	return fault.New(fault.Full, "no_room", "there is not enough room in %s: %s needed, %s free, of which %s stay free for the node",
		dir, megabytes(bytes), megabytes(free), megabytes(leaveFree))
}

// leaveFree is what copies leave of a disk: the node goes on writing beside them.
const leaveFree = 64 << 20

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func errTaken(path string) error {
	return fault.New(fault.Conflict, "file_exists", "%s already exists, and nothing is overwritten", path)
}

// CannotWrite is the fault of a file that could not be written.
func CannotWrite(path string, err error) error {
	if IsNoSpace(err) {
		return fault.Wrap(err, fault.Full, "no_room", "cannot write %s: the disk is full", path)
	}
	return fault.Wrap(err, fault.Unavailable, "cannot_write", "cannot write %s: %s", path, Reason(err))
}

// CannotRead is the fault of a file that could not be read.
func CannotRead(path string, err error) error {
	kind := fault.Unavailable
	if errors.Is(err, fs.ErrNotExist) {
		kind = fault.NotFound
	}
	return fault.Wrap(err, kind, "cannot_read", "cannot read %s: %s", path, Reason(err))
}

// Reason is the operating system's word without the path, which the message has already.
func Reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
