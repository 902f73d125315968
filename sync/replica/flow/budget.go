package flow

import (
	"cmp"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// Budget limits what may wait for the cloud, and what is kept of sent writes. A zero field has its default.
type Budget struct {
	Bytes   int64         // of the outbox; 0: 2 GiB
	Entries int64         // in it; 0: 5,000,000
	Age     time.Duration // of the oldest of them, before a person is warned; 0: 14 days

	ReplayBytes int64         // of the replay log; 0: 256 MiB
	ReplayAge   time.Duration // of its oldest entry; 0: 72 h
}

// WithDefaults returns the budget with each zero field as its default.
func (b Budget) WithDefaults() Budget {
	b.Bytes = cmp.Or(b.Bytes, 2<<30)
	b.Entries = cmp.Or(b.Entries, 5_000_000)
	b.Age = cmp.Or(b.Age, 14*24*time.Hour)
	b.ReplayBytes = cmp.Or(b.ReplayBytes, 256<<20)
	b.ReplayAge = cmp.Or(b.ReplayAge, 72*time.Hour)
	return b
}

// Level says how full a budget is, and what follows from it.
type Level uint8

// The levels, with the share of the fullest budget at which they begin.
const (
	LevelOK          Level = iota
	LevelWarn              // 60 %: somebody should know
	LevelTight             // 80 %: the replay log is cut short
	LevelRebuildable       // 90 %: what is rebuildable is refused: state
	LevelCorrections       // 95 %: all is refused but deletes and what makes items smaller
	LevelReadOnly          // 98 %: all is refused
)

// String is the level's name in status and metrics.
func (l Level) String() string {
	return [...]string{"ok", "warn", "tight", "rebuildable", "corrections", "readonly"}[min(l, LevelReadOnly)]
}

// MarshalText implements encoding.TextMarshaler: the name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. A name that a newer node has is the fullest level.
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

// Levels holds the fill levels that no transaction shows, as of the last measurement, and counts refused writes.
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
	Used    float64 `json:"used"`            // of the fullest budget; above 1 there is more than it allows
	Which   string  `json:"which,omitempty"` // bytes, entries, disk, conflicts or age
	Refused uint64  `json:"-"`               // writes, since the start
}

// State returns how full the budgets are with that much in the outbox. Age only warns and refuses nothing: refusing makes no
// write younger, and writes that have waited for weeks may be of one table among many.
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

// Room is how far the budgets are used up that less in the replay log helps: it makes no conflict decided.
func (l *Levels) Room(b Budget, entries, bytes int64) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return levelOf(max(float64(bytes)/float64(b.Bytes), float64(entries)/float64(b.Entries), l.disk))
}

// Last returns the state at housekeeping's last look, at most seconds ago.
func (l *Levels) Last() BudgetState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Measure sets what no transaction shows: how long the oldest write has waited, and how full the disk and the conflict log
// are.
func (l *Levels) Measure(age, disk, conflicts float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.age, l.disk, l.conflicts = age, disk, conflicts
}

// Refuse counts a write that is refused, and returns its error.
func (l *Levels) Refuse(s BudgetState) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[s.Level]++
	return &RefusedError{State: s}
}

// RefusedError refuses a write for lack of room. The Kind of its fault is Full if the disk is short, else Unavailable.
type RefusedError struct{ State BudgetState }

// RetryAfter is when to try again: what waits has to be sent first.
func (*RefusedError) RetryAfter() time.Duration { return 30 * time.Second }

// Error has no numbers: they are in the status.
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

// Announce notes the level that was told last, and returns the one before.
func (l *Levels) Announce(s BudgetState) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.last.Level
	l.last = s
	return before
}

// RefusedAt says which writes are refused at a level.
func RefusedAt(level Level) string {
	switch {
	case level >= LevelReadOnly:
		return "all writes are refused"
	case level >= LevelCorrections:
		return "all writes are refused, except deletes and those that do not grow an item"
	case level >= LevelRebuildable:
		return "writes of data that can be rebuilt are refused"
	}
	return "at 90 % writes begin to be refused"
}

// Hindered remembers the last hindrance for a while.
type Hindered struct {
	mu  sync.Mutex
	why error // nil: none, or long ago
	at  time.Time
}

// Noted notes what there is now, nil if nothing, and gives what counts.
func (h *Hindered) Noted(why error, now time.Time) error {
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

// UsableAfter is how long the room and the tables must have been all right before it does that again. Both are better as
// soon as the node does less: without a pause it would take its locks and give them back every few seconds, and each
// time the others would have to find out. By the time alone, and not by a lower share of the room: a disk that stays
// between the two would keep a node from work that it can do.
const UsableAfter = 2 * time.Minute
