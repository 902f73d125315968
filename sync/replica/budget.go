package replica

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Budget bounds what may wait for the cloud, and what is kept of what has been sent. A zero field has its default.
type Budget struct {
	Bytes   int64         // of the outbox; 0: 2 GiB
	Entries int64         // in it; 0: 5,000,000
	Age     time.Duration // of the oldest of them, before a person is warned; 0: 14 days

	ReplayBytes int64         // of the replay log; 0: 256 MiB
	ReplayAge   time.Duration // of its oldest entry; 0: 72 h
}

func (b Budget) withDefaults() Budget {
	b.Bytes = orElse(b.Bytes, 2<<30)
	b.Entries = orElse(b.Entries, 5_000_000)
	b.Age = orElse(b.Age, 14*24*time.Hour)
	b.ReplayBytes = orElse(b.ReplayBytes, 256<<20)
	b.ReplayAge = orElse(b.ReplayAge, 72*time.Hour)
	return b
}

// orElse returns n, or what stands for 0.
func orElse[N comparable](n, byDefault N) N {
	var none N
	if n == none {
		return byDefault
	}
	return n
}

// Level is how far a budget is used up, and what follows from it.
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

// levels know the budgets that no transaction shows, as of the last look, and count who was refused.
type levels struct {
	mu        sync.Mutex
	age       float64
	disk      float64
	conflicts float64
	refused   [LevelReadOnly + 1]uint64 // writes, by the level that refused them
	last      BudgetState
}

// BudgetState is how the budgets stand.
type BudgetState struct {
	Level   Level   `json:"level"`
	Used    float64 `json:"used"`            // of the fullest budget; above 1 there is more than it allows
	Which   string  `json:"which,omitempty"` // bytes, entries, disk, conflicts or age
	Refused uint64  `json:"-"`               // writes, since the start
}

// state is how the budgets stand with that much in the outbox. Age warns and refuses nothing: refusing makes no write younger,
// and what the cloud has not taken for weeks may be one table of many.
func (l *levels) state(b Budget, n count) BudgetState {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := BudgetState{Which: "bytes", Used: float64(n.bytes) / float64(b.Bytes)}
	for _, other := range [...]struct {
		which string
		used  float64
	}{
		{"entries", float64(n.entries) / float64(b.Entries)}, {"disk", l.disk}, {"conflicts", l.conflicts},
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

// room is how far the budgets are used up that less in the replay log helps: it makes no conflict decided.
func (l *levels) room(b Budget, n count) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return levelOf(max(float64(n.bytes)/float64(b.Bytes), float64(n.entries)/float64(b.Entries), l.disk))
}

// seenLast is how the budgets stood at the housekeeping's last look, seconds ago at most.
func (l *levels) seenLast() BudgetState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// look takes what no transaction shows: how long the oldest write waits, and how full the disk and the log of conflicts are.
func (l *levels) look(age, disk, conflicts float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.age, l.disk, l.conflicts = age, disk, conflicts
}

// admit refuses writes that the budgets have no room for. What is refused here is refused to whoever writes, before
// anything is journaled: nothing is accepted and dropped.
func (r *Replica) admit(tx *store.Tx, writes []store.Write) error {
	all, err := readCounts(tx)
	if err != nil {
		return err
	}
	s := r.levels.state(r.cfg.Budget, all.total())
	if s.Level < LevelRebuildable {
		return nil
	}
	for i := range writes {
		if w := &writes[i]; w.Sends && w.Seq != 0 && !admitted(s.Level, w) {
			r.levels.mu.Lock()
			r.levels.refused[s.Level]++
			r.levels.mu.Unlock()
			return &RefusedError{State: s}
		}
	}
	return nil
}

// admitted reports whether a write may still be taken at a level.
func admitted(level Level, w *store.Write) bool {
	switch {
	case level < LevelRebuildable:
		return true
	case level < LevelCorrections:
		return w.Spec.Policy != store.PolicyState
	case level < LevelReadOnly:
		return w.Op == store.OpDelete || w.Old != nil && len(w.New) <= len(w.Old)
	}
	return false
}

// Refusing says what is refused just now because of what waits for the cloud; empty: nothing.
func (r *Replica) Refusing(ctx context.Context) (what string, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		all, err := readCounts(tx)
		if s := r.levels.state(r.cfg.Budget, all.total()); err == nil && s.Level >= LevelRebuildable {
			what = fmt.Sprintf("the queue for the cloud is %.0f %% full (%s): %s", 100*s.Used, s.Which, refusedAt(s.Level))
		}
		return err
	})
	return what, err
}

// RefusedError refuses a write for want of room. The Kind of its fault is Full where the disk is short, else Unavailable.
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
