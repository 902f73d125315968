package store

import (
	"errors"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/touchline/touchline/internal/fault"
)

// reader is one View. mu is held by every call on its Tx, so that the deadline takes the snapshot away between two
// calls and never from under one.
type reader struct {
	mu      sync.Mutex
	btx     *bolt.Tx
	started time.Time
	gone    bool // the snapshot was given back

	older, newer *reader
}

// readers is the list of open Views from oldest to newest, and one timer for all of them. The timer runs only while
// there are any.
type readers struct {
	deadline time.Duration

	mu             sync.Mutex
	oldest, newest *reader
	open           int
	expired        uint64 // ended by the deadline, ever
	armed          bool
	timer          *time.Timer
}

func newReaders(deadline time.Duration) *readers {
	return &readers{deadline: deadline}
}

func (rs *readers) begin(db *bolt.DB) (*reader, error) {
	btx, err := db.Begin(false)
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return nil, errClosed()
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "store_failed", "the store cannot be read")
	}
	r := &reader{btx: btx, started: time.Now()}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.older = rs.newest
	if r.older != nil {
		r.older.newer = r
	} else {
		rs.oldest = r
	}
	rs.newest = r
	rs.open++
	rs.arm(rs.deadline)
	return r, nil
}

func (rs *readers) end(r *reader) {
	rs.mu.Lock()
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
	rs.mu.Unlock()
	r.release()
}

// release gives the snapshot back, once.
func (r *reader) release() (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return false
	}
	r.gone = true
	_ = r.btx.Rollback() // fails only on a transaction that is over
	return true
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
		if left := rs.deadline - time.Since(r.started); left > 0 {
			rs.arm(left)
			break
		}
		old = append(old, r)
	}
	rs.mu.Unlock()
	for _, r := range old {
		if r.release() {
			rs.count()
		}
	}
}

func (rs *readers) count() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.expired++
}

func (rs *readers) close() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.timer != nil && rs.oldest == nil {
		rs.timer.Stop()
	}
}
