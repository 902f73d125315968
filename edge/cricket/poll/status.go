package poll

import (
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
)

// Status is how the polling goes, for the operator.
type Status struct {
	Polls         int64     `json:"polls"` // of the live list
	Unchanged     int64     `json:"unchanged"`
	Failed        int64     `json:"failed"`
	LastAt        time.Time `json:"lastAt,omitzero"`     // of the last good answer, by the node's clock
	LastUnchanged bool      `json:"-"`                   // that answer was the one before
	ReadAt        time.Time `json:"-"`                   // of the last good answer about a match in play, of the list or of a match by itself
	LastError     string    `json:"lastError,omitempty"` // "" after a good answer

	Leading    bool     `json:"leading"`                 // this node has the first seat: it finds and registers matches
	Seat       int      `json:"seat"`                    // of this node, from 1; 0: none
	Nodes      []string `json:"nodes,omitempty"`         // that poll, this one among them
	Observing  bool     `json:"observing"`               // the locks cannot be reached: what is read is for this node's own readers
	Observed   int64    `json:"-"`                       // readings taken in like that
	GivenAway  int64    `json:"-"`                       // matches left to nodes that came later
	Takeovers  int64    `json:"takeovers"`               // matches taken from nodes that had fallen silent
	FinalReads int64    `json:"finalReads"`              // readings for the end of a match
	Cached     int64    `json:"cached"`                  // replies written to the fixture cache
	TooBig     int64    `json:"tooBig"`                  // replies that had no room there
	Marquee    int64    `json:"marqueeLeague,omitempty"` // the league that is watched closely, 0: none

	Matches []Held                                    `json:"-"`
	Jobs    []JobStatus                               `json:"jobs"` // by name
	Budgets map[sportmonks.Endpoint]sportmonks.Budget `json:"-"`
	Health  map[sportmonks.Endpoint]sportmonks.Health `json:"-"`
}

// Inconsistent counts the matches whose score and balls disagree in the last readings.
func (s *Status) Inconsistent() (n int) {
	for i := range s.Matches {
		if s.Matches[i].Inconsistent > 0 {
			n++
		}
	}
	return n
}

// Held is a match under this node's eyes.
type Held struct {
	MatchID      string              `json:"-"`
	Fence        int64               `json:"-"` // 0: observer
	Deadline     time.Time           `json:"-"` // of the lease, real time
	Owner        string              `json:"-"` // the node that ticked it last
	Status       string              `json:"-"` // idle, live, or ended while its last reads are not done
	Phase        cricket.Phase       `json:"-"`
	LastTickAt   time.Time           `json:"-"`
	Listed       bool                `json:"listed"`          // the live list has it
	Closely      bool                `json:"closely"`         // its balls are asked for
	From         sportmonks.Endpoint `json:"from,omitempty"`  // that this node reads it from; empty: another node does
	Next         time.Time           `json:"nextAt,omitzero"` // when it is read next; zero: with news
	StandIn      bool                `json:"standIn"`         // the live list is left alone, and it is read by itself
	Inconsistent int                 `json:"-"`               // readings in a row whose score and balls disagree: from six on it is told as it is
}

// JobStatus is how a job goes.
type JobStatus struct {
	Name      string    `json:"name"`
	Runs      int64     `json:"runs"`
	Failed    int64     `json:"failed"`
	LastRun   time.Time `json:"lastRunAt,omitzero"`
	LastError string    `json:"lastError,omitempty"` // "" after a good run
	NextRun   time.Time `json:"nextRunAt,omitzero"`  // zero: it has nothing to do for now
}

// Status reports how the polling goes.
func (p *Poller) Status() Status {
	var budgets map[sportmonks.Endpoint]sportmonks.Budget
	var health map[sportmonks.Endpoint]sportmonks.Health
	if p.Budgets != nil {
		budgets, health = p.Budgets.Budgets(), p.Budgets.Health()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	s.Matches, s.Nodes = slices.Clone(s.Matches), slices.Clone(s.Nodes)
	s.Budgets, s.Health, s.Marquee = budgets, health, p.names.marquee
	for _, name := range slices.Sorted(maps.Keys(p.jobs)) {
		s.Jobs = append(s.Jobs, p.jobs[name])
	}
	for i := range s.Matches {
		m := &s.Matches[i]
		switch {
		case m.From != sportmonks.Livescores:
		case m.Closely:
			m.Next = p.jobs["marquee"].NextRun
		default:
			m.Next = p.jobs["score"].NextRun
		}
	}
	return s
}

func (p *Poller) count(f func(*Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.status)
}

// note counts an answer of the live list.
func (p *Poller) note(now time.Time, r sportmonks.Reading, err error) {
	p.count(func(s *Status) {
		s.Polls++
		switch {
		case err != nil:
			s.Failed++
			s.LastError = err.Error()
			return
		case r.Unchanged:
			s.Unchanged++
		}
		s.LastAt, s.LastError, s.LastUnchanged, s.ReadAt = now, "", r.Unchanged, now
	})
}

// show ends a round of the live loop.
func (p *Poller) show() {
	p.publish()
	p.keepKept()
}

// publish shows the matches of the live loop to others.
func (p *Poller) publish() {
	held := make([]Held, 0, len(p.watched))
	for _, w := range p.sorted() {
		h := Held{
			MatchID: w.id, Owner: w.state.InstanceID, Status: w.state.Status, Phase: w.state.MatchPhase,
			LastTickAt: w.state.LastTickAt, Listed: w.listed, Closely: w.listed && p.closely(w),
			Inconsistent: w.standing().Inconsistent,
		}
		h.From, h.Next = p.readFrom(w)
		h.StandIn = h.From == sportmonks.Fixture && p.isStandIn(w)
		if w.touched.After(h.LastTickAt) {
			h.LastTickAt = w.touched
		}
		if w.lease != nil {
			h.Fence, h.Deadline = w.lease.Fence(), w.lease.Deadline()
		}
		held = append(held, h)
	}
	p.count(func(s *Status) {
		s.Matches, s.Leading, s.Seat, s.Nodes, s.Observing = held, p.slot.leads(), 0, p.slot.nodes, p.observing
		if p.slot.lease != nil {
			s.Seat = p.slot.no + 1
		}
	})
}

// forget has the status say that nothing is watched any more. The leases go back when their manager ends.
func (p *Poller) forget() {
	p.count(func(s *Status) { s.Matches, s.Leading, s.Seat, s.Nodes, s.Observing = nil, false, 0, nil, false })
}
