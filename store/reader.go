package store

import (
	"errors"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/touchline/touchline/internal/fault"
)

// maxIdle bounds the snapshots that wait for the next View.
const maxIdle = 32

// snapshot is a read transaction of bbolt with the buckets that were looked at: bbolt searches for a bucket each time.
type snapshot struct {
	btx     *bolt.Tx
	buckets map[string]*bolt.Bucket
	key     []byte // room for the key of a Get
}

func (s *snapshot) bucket(name []byte) *bolt.Bucket {
	b := s.buckets[string(name)]
	if b == nil {
		if b = s.btx.Bucket(name); b != nil {
			s.buckets[string(name)] = b
		}
	}
	return b
}

// giveBack ends a snapshot; nil is none. It fails only on a transaction that is over.
func (s *snapshot) giveBack() {
	if s != nil {
		_ = s.btx.Rollback()
	}
}

// reader is one View. mu is held by every call on its Tx, so that the deadline takes the snapshot away between two
// calls and never from under one.
type reader struct {
	mu sync.Mutex
	*snapshot
	epoch   uint64
	started time.Duration // since the readers were made: cheaper to ask than the time of day
	gone    bool          // the snapshot was given back

	older, newer *reader
}

// readers is the list of open Views from oldest to newest, and one timer for all of them. The timer runs only while
// there are any.
//
// To begin and end a transaction of bbolt costs more than to look an item up. So a View gives its snapshot to the next
// one, as long as nobody writes: suspend, called before a write transaction begins, ends the idle ones, since they
// would keep pages from being used again and the file's mapping from growing; resume lets new ones be kept.
type readers struct {
	deadline time.Duration
	made     time.Time

	mu             sync.Mutex
	oldest, newest *reader
	open           int
	expired        uint64 // ended by the deadline, ever
	armed          bool
	timer          *time.Timer

	idle   []*snapshot // of the present state
	keep   bool        // nobody writes
	epoch  uint64      // counts where write transactions begin and end: a snapshot of an earlier one is not kept
	closed bool
}

func newReaders(deadline time.Duration) *readers {
	return &readers{deadline: deadline, made: time.Now(), keep: true}
}

// begin gives r a snapshot and puts it on the list.
func (rs *readers) begin(r *reader, db *bolt.DB) error {
	if rs.beginIdle(r) {
		return nil
	}
	btx, err := db.Begin(false) // it may wait for the mapping of the file: not under mu
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return errClosed()
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "store_failed", "the store cannot be read")
	}
	r.snapshot = &snapshot{btx: btx, buckets: map[string]*bolt.Bucket{}, key: make([]byte, 0, 64)}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.link(r)
	return nil
}

// beginIdle begins with a snapshot that is there, false if none is. It notes the epoch in any case: before a snapshot is
// made, so that one that is older than it seems is not kept.
func (rs *readers) beginIdle(r *reader) bool {
	r.started = time.Since(rs.made)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.epoch = rs.epoch
	n := len(rs.idle)
	if n == 0 {
		return false
	}
	r.snapshot = rs.idle[n-1]
	rs.idle = rs.idle[:n-1]
	rs.link(r)
	return true
}

// age is how long a reader has been open.
func (rs *readers) age(r *reader) time.Duration { return time.Since(rs.made) - r.started }

// link puts a reader at the end of the list.
func (rs *readers) link(r *reader) {
	r.older = rs.newest
	if r.older != nil {
		r.older.newer = r
	} else {
		rs.oldest = r
	}
	rs.newest = r
	rs.open++
	rs.arm(rs.deadline)
}

func (rs *readers) unlink(r *reader) {
	if r.older != nil {
		r.older.newer = r.newer
	} else {
		rs.oldest = r.newer
	}
	if r.newer != nil {
		r.newer.older = r.older
	} else {
		rs.newest = r.older
	}
	rs.open--
}

// end takes the reader from the list and keeps its snapshot for the next, or gives it back.
func (rs *readers) end(r *reader) {
	left := r.leave()
	rs.mu.Lock()
	rs.unlink(r)
	if left != nil && rs.keep && r.epoch == rs.epoch && len(rs.idle) < maxIdle {
		rs.idle = append(rs.idle, left)
		left = nil
	}
	rs.mu.Unlock()
	left.giveBack()
}

// leave takes the snapshot from the reader, nil if the deadline has.
func (r *reader) leave() *snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return nil
	}
	r.gone = true
	return r.snapshot
}

// suspend is called before a write transaction begins, resume when it has ended.
func (rs *readers) suspend() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.keep = false
	rs.epoch++
	rs.dropIdle()
}

func (rs *readers) resume() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.keep = !rs.closed
	rs.epoch++ // who began meanwhile may see the state before
}

func (rs *readers) dropIdle() {
	for i, s := range rs.idle {
		s.giveBack()
		rs.idle[i] = nil
	}
	rs.idle = rs.idle[:0]
}

// arm starts the timer. It is not stopped when the last reader ends: it fires once more and finds nothing.
func (rs *readers) arm(d time.Duration) {
	switch {
	case rs.armed:
		return
	case rs.timer == nil:
		rs.timer = time.AfterFunc(d, rs.expire)
	default:
		rs.timer.Reset(d)
	}
	rs.armed = true
}

// expire ends the readers that are too old, and comes back for the next.
func (rs *readers) expire() {
	var old []*reader
	rs.mu.Lock()
	rs.armed = false
	for r := rs.oldest; r != nil; r = r.newer {
		if left := rs.deadline - rs.age(r); left > 0 {
			rs.arm(left)
			break
		}
		old = append(old, r)
	}
	rs.mu.Unlock()
	for _, r := range old {
		if left := r.leave(); left != nil {
			left.giveBack()
			rs.count()
		}
	}
}

func (rs *readers) count() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.expired++
}

// close ends the idle snapshots, for which the closing of the file would wait, and keeps no more.
func (rs *readers) close() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.closed, rs.keep = true, false
	rs.dropIdle()
	if rs.timer != nil && rs.oldest == nil {
		rs.timer.Stop()
	}
}
