package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/file"
	"github.com/touchline/touchline/store/internal/pages"
	"github.com/touchline/touchline/store/internal/txn"
)

// ReportProgress calls progress, if not nil, with the part being checked.
func ReportProgress(progress func(where string), where string) {
	if progress != nil {
		progress(where)
	}
}

// LockedFile checks a locked file and closes it.
func LockedFile(ctx context.Context, f *os.File, progress func(where string)) ([]Problem, error) {
	ReportProgress(progress, "pages")
	is, err := pages.Verify(f, true)
	disk.DropCache(f)
	if _, unread := errors.AsType[*os.PathError](err); unread {
		_ = f.Close()
		return nil, disk.CannotRead(f.Name(), err)
	}
	var db *bolt.DB
	if err == nil {
		db, err = file.OpenReadOnly(f)
	}
	if err != nil { // the error is the result of the check
		_ = f.Close()                                             // bbolt may have closed it
		return []Problem{{Where: "file", What: err.Error()}}, nil //nolint:nilerr // a damaged file is an answer
	}
	problems, err := checkContents(ctx, db, is.BadMeta, progress)
	if is.Lost > 0 {
		problems = append(problems, Problem{Where: "file", What: fmt.Sprintf("%d pages are neither used nor free", is.Lost)})
	}
	return problems, errors.Join(err, db.Close())
}

// firstPages reports a first page that is damaged, and those that were when the file was opened and that nobody has read of.
func (c *Checker) firstPages(bad *pages.BadMeta, st *file.State) error {
	if bad != nil {
		if err := c.say("%s", file.ReadableWords(bad, st.Journal.Last)); err != nil {
			return err
		}
	}
	for i := range st.Damages {
		if err := c.say("%s", st.Damages[i].Words()); err != nil {
			return err
		}
	}
	return nil
}

// checkContents checks everything above the level of pages. It runs on a goroutine where a fault in the memory map, which an unreadable
// disk causes, is a panic, and reports panics as problems.
func checkContents(ctx context.Context, db *bolt.DB, bad *pages.BadMeta, progress func(where string)) (problems []Problem, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		c := Checker{at: progress}
		defer func() {
			if r := recover(); r != nil {
				c.Problems = append(c.Problems, Problem{Where: c.where, What: fmt.Sprintf("it cannot be read: %v", r)})
			}
			problems = c.Problems
		}()
		err = db.View(func(btx *bolt.Tx) error {
			c.where = "file"
			st, err := file.ReadMeta(btx)
			if err != nil {
				return c.say("%v", err)
			}
			if err := c.firstPages(bad, &st); err != nil {
				return err
			}
			snap := &txn.Snapshot{Btx: btx, Buckets: map[string]*bolt.Bucket{}}
			// A reader without a deadline: nobody writes to this file.
			c.Tx = &txn.Tx{DB: &txn.DB{}, Ctx: ctx, Btx: btx, Cat: st.Cat, Reader: &txn.Reader{Snapshot: snap}}
			return c.contents()
		})
		if errors.Is(err, errEnough) {
			err = nil
		}
	}()
	<-done
	return problems, err
}
