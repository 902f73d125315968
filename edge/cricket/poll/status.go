package poll

import (
	"time"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// Status is how the polling goes, for the operator.
type Status struct {
	Polls         int64
	Unchanged     int64
	Failed        int64
	LastAt        time.Time // of the last good answer, by the node's clock
	LastUnchanged bool      // that answer was the one before
	LastError     string    // "" after a good answer
	Matches       []Held
}

// Held is a match under this node's eyes.
type Held struct {
	MatchID  string
	Fence    int64     // 0: observer
	Deadline time.Time // of the lease, real time
}

// Status tells how the polling goes.
func (p *Poller) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

func (p *Poller) note(now time.Time, r sportmonks.Reading, err error) {
	held := make([]Held, 0, len(p.watched))
	for id, w := range p.watched {
		h := Held{MatchID: id}
		if w.lease != nil {
			h.Fence, h.Deadline = w.lease.Fence(), w.lease.Deadline()
		}
		held = append(held, h)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Polls++
	p.status.Matches = held
	switch {
	case err != nil:
		p.status.Failed++
		p.status.LastError = err.Error()
		return
	case r.Unchanged:
		p.status.Unchanged++
	}
	p.status.LastAt, p.status.LastError, p.status.LastUnchanged = now, "", r.Unchanged
}
