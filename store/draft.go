package store

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

// draft is a file on its way: it has another name until it is complete and on disk, so that a crash leaves the whole
// file under its own name or none. It is locked: two that make the same file do not write into one draft, and one that
// a crash left behind is known by its free lock. That one is removed and not written over: a crash in the middle of
// publish leaves a file with both names.
type draft struct {
	f    *os.File
	path string
}

// newDraft makes an empty draft. One that somebody else is writing is fault.Conflict.
func newDraft(path string) (*draft, error) {
	d := &draft{path: path}
	for range 3 { // one that is finished between two steps is made anew
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, cannotWrite(path, err)
		}
		d.f = f
		if err := d.lock(); err != nil {
			_ = f.Close()
			return nil, err
		}
		if !sameFile(f, path) {
			_ = f.Close()
			continue
		}
		if left, err := f.Stat(); err != nil || left.Size() > 0 {
			err = errors.Join(err, os.Remove(path), f.Close())
			if err != nil {
				return nil, cannotWrite(path, err)
			}
			continue
		}
		if err := errors.Join(f.Chmod(0o600), f.Truncate(0)); err != nil {
			d.discard()
			return nil, cannotWrite(path, err)
		}
		return d, nil
	}
	return nil, cannotWrite(path, errors.New("it keeps disappearing"))
}

func (d *draft) lock() error {
	err := lockFile(d.f, 0)
	if errors.Is(err, errLockHeld) {
		return fault.New(fault.Conflict, "in_progress", "%s is being written by another touchline process", d.path)
	}
	return err
}

// reopen takes the draft back from bbolt, which closed it.
func (d *draft) reopen(size int64) error {
	f, err := os.OpenFile(d.path, os.O_RDWR, 0)
	if err != nil {
		return cannotWrite(d.path, err)
	}
	d.f = f
	if err := d.lock(); err != nil {
		return err
	}
	if info, err := f.Stat(); err != nil || info.Size() != size {
		return cannotWrite(d.path, errors.New("another process has changed it"))
	}
	return nil
}

// discard removes the draft, unless it has become somebody else's.
func (d *draft) discard() {
	_, err := d.f.Stat()
	if errors.Is(err, fs.ErrClosed) || sameFile(d.f, d.path) { // bbolt has closed it, where it failed
		_ = os.Remove(d.path)
	}
	_ = d.f.Close()
}

// publish puts the draft on disk and gives it its name, which must be free unless it replaces what is there. It stays
// open, and locked, where the system allows that. If it fails, a name that was free is free again.
func (d *draft) publish(path string, replace bool) error {
	like := filepath.Dir(path)
	if _, err := os.Lstat(path); err == nil {
		like = path
	}
	keepOwner(d.f, like)
	if err := d.f.Sync(); err != nil {
		return cannotWrite(path, err)
	}
	failpoint.Hit(failpoint.DraftSynced)
	dropCache(d.f)
	if runtime.GOOS == "windows" { // there an open file keeps its name
		_ = d.f.Close()
	}
	err := rename(d.path, path, replace)
	if errors.Is(err, fs.ErrExist) {
		return errTaken(path)
	}
	if err == nil {
		err = failpoint.Fail(failpoint.DraftNamed)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		if !replace && d.has(path) {
			_ = os.Remove(path)
		}
		return cannotWrite(path, err)
	}
	return nil
}

// has reports whether the draft has that name by now.
func (d *draft) has(path string) bool {
	mine, err := d.f.Stat()
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

// mustBeNew refuses a name that is taken.
func mustBeNew(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return errTaken(path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return cannotWrite(path, err)
}

// sameFile reports whether the open file still has that name.
func sameFile(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// roomFor refuses to write bytes into a folder whose disk has no room for them and for what goes on there meanwhile.
func roomFor(dir string, bytes int64) error {
	free, known := freeSpace(dir)
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

func cannotWrite(path string, err error) error {
	if IsNoSpace(err) {
		return fault.Wrap(err, fault.Full, "no_room", "cannot write %s: the disk is full", path)
	}
	return fault.Wrap(err, fault.Unavailable, "cannot_write", "cannot write %s: %s", path, reason(err))
}

func cannotRead(path string, err error) error {
	kind := fault.Unavailable
	if errors.Is(err, fs.ErrNotExist) {
		kind = fault.NotFound
	}
	return fault.Wrap(err, kind, "cannot_read", "cannot read %s: %s", path, reason(err))
}

// reason is the operating system's word without the path, which the message has already.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
