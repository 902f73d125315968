package replica

import (
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/backoff"
)

// stuck is a batch that was answered, and whose outcome cannot be stored for a reason of its own: what lies here of its item
// cannot be read, or a record cannot be made. It stays in the outbox, marked as sent; what the cloud said is kept, and tried
// again. When the node starts anew before that works it is sent again, under its mark.
type stuck struct {
	*flight
	err   error
	again time.Time
}

func stuckWait() backoff.Policy {
	return backoff.Policy{Base: 5 * time.Second, Max: 10 * time.Minute, Floor: 5 * time.Second}
}

// setStuck takes a flight out of those that are settled next.
func (l *worker) setStuck(f *flight, err error, now time.Time) {
	if f.stuck == 0 {
		l.r.log.Error("an answer cannot be settled", "seq", f.ID.Seq, "table", f.Table(), "result", f.outcome.Result, "error", err)
	}
	l.done = slices.DeleteFunc(l.done, func(other *flight) bool { return other == f })
	l.stuck = append(l.stuck, stuck{f, err, now.Add(stuckWait().Delay(f.stuck, l.r.float()))})
	f.stuck++
}

// tryStuck has those whose time has come be settled with the next.
func (l *worker) tryStuck(now time.Time) {
	l.stuck = slices.DeleteFunc(l.stuck, func(s stuck) bool {
		if s.again.After(now) {
			return false
		}
		if len(l.done) == 0 {
			l.oldest = now
		}
		l.done = append(l.done, s.flight)
		return true
	})
}

// shown is how the status tells of it.
func (s *stuck) shown() LaneUnit {
	return LaneUnit{Seq: s.ID.Seq, Table: s.Table(), Why: fmt.Sprintf("its answer cannot be kept here: %v", s.err), Until: s.again}
}

// stuckUnits counts those of the lane.
func (l *worker) stuckUnits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept
}
