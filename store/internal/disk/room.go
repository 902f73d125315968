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

// IsFull reports whether bbolt or Room refused a commit for lack of space.
func IsFull(err error) bool { return errors.Is(err, bolterrors.ErrMaxSizeReached) }

// Room reserves disk space before a commit needs it. bbolt grows its file by truncation, which allocates nothing: on a full disk the
// following write or fsync would fail, and after that the content of the file is unknown. With the space allocated first, a commit on a
// full disk is refused before it writes anything, or uses free pages of the file. Only the committer uses a Room.
type Room struct {
	F      *os.File
	limit  int64 // Options.MaxSize; 0: none
	noSync bool
	Page   int64        // size of a page
	Size   atomic.Int64 // of the file, all of it allocated; may be read concurrently

	short   bool      // the current commit did not get the space it may need
	Refused int       // bytes needed by the last commit if it was refused, else 0
	left    int64     // how much of the spare that commit had to leave
	Retry   time.Time // when such a commit may be tried again

	// Allocate extends f from one size to another with allocated blocks; Fill allocates all blocks of its size. Tests replace them to
	// simulate a full disk.
	Allocate func(f *os.File, from, to int64) error
	Fill     func(f *os.File, size int64) error
	Holes    bool // a part of the file may have no blocks yet
}

const (
	minGrowth = 1 << 20
	maxGrowth = 16 << 20

	// Spare is reserved for commits that free space: they need new pages before their old ones become free for the next commit.
	// batch.leaves says which commits may use how much of it.
	Spare = 1 << 20
)

// NewRoom measures an open file. limit is its maximum size, 0 for none.
func NewRoom(f *os.File, db *bolt.DB, limit int, noSync bool) *Room {
	r := &Room{F: f, limit: int64(limit), noSync: noSync, Page: int64(db.Info().PageSize), Allocate: Allocate, Fill: FillHoles}
	r.measure()
	r.Holes = r.Fill(f, r.Size.Load()) != nil // the store can still be read
	return r
}

// fillLeft fills the holes for which the disk had no space when the store was opened. While there are any, bbolt may write to one of
// them, and a full disk in the middle of a commit would latch the store.
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

// Reserve allocates need bytes and Spare above the size that the open write transaction uses. If the disk or the limit has less, that is no
// error: bbolt's limit is set to the available space less leaves, a part of the spare, and bbolt refuses a commit that does not fit. If the
// file has holes that the disk still has no space for, Reserve refuses the commit with bbolt's error of a full file.
func (r *Room) Reserve(btx *bolt.Tx, need int, leaves int64) error {
	if err := r.fillLeft(); err != nil {
		return err
	}
	db, used := btx.DB(), btx.Size()
	want := used + int64(need) + Spare
	if want > r.Size.Load() {
		if err := r.extendFile(max(want, used+min(max(used/8, minGrowth), maxGrowth))); err != nil {
			return err
		}
	}
	db.MaxSize = int(r.limit)
	size := r.Size.Load()
	if r.short = want > size; r.short {
		db.MaxSize = int(max(size-leaves, 1)) // 0 would mean no limit
	}
	return nil
}

// Hopeless reports whether a commit would be refused like the one before. bbolt reads the whole file after each refusal, about a second
// for a gigabyte, and a full store must not do that all the time while deletes wait. A commit that may use more of the spare is tried.
func (r *Room) Hopeless(need int, leaves int64, now time.Time) bool {
	return r.short && leaves > 0 && leaves >= r.left && r.Refused > 0 && need >= r.Refused && now.Before(r.Retry)
}

// RecordCommit records the outcome of a commit and, for a refusal, how long it took.
func (r *Room) RecordCommit(need int, leaves int64, err error, now time.Time, took time.Duration) {
	if r.Refused = 0; err != nil {
		r.Refused, r.left, r.Retry = need, leaves, now.Add(4*took)
	}
}

// extendFile extends the file as far as the disk allows. A full disk is no error. After any other error the state of the file on disk is
// unknown.
func (r *Room) extendFile(to int64) error {
	r.measure() // bbolt may have grown the file further
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
			return err // space that may not last does not count
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

// WriteZeros allocates blocks on file systems without a call for it. It writes after the end of the file, where nobody reads yet.
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
