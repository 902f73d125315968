package txn

import (
	"errors"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/refusal"
)

// maxIdle limits the snapshots kept for later Views.
const maxIdle = 32

// Snapshot is a read transaction of bbolt with the buckets used so far: bbolt would search for a bucket each time.
type Snapshot struct {
	Btx     *bolt.Tx
	Buckets map[string]*bolt.Bucket
	Key     []byte // a buffer for the key of a Get
}

func (s *Snapshot) bucket(name []byte) *bolt.Bucket {
	b := s.Buckets[string(name)]
	if b == nil {
		if b = s.Btx.Bucket(name); b != nil {
			s.Buckets[string(name)] = b
		}
	}
	return b
}

// giveBack ends a snapshot; nil is none. Rollback fails only if the transaction has ended.
func (s *Snapshot) giveBack() {
	if s != nil {
		_ = s.Btx.Rollback()
	}
}

// Reader is one View. Every call on its Tx holds Mu, so the deadline ends the snapshot between two calls, never during one.
type Reader struct {
	Mu sync.Mutex
	*Snapshot
	epoch   uint64
	started time.Duration // since the readers were created: cheaper than the time of day
	gone    bool          // the snapshot was given back

	older, newer *Reader
}

// readers is the list of open Views from oldest to newest, and one timer for all of them. Without open Views the timer is not set again.
//
// Starting and ending a bbolt transaction costs more than looking up an item. So a View leaves its snapshot to the next View, as long as
// nobody writes. Suspend, called before a write transaction begins, ends the idle snapshots, which would keep pages from being reused and
// the memory map from growing. Resume allows new ones to be kept.
type readers struct {
	deadline time.Duration
	made     time.Time

	Mu             sync.Mutex
	Oldest, newest *Reader
	open           int
	armed          bool
	timer          *time.Timer

	idle   []*Snapshot // of the present state
	keep   bool        // no write transaction is open
	epoch  uint64      // incremented when a write transaction begins or ends: snapshots of an earlier epoch are not kept
	closed bool
}

func newReaders(deadline time.Duration) *readers {
	return &readers{deadline: deadline, made: time.Now(), keep: true}
}

// begin gives r a snapshot and adds it to the list.
func (rs *readers) begin(r *Reader, db *bolt.DB) error {
	if rs.beginIdle(r) {
		return nil
	}
	btx, err := db.Begin(false) // may wait for the memory map: not under Mu
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return refusal.Closed()
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "store_failed", "the store cannot be read")
	}
	r.Snapshot = &Snapshot{Btx: btx, Buckets: map[string]*bolt.Bucket{}, Key: make([]byte, 0, 64)}
	rs.Mu.Lock()
	defer rs.Mu.Unlock()
	rs.link(r)
	return nil
}

// beginIdle reuses an idle snapshot, or returns false if there is none. In any case it records the epoch, before a new snapshot is made,
// so that a snapshot older than its epoch is never kept.
func (rs *readers) beginIdle(r *Reader) bool {
	r.started = time.Since(rs.made)
	rs.Mu.Lock()
	defer rs.Mu.Unlock()
	r.epoch = rs.epoch
	n := len(rs.idle)
	if n == 0 {
		return false
	}
	r.Snapshot = rs.idle[n-1]
	rs.idle = rs.idle[:n-1]
	rs.link(r)
	return true
}

// age returns how long a reader has been open.
func (rs *readers) age(r *Reader) time.Duration { return time.Since(rs.made) - r.started }

// link appends a reader to the list.
func (rs *readers) link(r *Reader) {
	r.older = rs.newest
	if r.older != nil {
		r.older.newer = r
	} else {
		rs.Oldest = r
	}
	rs.newest = r
	rs.open++
	rs.arm(rs.deadline)
}

func (rs *readers) unlink(r *Reader) {
	if r.older != nil {
		r.older.newer = r.newer
	} else {
		rs.Oldest = r.newer
	}
	if r.newer != nil {
		r.newer.older = r.older
	} else {
		rs.newest = r.older
	}
	rs.open--
}

// end removes the reader from the list and keeps its snapshot for the next one, or gives it back.
func (rs *readers) end(r *Reader) {
	left := r.releaseSnapshot()
	rs.Mu.Lock()
	rs.unlink(r)
	if left != nil && rs.keep && r.epoch == rs.epoch && len(rs.idle) < maxIdle {
		rs.idle = append(rs.idle, left)
		left = nil
	}
	rs.Mu.Unlock()
	left.giveBack()
}

// releaseSnapshot takes the snapshot from the reader; nil if the deadline already has.
func (r *Reader) releaseSnapshot() *Snapshot {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.gone {
		return nil
	}
	r.gone = true
	return r.Snapshot
}

// Suspend is called before a write transaction begins, Resume after it has ended.
func (rs *readers) Suspend() {
	rs.Mu.Lock()
	defer rs.Mu.Unlock()
	rs.keep = false
	rs.epoch++
	rs.dropIdle()
}

func (rs *readers) Resume() {
	rs.Mu.Lock()
	defer rs.Mu.Unlock()
	rs.keep = !rs.closed
	rs.epoch++ // Views begun in between may see the state before
}

func (rs *readers) dropIdle() {
	for i, s := range rs.idle {
		s.giveBack()
		rs.idle[i] = nil
	}
	rs.idle = rs.idle[:0]
}

// arm starts the timer. It is not stopped when the last reader ends: it fires once more and does nothing.
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

// expire ends the readers past the deadline, and arms the timer for the next.
func (rs *readers) expire() {
	var old []*Reader
	rs.Mu.Lock()
	rs.armed = false
	for r := rs.Oldest; r != nil; r = r.newer {
		if left := rs.deadline - rs.age(r); left > 0 {
			rs.arm(left)
			break
		}
		old = append(old, r)
	}
	rs.Mu.Unlock()
	for _, r := range old {
		if left := r.releaseSnapshot(); left != nil {
			left.giveBack()
		}
	}
}

// close ends the idle snapshots, because closing the file would wait for them, and keeps no more.
func (rs *readers) close() {
	rs.Mu.Lock()
	defer rs.Mu.Unlock()
	rs.closed, rs.keep = true, false
	rs.dropIdle()
	if rs.timer != nil && rs.Oldest == nil {
		rs.timer.Stop()
	}
}
