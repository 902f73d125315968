package txn

import (
	"sync"
	"sync/atomic"
	"time"
)

// IndexProgress is how far the filling of an index has come.
type IndexProgress struct {
	Table string `json:"table"`
	Index string `json:"index"`
	Items uint64 `json:"done"` // of the table that were looked at
}

// DropProgress is how far the emptying of a dropped table or index has come.
type DropProgress struct {
	Table   string `json:"table"`
	Index   string `json:"index,omitempty"` // empty: the items of the table
	Removed uint64 `json:"done"`            // since Open
}

// Stats are what a node shows of its store. Counters run since Open.
type Stats struct {
	Commits     uint64        // that wrote
	Members     uint64        // transactions in them
	LastCommit  time.Duration // how long the last commit took, from the first byte on
	MeanCommit  time.Duration // exponentially weighted, the last ten or so
	Refused     uint64        // commits refused for lack of room
	LastRefused time.Time     // real time of the last of them; zero: none

	FileBytes    int64 // on disk
	UsedBytes    int64 // of these, below the high water mark
	JournalFirst uint64
	JournalLast  uint64
	JournalBytes uint64
	Cursors      map[string]uint64 // how far each reader of the journal has come

	Swept    uint64 // items deleted because their time was over
	Filling  []IndexProgress
	Dropping []DropProgress

	OpenReaders    int
	OldestReader   time.Duration // age; 0: none
	ExpiredReaders uint64        // Views ended by the deadline
	Waiting        int           // Updates that wait for their turn
	Held           time.Duration // how long the Update that has its turn has had it; 0: none has
	LongTurns      uint64        // Updates that had it for more than 100 ms
	LongestTurn    time.Duration // of these
}

// meter collects what Stats shows of the commits.
type meter struct {
	LastWasFull atomic.Bool

	Mu      sync.Mutex
	commits uint64
	members uint64
	refused uint64
	FullAt  time.Time
	took    time.Duration
	mean    time.Duration
	long    uint64
	longest time.Duration
}

func (m *meter) longTurn(held time.Duration) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.long++
	m.longest = max(m.longest, held)
}

func (m *meter) committed(members int, took time.Duration) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.commits++
	m.members += uint64(members)
	m.took = took
	if m.mean == 0 {
		m.mean = took
	}
	m.mean += (took - m.mean) / 10
}

func (m *meter) full() {
	m.LastWasFull.Store(true)
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.refused++
	m.FullAt = time.Now()
}

func (m *meter) Fill(st *Stats) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	st.Commits, st.Members, st.Refused, st.LastRefused = m.commits, m.members, m.refused, m.FullAt
	st.LongTurns, st.LongestTurn = m.long, m.longest
	st.LastCommit, st.MeanCommit = m.took, m.mean
}

// FillFromFile adds what only a transaction sees. On a store that is closed or cannot be read the rest stands.
func (s *DB) FillFromFile(st *Stats) {
	var r Reader
	if s.Readers.begin(&r, s.Bolt) != nil {
		return
	}
	defer s.Readers.end(&r)
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.gone { // the deadline has taken the snapshot away already
		return
	}
	st.UsedBytes = r.Btx.Size()
	st.Cursors = cursors(r.Btx)
}

func (rs *readers) Fill(st *Stats) {
	rs.Mu.Lock()
	defer rs.Mu.Unlock()
	st.OpenReaders, st.ExpiredReaders = rs.open, rs.expired
	if rs.Oldest != nil {
		st.OldestReader = rs.age(rs.Oldest)
	}
}
