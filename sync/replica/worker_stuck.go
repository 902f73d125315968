package replica

import (
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/backoff"
)

// stuck is an answered batch whose outcome cannot be stored for a reason of its own: its item cannot be read here, or its record cannot
// be made. It stays in the outbox, marked as sent. The answer is kept and storing it is retried. If the node restarts
// before that succeeds, the batch is sent again under its mark.
type stuck struct {
	*flight
	err   error
	again time.Time
}

func stuckWait() backoff.Policy {
	return backoff.Policy{Base: 5 * time.Second, Max: 10 * time.Minute, Floor: 5 * time.Second}
}

// setStuck removes a flight from those to be settled next.
func (l *worker) setStuck(f *flight, err error, now time.Time) {
	if f.stuck == 0 {
		l.r.log.Error("an answer cannot be settled", "seq", f.ID.Seq, "table", f.Table(), "result", f.outcome.Result, "error", err)
	}
	l.done = slices.DeleteFunc(l.done, func(other *flight) bool { return other == f })
	l.stuck = append(l.stuck, stuck{f, err, now.Add(stuckWait().Delay(f.stuck, l.r.float()))})
	f.stuck++
}

// tryStuck returns the batches that are due to those to be settled next.
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

// parkedBatch returns the batch's entry in the status.
func (s *stuck) parkedBatch() ParkedBatch {
	return ParkedBatch{Seq: s.ID.Seq, Table: s.Table(), Why: fmt.Sprintf("its answer cannot be stored: %v", s.err), Until: s.again}
}

// stuckBatches returns the number of the worker's stuck batches.
func (l *worker) stuckBatches() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept
}
