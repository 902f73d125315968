package flow

import (
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Link tracks whether the cloud can be reached. While it cannot, single probes are made and all workers sleep; when it can again, one
// worker sends, then two, then four.
type Link struct {
	mu        sync.Mutex
	rand      func() float64
	workers   int
	up        bool // connected; false before the first connect
	ever      bool // connected at least once since the start
	allowed   int  // requests that may be on their way at once
	good      int  // answers since allowed was raised
	busy      int
	queue     []*clock.Signal // of waiting workers, in order
	tries     int
	next      time.Time // of the next probe
	since     time.Time // when it went away; zero: never connected
	cameUp    time.Time // when it was last connected; zero: never
	last      string    // the latest error
	lastAt    time.Time
	asleep    []*clock.Signal // of those who wait for the cloud
	fault     *Fault          // of the latest connect; nil: it succeeded, or there was none
	announced bool            // the absence and its reason have been announced
	drops     uint64

	line    line
	heard   time.Time // when the cloud last answered, or came back
	unheard int       // requests in a row without an answer
	doubt   bool      // nobody knows whether the cloud is still there
}

// probeWait returns the pause before the next probe of a cloud that has been away for some time. It follows that time and not the number of
// probes: after a cut of ten seconds a node should be back within a few.
func probeWait(away time.Duration, random float64) time.Duration {
	p := backoff.Policy{Base: min(max(away/4, time.Second), probeMost), Max: probeMost, Floor: 250 * time.Millisecond}
	return p.Delay(0, random)
}

const probeMost = 30 * time.Second

// NewLink returns the state of a connection over which the given number of workers may send at once.
func NewLink(workers int, rand func() float64) *Link {
	return &Link{workers: workers, rand: rand}
}

// Enter asks for permission to send a request. If it is refused, sig is set when it makes sense to ask again.
func (n *Link) Enter(sig *clock.Signal) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case !n.up:
		n.asleep = appendOnce(n.asleep, sig)
		return false
	case n.busy >= n.allowed:
		n.queue = appendOnce(n.queue, sig)
		return false
	}
	n.queue = slices.DeleteFunc(n.queue, func(waits *clock.Signal) bool { return waits == sig }) // it leaves the queue, so that its turn goes to one that sleeps
	n.busy++
	return true
}

func appendOnce(list []*clock.Signal, sig *clock.Signal) []*clock.Signal {
	if slices.Contains(list, sig) {
		return list
	}
	return append(list, sig)
}

// ReleasePermission gives the permission back. answered reports whether the cloud answered at all.
func (n *Link) ReleasePermission(answered bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy--
	if answered && n.up && n.allowed < n.workers {
		if n.good++; n.good >= n.allowed { // a full round of answers: allow twice as many
			n.allowed, n.good = min(2*n.allowed, n.workers), 0
		}
	}
	for free := n.allowed - n.busy; free > 0 && len(n.queue) > 0; free-- {
		n.queue[0].Set()
		n.queue = n.queue[1:]
	}
}

// RecordLoss records that the cloud cannot be reached, and reports whether that is new.
func (n *Link) RecordLoss(why string, now time.Time) (news bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last, n.lastAt = why, now
	if !n.up && n.tries > 0 {
		return false
	}
	n.goAway(now)
	return true
}

// goAway records that the cloud is away. The caller holds the lock.
func (n *Link) goAway(now time.Time) {
	if n.up {
		n.drops++
		n.announced = true
	}
	n.up, n.since, n.tries = false, now, 0
	n.unheard, n.doubt = 0, false
	n.schedule(now)
}

// schedule sets the next probe. The caller holds the lock.
func (n *Link) schedule(now time.Time) {
	n.next = now.Add(probeWait(now.Sub(n.since), n.rand()))
	n.tries++
	for _, sig := range n.queue { // they wait for the cloud now
		n.asleep = appendOnce(n.asleep, sig)
	}
	n.queue = nil
}

// Begin schedules the first probe for now.
func (n *Link) Begin(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up, n.next, n.busy = false, now, 0
}

// ProbeAt returns when to probe next, if the cloud cannot be reached.
func (n *Link) ProbeAt() (at time.Time, away bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.next, !n.up
}

// RecordProbe records the outcome of a probe. An empty why means that the cloud answered, and wakes the sleepers.
func (n *Link) RecordProbe(why string, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if why != "" {
		n.last, n.lastAt = why, now
		if n.since.IsZero() {
			n.since = now
		}
		n.schedule(now)
		return
	}
	n.up, n.ever, n.allowed, n.good, n.tries = true, true, 1, 0, 0
	n.since, n.fault, n.announced = time.Time{}, nil, false
	n.cameUp = now
	n.heard, n.unheard, n.doubt = now, 0, false
	for _, sig := range n.asleep {
		sig.Set()
	}
	n.asleep = nil
}

// RecordRefusal records a failed probe and its reason, and reports whether the reason is new.
func (n *Link) RecordRefusal(f Fault, text string, now time.Time) (news bool) {
	n.RecordProbe(text, now)
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.fault
	n.fault = &f
	news = !n.announced || before == nil && f.Stands() || before != nil && before.Why != f.Why
	n.announced = true
	return news
}

// Online reports whether the cloud was reachable at the last attempt.
func (n *Link) Online() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up
}

// OnlineSince returns since when the cloud has been reachable; false: it is not.
func (n *Link) OnlineSince() (since time.Time, online bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cameUp, n.up
}

// WhenOnline is for loops that only need the cloud. It returns true, or returns false and sets sig once the cloud is reachable.
func (n *Link) WhenOnline(sig *clock.Signal) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.up {
		n.asleep = appendOnce(n.asleep, sig)
	}
	return n.up
}

// LinkState describes the connection to the cloud.
type LinkState struct {
	Up          bool      `json:"-"`
	Away        time.Time `json:"-"`                   // since when it is not up; zero: not asked yet
	Reached     bool      `json:"reached,omitempty"`   // since the start, so that the cloud's clock is known
	LastError   string    `json:"lastError,omitempty"` // the latest, without secrets
	LastErrorAt time.Time `json:"lastErrorAt,omitzero"`
	Drops       uint64    `json:"-"` // how often it went away
	LostShare   float64   `json:"-"` // share of the requests of the last two minutes that were never answered

	Why string `json:"-"` // what is wrong, if a person must act before the cloud is back; else ""
	Do  string `json:"-"` // what to do about it
}

// State returns the state of the connection.
func (n *Link) State(now time.Time) LinkState {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := LinkState{Up: n.up, Away: n.since, Reached: n.ever, LastError: n.last, LastErrorAt: n.lastAt, Drops: n.drops}
	if n.up {
		s.LostShare = n.line.lostShare(now)
	}
	if !n.up && n.fault != nil && n.fault.Stands() {
		s.Why, s.Do = n.fault.Why, n.fault.Do
	}
	return s
}

// Fault explains to people why there is no connection to the cloud.
type Fault struct {
	Class intent.Class
	Why   string // a part of a sentence
	Do    string // likewise: the remedy; "": none needed, it is retried
}

// Stands reports whether a person has to act before the connection can come back.
func (f *Fault) Stands() bool { return f.Do != "" }
