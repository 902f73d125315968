package disk

import (
	"errors"
	"os"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/touchline/touchline/internal/failpoint"
)

// IsFull reports whether bbolt, or Room, refused a commit for lack of room.
func IsFull(err error) bool { return errors.Is(err, bolterrors.ErrMaxSizeReached) }

// Room keeps disk space in hand before a commit needs it. bbolt grows its file by a truncate, which reserves nothing:
// on a full disk the write behind it would fail, or the fsync, and after that nobody knows what is in the file. With
// the space allocated first, a full disk is a commit that is refused before it writes anything, or that finds its
// place in free pages of the file. Only the committer uses it.
type Room struct {
	F      *os.File
	limit  int64 // Options.MaxSize; 0: none
	noSync bool
	Page   int64        // size of one
	Size   atomic.Int64 // of the file, all of it allocated; others may read it

	short   bool      // the commit at hand did not get what it may need
	Refused int       // what the last commit that was refused needed; 0: there was one that was not, since
	left    int64     // how much of the spare it had to leave
	Retry   time.Time // when such a one may be tried again

	// allocate extends f from one size to the other, with blocks behind it; fill gives blocks to all of its size. Tests
	// have fuller disks.
	Allocate func(f *os.File, from, to int64) error
	Fill     func(f *os.File, size int64) error
	Holes    bool // a part of the file may have no blocks yet
}

const (
	minGrowth = 1 << 20
	maxGrowth = 16 << 20

	// Spare is what only commits may use that make room: they need new pages too, before their own are free for the next
	// one. batch.leaves says who may use how much of it.
	Spare = 1 << 20
)

// NewRoom measures an open file; limit is its greatest size, 0 for none.
func NewRoom(f *os.File, db *bolt.DB, limit int, noSync bool) *Room {
	r := &Room{F: f, limit: int64(limit), noSync: noSync, Page: int64(db.Info().PageSize), Allocate: Allocate, Fill: FillHoles}
	r.measure()
	r.Holes = r.Fill(f, r.Size.Load()) != nil // the store can be read all the same
	return r
}

// fillLeft fills the holes that the disk had no space for when the store was opened. As long as there are any, bbolt may
// write into one of them: a full disk would then be met in the middle of a commit, and latch the store.
func (r *Room) fillLeft() error {
	if !r.Holes {
		return nil
	}
	err := r.Fill(r.F, r.Size.Load())
	if IsNoSpace(err) {
		return bolterrors.ErrMaxSizeReached
	}
	r.Holes = err != nil
	return err
}

// Reserve has the disk give need bytes above what the file of the open write transaction uses. Where the disk or the
// limit gives no more that is no error: bbolt gets what is there as its limit, and refuses a commit that does not fit, and
// leaves some of the spare. A file that has holes takes no commit: that is bbolt's error of a full file too.
func (r *Room) Reserve(btx *bolt.Tx, need int, leaves int64) error {
	if err := r.fillLeft(); err != nil {
		return err
	}
	db, used := btx.DB(), btx.Size()
	want := used + int64(need) + Spare
	if want > r.Size.Load() {
		if err := r.grow(max(want, used+min(max(used/8, minGrowth), maxGrowth))); err != nil {
			return err
		}
	}
	db.MaxSize = int(r.limit)
	size := r.Size.Load()
	if r.short = want > size; r.short {
		db.MaxSize = int(max(size-leaves, 1)) // 0 would be no limit
	}
	return nil
}

// Hopeless reports whether a commit would be refused as one before it was. bbolt reads the whole file after each refusal,
// about a second for a gigabyte: a full store is not to do that all the time while deletes wait. One that may use more of
// the spare is tried.
func (r *Room) Hopeless(need int, leaves int64, now time.Time) bool {
	return r.short && leaves > 0 && leaves >= r.left && r.Refused > 0 && need >= r.Refused && now.Before(r.Retry)
}

// Tried notes what has become of a commit, and for a refusal how long it took.
func (r *Room) Tried(need int, leaves int64, err error, now time.Time, took time.Duration) {
	if r.Refused = 0; err != nil {
		r.Refused, r.left, r.Retry = need, leaves, now.Add(4*took)
	}
}

// grow extends the file as far as the disk goes. An error is another than a full disk: what such a disk holds of the
// file is not known.
func (r *Room) grow(to int64) error {
	r.measure() // bbolt may have taken more than was foreseen
	if r.limit > 0 {
		to = min(to, r.limit)
	}
	if to <= r.Size.Load() {
		return nil
	}
	err := r.Allocate(r.F, r.Size.Load(), to)
	failpoint.Hit(failpoint.RoomAllocated)
	if err == nil && !r.noSync {
		if err := r.F.Sync(); err != nil {
			return err // space that may not last is none
		}
	}
	r.measure()
	if IsNoSpace(err) {
		return nil
	}
	return err
}

func (r *Room) measure() {
	if info, err := r.F.Stat(); err == nil {
		r.Size.Store(info.Size())
	}
}

// WriteZeros allocates where the file system has no call for it: behind the end of the file nobody reads yet.
func WriteZeros(f *os.File, from, to int64) error {
	zeros := make([]byte, 256<<10)
	for from < to {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), to-from)], from)
		if err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}
