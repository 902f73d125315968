package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/fault"
)

const checkSuffix = ".check"

// CheckFile is Check for a file that nobody has open: a store or a backup. It only reads, and it stands what a damaged
// file does to it: every page is looked at before bbolt maps the file, and what goes wrong behind that is a problem
// like the others. What makes the file no store at all is a problem too; an error is a file that cannot be read, or is
// held by another process (fault.Locked). progress may be nil; it is told what is being looked at.
func CheckFile(ctx context.Context, path string, progress func(where string)) ([]Problem, error) {
	f, err := lockExisting(path, os.O_RDONLY, Options{}.withDefaults())
	if errors.Is(err, errNoFile) {
		return []Problem{{Where: "file", What: errNoFile.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	return checkLocked(ctx, f, progress)
}

// CheckCopy is Check beside the writers of a store in use: it takes a copy, which needs room on the disk for a moment,
// and checks that.
func (s *Store) CheckCopy(ctx context.Context, progress func(where string)) ([]Problem, error) {
	f, remove, err := s.checkTarget()
	if err != nil {
		return nil, err
	}
	defer remove()
	tell(progress, "a copy of the file")
	_, err = s.copyTo(ctx, f, nil, nil)
	if fault.Is(err, fault.Damaged) {
		_ = f.Close()
		return []Problem{{Where: "file", What: err.Error()}}, nil
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return checkLocked(ctx, f, progress)
}

// checkTarget is where the copy lies: beside the store, or in memory like it.
func (s *Store) checkTarget() (f *os.File, remove func(), err error) {
	if s.path == "" {
		return memoryFile()
	}
	d, err := newDraft(s.path + checkSuffix)
	if err != nil {
		return nil, nil, err
	}
	return d.f, func() { _ = os.Remove(d.path) }, nil
}

func tell(progress func(where string), where string) {
	if progress != nil {
		progress(where)
	}
}

// checkLocked checks a locked file and closes it.
func checkLocked(ctx context.Context, f *os.File, progress func(where string)) ([]Problem, error) {
	tell(progress, "pages")
	is, err := verifyFile(f, true)
	dropCache(f)
	if _, unread := errors.AsType[*os.PathError](err); unread {
		_ = f.Close()
		return nil, cannotRead(f.Name(), err)
	}
	var db *bolt.DB
	if err == nil {
		db, err = openReadOnly(f)
	}
	if err != nil { // which is what was asked for
		_ = f.Close()                                             // unless bbolt has
		return []Problem{{Where: "file", What: err.Error()}}, nil //nolint:nilerr // a damaged file is an answer
	}
	problems, err := checkContents(ctx, db, progress)
	if is.lost > 0 {
		problems = append(problems, Problem{Where: "file", What: fmt.Sprintf("%d pages are neither used nor free", is.lost)})
	}
	return problems, errors.Join(err, db.Close())
}

// checkContents looks at everything above the pages, on a goroutine of its own on which a fault of the map, as a disk
// that cannot read makes it, is a panic, and a panic a problem.
func checkContents(ctx context.Context, db *bolt.DB, progress func(where string)) (problems []Problem, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		c := checker{at: progress}
		defer func() {
			if r := recover(); r != nil {
				c.problems = append(c.problems, Problem{Where: c.where, What: fmt.Sprintf("it cannot be read: %v", r)})
			}
			problems = c.problems
		}()
		err = db.View(func(btx *bolt.Tx) error {
			c.where = "file"
			st, err := readMeta(btx)
			if err != nil {
				return c.say("%v", err)
			}
			snap := &snapshot{btx: btx, buckets: map[string]*bolt.Bucket{}}
			// A reader that no deadline ends: nobody writes to this file.
			c.tx = &Tx{s: &Store{}, ctx: ctx, btx: btx, cat: st.cat, reader: &reader{snapshot: snap}}
			return c.contents()
		})
		if errors.Is(err, errEnough) {
			err = nil
		}
	}()
	<-done
	return problems, err
}

var errNoFile = errors.New("it is not a file")

// lockExisting opens and locks a file that must be there. To open a pipe would be to wait for its other end.
func lockExisting(path string, flag int, o Options) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fault.Wrap(errNoFile, fault.Damaged, "store_damaged", "%s cannot be used as a store: %v", path, errNoFile)
	}
	f, err := os.OpenFile(filepath.Clean(path), flag, 0)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	if err := lockFile(f, o.LockTimeout); err != nil {
		_ = f.Close()
		return nil, lockError(path, err)
	}
	return f, nil
}
