package store

import (
	"os"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/touchline/touchline/internal/failpoint"
)

// room keeps disk space in hand before a commit needs it. bbolt grows its file by a truncate, which reserves nothing:
// on a full disk the write behind it would fail, or the fsync, and after that nobody knows what is in the file. With
// the space allocated first, a full disk is a commit that is refused before it writes anything, or that finds its
// place in free pages of the file. Only the committer uses it.
type room struct {
	f      *os.File
	limit  int64 // Options.MaxSize; 0: none
	noSync bool
	page   int64        // size of one
	size   atomic.Int64 // of the file, all of it allocated; others may read it

	short   bool      // the commit at hand did not get what it may need
	refused int       // what the last commit that was refused needed; 0: there was one that was not, since
	left    int64     // how much of the spare it had to leave
	retry   time.Time // when such a one may be tried again

	// allocate extends f from one size to the other, with blocks behind it; fill gives blocks to all of its size. Tests
	// have fuller disks.
	allocate func(f *os.File, from, to int64) error
	fill     func(f *os.File, size int64) error
	holes    bool // a part of the file may have no blocks yet
}

const (
	minGrowth = 1 << 20
	maxGrowth = 16 << 20

	// spare is what only commits may use that make room: they need new pages too, before their own are free for the next
	// one. batch.leaves says who may use how much of it.
	spare = 1 << 20
)

func newRoom(f *os.File, db *bolt.DB, o Options) *room {
	r := &room{f: f, limit: int64(o.MaxSize), noSync: o.NoSync, page: int64(db.Info().PageSize), allocate: allocate, fill: fillHoles}
	r.measure()
	r.holes = r.fill(f, r.size.Load()) != nil // the store can be read all the same
	return r
}

// fillLeft fills the holes that the disk had no space for when the store was opened. As long as there are any, bbolt may
// write into one of them: a full disk would then be met in the middle of a commit, and latch the store.
func (r *room) fillLeft() error {
	if !r.holes {
		return nil
	}
	err := r.fill(r.f, r.size.Load())
	if IsNoSpace(err) {
		return bolterrors.ErrMaxSizeReached
	}
	r.holes = err != nil
	return err
}

// reserve has the disk give need bytes above what the file of the open write transaction uses. Where the disk or the
// limit gives no more that is no error: bbolt gets what is there as its limit, and refuses a commit that does not fit, and
// leaves some of the spare. A file that has holes takes no commit: that is bbolt's error of a full file too.
func (r *room) reserve(btx *bolt.Tx, need int, leaves int64) error {
	if err := r.fillLeft(); err != nil {
		return err
	}
	db, used := btx.DB(), btx.Size()
	want := used + int64(need) + spare
	if want > r.size.Load() {
		if err := r.grow(max(want, used+min(max(used/8, minGrowth), maxGrowth))); err != nil {
			return err
		}
	}
	db.MaxSize = int(r.limit)
	size := r.size.Load()
	if r.short = want > size; r.short {
		db.MaxSize = int(max(size-leaves, 1)) // 0 would be no limit
	}
	return nil
}

// hopeless reports whether a commit would be refused as one before it was. bbolt reads the whole file after each refusal,
// about a second for a gigabyte: a full store is not to do that all the time while deletes wait. One that may use more of
// the spare is tried.
func (r *room) hopeless(need int, leaves int64, now time.Time) bool {
	return r.short && leaves > 0 && leaves >= r.left && r.refused > 0 && need >= r.refused && now.Before(r.retry)
}

// tried notes what has become of a commit, and for a refusal how long it took.
func (r *room) tried(need int, leaves int64, err error, now time.Time, took time.Duration) {
	if r.refused = 0; err != nil {
		r.refused, r.left, r.retry = need, leaves, now.Add(4*took)
	}
}

// grow extends the file as far as the disk goes. An error is another than a full disk: what such a disk holds of the
// file is not known.
func (r *room) grow(to int64) error {
	r.measure() // bbolt may have taken more than was foreseen
	if r.limit > 0 {
		to = min(to, r.limit)
	}
	if to <= r.size.Load() {
		return nil
	}
	err := r.allocate(r.f, r.size.Load(), to)
	failpoint.Hit(failpoint.RoomAllocated)
	if err == nil && !r.noSync {
		if err := r.f.Sync(); err != nil {
			return err // space that may not last is none
		}
	}
	r.measure()
	if IsNoSpace(err) {
		return nil
	}
	return err
}

func (r *room) measure() {
	if info, err := r.f.Stat(); err == nil {
		r.size.Store(info.Size())
	}
}
