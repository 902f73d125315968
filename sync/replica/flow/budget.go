package flow

import (
	"cmp"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// Budget limits what may wait for the cloud, and what is kept of sent writes. A zero field means its default.
type Budget struct {
	Bytes   int64         // size of the outbox; 0: 2 GiB
	Entries int64         // in the outbox; 0: 5,000,000
	Age     time.Duration // of its oldest entry, before a warning; 0: 14 days

	ReplayBytes int64         // of the replay log; 0: 256 MiB
	ReplayAge   time.Duration // of its oldest entry; 0: 72 h
}

// WithDefaults returns the budget with zero fields replaced by defaults.
func (b Budget) WithDefaults() Budget {
	b.Bytes = cmp.Or(b.Bytes, 2<<30)
	b.Entries = cmp.Or(b.Entries, 5_000_000)
	b.Age = cmp.Or(b.Age, 14*24*time.Hour)
	b.ReplayBytes = cmp.Or(b.ReplayBytes, 256<<20)
	b.ReplayAge = cmp.Or(b.ReplayAge, 72*time.Hour)
	return b
}

// Level says how full a budget is, and what follows.
type Level uint8

// The levels, with the fill level of the fullest budget at which each begins.
const (
	LevelOK          Level = iota
	LevelWarn              // 60 %: an operator should know
	LevelTight             // 80 %: the replay log is cut short
	LevelRebuildable       // 90 %: rebuildable writes are refused: state
	LevelCorrections       // 95 %: all writes are refused except deletes and those that shrink an item
	LevelReadOnly          // 98 %: all writes are refused
)

// String returns the level's name for status and metrics.
func (l Level) String() string {
	return [...]string{"ok", "warn", "tight", "rebuildable", "corrections", "readonly"}[min(l, LevelReadOnly)]
}

// MarshalText implements encoding.TextMarshaler: the name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. An unknown name, from a newer node, is the fullest level.
func (l *Level) UnmarshalText(name []byte) error {
	for *l = LevelOK; *l < LevelReadOnly && l.String() != string(name); {
		*l++
	}
	return nil
}

func levelOf(used float64) Level {
	level := LevelOK
	for i, share := range [...]float64{0.60, 0.80, 0.90, 0.95, 0.98} {
		if used >= share {
			level = Level(i + 1)
		}
	}
	return level
}

// Levels holds the fill levels that no transaction shows, as last measured, and counts refused writes.
type Levels struct {
	mu        sync.Mutex
	age       float64
	disk      float64
	conflicts float64
	refused   [LevelReadOnly + 1]uint64 // writes, by the level that refused them
	last      BudgetState
}

// BudgetState describes how full the budgets are.
type BudgetState struct {
	Level   Level   `json:"level"`
	Used    float64 `json:"used"`            // of the fullest budget; above 1 it is exceeded
	Which   string  `json:"which,omitempty"` // bytes, entries, disk, conflicts or age
	Refused uint64  `json:"-"`               // writes refused since the start
}

// State returns how full the budgets are with the given outbox. Age only warns: refusing writes makes none younger, and writes that have
// waited for weeks may belong to one table among many.
func (l *Levels) State(b Budget, entries, bytes int64) BudgetState {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := BudgetState{Which: "bytes", Used: float64(bytes) / float64(b.Bytes)}
	for _, other := range [...]struct {
		which string
		used  float64
	}{
		{"entries", float64(entries) / float64(b.Entries)}, {"disk", l.disk}, {"conflicts", l.conflicts},
	} {
		if other.used > s.Used {
			s.Which, s.Used = other.which, other.used
		}
	}
	s.Level = levelOf(s.Used)
	if aged := min(levelOf(l.age), LevelWarn); aged > s.Level {
		s.Which, s.Used, s.Level = "age", l.age, aged
	}
	for _, n := range l.refused {
		s.Refused += n
	}
	return s
}

// Room returns the level of those budgets that a shorter replay log relieves: all but the conflict log.
func (l *Levels) Room(b Budget, entries, bytes int64) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return levelOf(max(float64(bytes)/float64(b.Bytes), float64(entries)/float64(b.Entries), l.disk))
}

// Last returns the state at housekeeping's last check, at most seconds ago.
func (l *Levels) Last() BudgetState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Measure sets what no transaction shows: how long the oldest write has waited, and how full the disk and the conflict log are.
func (l *Levels) Measure(age, disk, conflicts float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.age, l.disk, l.conflicts = age, disk, conflicts
}

// Refuse counts a refused write and returns its error.
func (l *Levels) Refuse(s BudgetState) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[s.Level]++
	return &RefusedError{State: s}
}

// RefusedError refuses a write for lack of room. The Kind of its fault is Full if the disk is short, else Unavailable.
type RefusedError struct{ State BudgetState }

// RetryAfter returns when to try again: what waits must be sent first.
func (*RefusedError) RetryAfter() time.Duration { return 30 * time.Second }

// Error contains no figures; they are in the status.
func (e *RefusedError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the fault that the edges map.
func (e *RefusedError) Unwrap() error {
	switch e.State.Which {
	case "disk":
		return fault.New(fault.Full, "budget_disk", "the node's disk is too full for this write")
	case "conflicts":
		return fault.New(fault.Unavailable, "budget_conflicts", "too many conflicts are undecided; the node accepts no such write until they are decided")
	}
	return fault.New(fault.Unavailable, "budget_"+e.State.Which, "too many writes wait for the cloud; the node accepts no such write for now")
}

// Announce records the level announced last, and returns the one before.
func (l *Levels) Announce(s BudgetState) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.last.Level
	l.last = s
	return before
}

// RefusedAt says which writes a level refuses.
func RefusedAt(level Level) string {
	switch {
	case level >= LevelReadOnly:
		return "all writes are refused"
	case level >= LevelCorrections:
		return "all writes are refused, except deletes and those that do not grow an item"
	case level >= LevelRebuildable:
		return "writes of data that can be rebuilt are refused"
	}
	return "from 90 % on, writes are refused"
}

// Hindrance remembers the last hindrance for a while.
type Hindrance struct {
	mu  sync.Mutex
	why error // nil: none, or long ago
	at  time.Time
}

// SetPresent records the present hindrance, nil if none, and returns the one that counts.
func (h *Hindrance) SetPresent(why error, now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case why != nil:
		h.why, h.at = why, now
	case now.Sub(h.at) >= UsableAfter:
		h.why = nil
	}
	return h.why
}

// UsableAfter is how long the room and the tables must have been fine before the node works under locks again. Both improve as soon as
// the node does less: without a pause it would acquire and release its locks every few seconds, and other nodes would have to find out
// each time. It is a time, not a lower fill level, because a disk that stays between two levels would keep a node from work that it
// can do.
const UsableAfter = 2 * time.Minute
