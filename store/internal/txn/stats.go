package txn

import (
	"fmt"
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

// JournalStats is the range of sequence numbers in the journal.
type JournalStats struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Bytes uint64 `json:"-"`
}

// CommitStats is how the commits go.
type CommitStats struct {
	Commits    uint64        `json:"-"`                 // that wrote
	Members    uint64        `json:"-"`                 // transactions in them
	Shared     float64       `json:"members"`           // transactions of one commit, on average
	LastMillis float64       `json:"lastMillis"`        // how long the last commit took, from the first byte on
	MeanCommit time.Duration `json:"-"`                 // exponentially weighted, the last ten or so
	Refused    uint64        `json:"refused"`           // commits refused for lack of room
	Warning    string        `json:"warning,omitempty"` // what a person should look at: there is no room
}

// ChoreStats is what is done that nobody waits for.
type ChoreStats struct {
	Swept    uint64          `json:"swept"`              // items deleted because their time was over
	Filling  []IndexProgress `json:"filling,omitempty"`  // indexes that cannot be read yet
	Dropping []DropProgress  `json:"dropping,omitempty"` // what is left of dropped tables and indexes
	Verify   ScrubStats      `json:"verify"`
}

// ScrubStats is what the daily pass over all items, index entries and journal records has found.
type ScrubStats struct {
	Running bool      `json:"running"`
	Ended   time.Time `json:"ended,omitzero"`    // of the last whole pass since Open, by Options.Now
	Items   uint64    `json:"items"`             // in that pass
	Damaged uint64    `json:"damaged"`           // items, index entries and journal records that are not what was written: by that pass, or the one that runs
	Where   []string  `json:"where,omitempty"`   // where these lie: "table", "table/index" or "journal"
	Refused uint64    `json:"refused,omitempty"` // reads and writes since Open that met a damaged item
}

// Stats are what a node shows of its store. Counters run since Open. What has JSON names is in /statusz under these.
type Stats struct {
	Journal JournalStats
	CommitStats
	ChoreStats

	FileBytes    int64 // on disk
	OpenReaders  int
	OldestReader time.Duration // age; 0: none
	Waiting      int           // Updates that wait for their turn
	Held         time.Duration // how long the Update that has its turn has had it; 0: none has
	LongTurns    uint64        // Updates that had it for more than 100 ms
}

// refusedOf is how long a write that found no room is held against the store: whether there is some again is known from
// the next ones.
const refusedOf = time.Minute

// meter collects what Stats shows of the commits.
type meter struct {
	LastWasFull atomic.Bool

	Mu     sync.Mutex
	stats  CommitStats
	long   uint64
	FullAt time.Time // real time of the last commit that was refused; zero: none
}

func (m *meter) longTurn() {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.long++
}

func (m *meter) committed(members int, took time.Duration) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	st := &m.stats
	st.Commits++
	st.Members += uint64(members)
	st.Shared = float64(st.Members) / float64(st.Commits)
	st.LastMillis = float64(took.Microseconds()) / 1000
	if st.MeanCommit == 0 {
		st.MeanCommit = took
	}
	st.MeanCommit += (took - st.MeanCommit) / 10
}

func (m *meter) full() {
	m.LastWasFull.Store(true)
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.stats.Refused++
	m.FullAt = time.Now()
}

func (m *meter) Fill(st *Stats) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	st.CommitStats, st.LongTurns = m.stats, m.long
	if !m.FullAt.IsZero() && time.Since(m.FullAt) < refusedOf {
		st.Warning = fmt.Sprintf("there is no room for writes, the last was refused at %s UTC (%d since the start); existing data is still served",
			m.FullAt.UTC().Format(time.TimeOnly), st.Refused)
	}
}

func (rs *readers) Fill(st *Stats) {
	rs.Mu.Lock()
	defer rs.Mu.Unlock()
	st.OpenReaders = rs.open
	if rs.Oldest != nil {
		st.OldestReader = rs.age(rs.Oldest)
	}
}
