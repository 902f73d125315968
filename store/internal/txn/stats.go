package txn

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// IndexProgress is the progress of filling an index.
type IndexProgress struct {
	Table string `json:"table"`
	Index string `json:"index"`
	Items uint64 `json:"done"` // items of the table processed
}

// Dropped is a dropped table or index that is being emptied.
type Dropped struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"` // empty: the items of the table
}

// JournalStats is the range of sequence numbers in the journal.
type JournalStats struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Bytes uint64 `json:"-"`
}

// CommitStats describes the commits.
type CommitStats struct {
	Commits    uint64        `json:"-"`                 // commits that wrote something
	Members    uint64        `json:"-"`                 // transactions in them
	Shared     float64       `json:"members"`           // average number of transactions in a commit
	LastMillis float64       `json:"lastMillis"`        // duration of the last commit, with its trimming and reserving, without the turns
	MeanCommit time.Duration `json:"-"`                 // exponentially weighted, over the last ten or so
	Refused    uint64        `json:"refused"`           // commits refused for lack of space
	Warning    string        `json:"warning,omitempty"` // a problem that needs attention: writes find no space
}

// ChoreStats describes background work.
type ChoreStats struct {
	Swept    uint64          `json:"swept"`              // expired items deleted
	Filling  []IndexProgress `json:"filling,omitempty"`  // indexes that cannot be read yet
	Dropping []Dropped       `json:"dropping,omitempty"` // remains of dropped tables and indexes
	Verify   ScrubStats      `json:"verify"`
}

// ScrubStats is the result of the daily pass over all items, index entries and journal records.
type ScrubStats struct {
	Running bool      `json:"running"`
	Ended   time.Time `json:"ended,omitzero"`    // of the last complete pass since Open, by Options.Now
	Items   uint64    `json:"items"`             // in that pass
	Damaged uint64    `json:"damaged"`           // damaged items, index entries and journal records, in that pass or the running one
	Where   []string  `json:"where,omitempty"`   // where they are: "table", "table/index" or "journal"
	Refused uint64    `json:"refused,omitempty"` // reads and writes since Open that met a damaged item
}

// Stats are the figures that a node shows of its store. Counters start at Open. Fields with JSON names are in /statusz under these.
type Stats struct {
	Journal JournalStats
	CommitStats
	ChoreStats

	FileBytes    int64 // on disk
	OpenReaders  int
	OldestReader time.Duration // age; 0: no reader
	Waiting      int           // Updates waiting for their turn
	Held         time.Duration // duration of the current turn; 0: none
	LongTurns    uint64        // turns of more than 100 ms
}

// refusedOf is how long a refusal for lack of space is reported. Later writes show whether there is space again.
const refusedOf = time.Minute

// meter collects the statistics of commits.
type meter struct {
	LastWasFull atomic.Bool

	Mu     sync.Mutex
	stats  CommitStats
	long   uint64
	FullAt time.Time // real time of the last commit refused for lack of space; zero: none
}

func (m *meter) longTurn() {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.long++
}

func (m *meter) recordCommit(members int, took time.Duration) {
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
