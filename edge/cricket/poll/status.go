package poll

import (
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
)

// Status is the state of polling, for the operator.
type Status struct {
	Polls         int64     `json:"polls"` // of the live list
	Unchanged     int64     `json:"unchanged"`
	Failed        int64     `json:"failed"`
	LastAt        time.Time `json:"lastAt,omitzero"`     // of the last good answer, by the node's clock
	LastUnchanged bool      `json:"-"`                   // that answer equalled the previous one
	ReadAt        time.Time `json:"-"`                   // of the last good answer about a match in play, from the list or single
	LastError     string    `json:"lastError,omitempty"` // "" after a good answer

	Leading    bool     `json:"leading"`                 // this node has the first slot: it finds and registers matches
	Seat       int      `json:"seat"`                    // this node's slot, from 1; 0: none
	Nodes      []string `json:"nodes,omitempty"`         // the polling nodes, including this one
	Observing  bool     `json:"observing"`               // the locks cannot be reached: answers are for this node's own readers
	Observed   int64    `json:"-"`                       // answers observed in this way
	GivenAway  int64    `json:"-"`                       // matches handed over to nodes that joined later
	Takeovers  int64    `json:"takeovers"`               // matches taken over from silent nodes
	FinalReads int64    `json:"finalReads"`              // reads for the end of a match
	Cached     int64    `json:"cached"`                  // replies written to the fixture cache
	TooBig     int64    `json:"tooBig"`                  // replies too large for it
	Marquee    int64    `json:"marqueeLeague,omitempty"` // the closely watched league, 0: none

	Matches []Held                                    `json:"-"`
	Jobs    []JobStatus                               `json:"jobs"` // by name
	Budgets map[sportmonks.Endpoint]sportmonks.Budget `json:"-"`
	Health  map[sportmonks.Endpoint]sportmonks.Health `json:"-"`
}

// Inconsistent returns the number of matches whose score and balls disagree in the last snapshots.
func (s *Status) Inconsistent() (n int) {
	for i := range s.Matches {
		if s.Matches[i].Inconsistent > 0 {
			n++
		}
	}
	return n
}

// Held is a match that this node watches.
type Held struct {
	MatchID      string              `json:"-"`
	Fence        int64               `json:"-"` // 0: observer
	Deadline     time.Time           `json:"-"` // of the lease, real time
	Owner        string              `json:"-"` // the node that last ticked it
	Status       string              `json:"-"` // idle, live, or ended while final reads are to come
	Phase        cricket.Phase       `json:"-"`
	LastTickAt   time.Time           `json:"-"`
	SilentSince  time.Time           `json:"-"`               // since when nobody has been seen to poll it, by this node's own clock
	Listed       bool                `json:"listed"`          // it is in the live list
	Closely      bool                `json:"closely"`         // its balls are requested
	From         sportmonks.Endpoint `json:"from,omitempty"`  // the endpoint this node reads it from; empty: another node reads it
	Next         time.Time           `json:"nextAt,omitzero"` // when it is read next; zero: on news
	StandIn      bool                `json:"standIn"`         // the live list is resting, so it is requested singly
	Unlisted     cricket.Status      `json:"-"`               // its status, if the feed's documents do not have it
	Stale        int                 `json:"-"`               // alerts dropped as old news since the last one
	Inconsistent int                 `json:"-"`               // consecutive snapshots whose score and balls disagree: after six they are used as they are
}

// JobStatus is the state of a job.
type JobStatus struct {
	Name      string    `json:"name"`
	Runs      int64     `json:"runs"`
	Failed    int64     `json:"failed"`
	LastRun   time.Time `json:"lastRunAt,omitzero"`
	LastError string    `json:"lastError,omitempty"` // "" after a good run
	NextRun   time.Time `json:"nextRunAt,omitzero"`  // zero: nothing to do for now
}

// Status returns the state of polling.
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
	s.LastAt, s.ReadAt = clock.WallAt(p.Clock, s.LastAt), clock.WallAt(p.Clock, s.ReadAt)
	for _, name := range slices.Sorted(maps.Keys(p.jobs)) {
		j := p.jobs[name]
		j.LastRun, j.NextRun = clock.WallAt(p.Clock, j.LastRun), clock.WallAt(p.Clock, j.NextRun)
		s.Jobs = append(s.Jobs, j)
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
		m.Next = clock.WallAt(p.Clock, m.Next)
		m.SilentSince = clock.WallAt(p.Clock, m.SilentSince)
	}
	return s
}

func (p *Poller) count(f func(*Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.status)
}

// countAnswer counts an answer of the live list.
func (p *Poller) countAnswer(now time.Time, r sportmonks.Reading, err error) {
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

// publish copies the state of the watched matches to the status, after each round of the live loop.
func (p *Poller) publish() {
	held := make([]Held, 0, len(p.watched))
	for _, w := range p.sorted() {
		h := Held{
			MatchID: w.id, Owner: w.state.InstanceID, Status: w.state.Status, Phase: w.state.MatchPhase,
			LastTickAt: w.state.LastTickAt, Listed: w.listed, Closely: w.listed && p.closely(w),
			Inconsistent: w.standing().Inconsistent, Stale: w.standing().Stale,
		}
		if status := w.standing().PreviousStatus; status != "" && !status.IsListed() {
			h.Unlisted = status
		}
		h.From, h.Next = p.readFrom(w)
		h.StandIn = h.From == sportmonks.Fixture && p.isStandIn(w)
		h.SilentSince = w.silentSince()
		if touched := clock.WallAt(p.Clock, w.touched); touched.After(h.LastTickAt) {
			h.LastTickAt = touched
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

// forget clears the status of watched matches. Their leases are released when the lease manager ends.
func (p *Poller) forget() {
	p.count(func(s *Status) { s.Matches, s.Leading, s.Seat, s.Nodes, s.Observing = nil, false, 0, nil, false })
}
