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

// Tell calls progress, if there is one, with what is looked at.
func Tell(progress func(where string), where string) {
	if progress != nil {
		progress(where)
	}
}

// Locked checks a locked file and closes it.
func Locked(ctx context.Context, f *os.File, progress func(where string)) ([]Problem, error) {
	Tell(progress, "pages")
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
	if err != nil { // which is what was asked for
		_ = f.Close()                                             // unless bbolt has
		return []Problem{{Where: "file", What: err.Error()}}, nil //nolint:nilerr // a damaged file is an answer
	}
	problems, err := checkContents(ctx, db, progress)
	if is.Lost > 0 {
		problems = append(problems, Problem{Where: "file", What: fmt.Sprintf("%d pages are neither used nor free", is.Lost)})
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
			snap := &txn.Snapshot{Btx: btx, Buckets: map[string]*bolt.Bucket{}}
			// A reader that no deadline ends: nobody writes to this file.
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
