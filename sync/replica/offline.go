package replica

import (
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/internal/clock"
)

// network knows whether the cloud can be reached. As long as it cannot, one probe goes now and then and everybody else
// sleeps; when it can again, one lane sends, then two, then four.
type network struct {
	mu      sync.Mutex
	rand    func() float64
	lanes   int
	up      bool // connected; not before the first connect
	ever    bool // it was connected since the start
	allowed int  // requests that may be on their way
	good    int  // answers since allowed was raised
	busy    int
	queue   []*clock.Signal // of those who wait for their turn, in order
	tries   int
	next    time.Time // of the next probe
	since   time.Time // it went away; zero: it never was there
	last    string    // the latest error
	lastAt  time.Time
	asleep  []*clock.Signal // of those who wait for the cloud to be there
	fault   *linkFault      // of the latest connect; nil: it succeeded, or there was none
	told    bool            // somebody has been told that the cloud is away, and why
	drops   uint64
}

func probeWait() backoff.Policy {
	return backoff.Policy{Base: time.Second, Max: 30 * time.Second, Floor: 250 * time.Millisecond}
}

func newNetwork(lanes int, rand func() float64) *network {
	return &network{lanes: lanes, rand: rand}
}

// enter asks for the right to have a request on its way. Without it sig is set when it makes sense to ask again.
func (n *network) enter(sig *clock.Signal) bool {
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
	n.queue = slices.DeleteFunc(n.queue, func(waits *clock.Signal) bool { return waits == sig }) // its turn is for one that sleeps
	n.busy++
	return true
}

func appendOnce(list []*clock.Signal, sig *clock.Signal) []*clock.Signal {
	if slices.Contains(list, sig) {
		return list
	}
	return append(list, sig)
}

// leave gives the right back. answered: the cloud has said something, whatever it was.
func (n *network) leave(answered bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy--
	if answered && n.up && n.allowed < n.lanes {
		if n.good++; n.good >= n.allowed { // a round of all that may: twice as many
			n.allowed, n.good = min(2*n.allowed, n.lanes), 0
		}
	}
	for free := n.allowed - n.busy; free > 0 && len(n.queue) > 0; free-- {
		n.queue[0].Set()
		n.queue = n.queue[1:]
	}
}

// lost notes that the cloud cannot be reached. It reports whether that is news.
func (n *network) lost(why string, now time.Time) (news bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last, n.lastAt = why, now
	if !n.up && n.tries > 0 {
		return false
	}
	if n.up {
		n.drops++
		n.told = true
	}
	n.up, n.since, n.tries = false, now, 0
	n.schedule(now)
	return true
}

// schedule sets the next probe, with the lock held.
func (n *network) schedule(now time.Time) {
	n.next = now.Add(probeWait().Delay(n.tries, n.rand()))
	n.tries++
	for _, sig := range n.queue { // they wait for the cloud now
		n.asleep = appendOnce(n.asleep, sig)
	}
	n.queue = nil
}

// begin has the first probe be made at once.
func (n *network) begin(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up, n.next, n.busy = false, now, 0
}

// probeAt is when to probe, if the cloud is away.
func (n *network) probeAt() (at time.Time, away bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.next, !n.up
}

// wasUp reports whether the cloud has ever been there since the start.
func (n *network) wasUp() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ever
}

// probed notes how a probe ended; why empty: the cloud is there, and who sleeps is woken.
func (n *network) probed(why string, now time.Time) {
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
	n.since, n.fault, n.told = time.Time{}, nil, false
	for _, sig := range n.asleep {
		sig.Set()
	}
	n.asleep = nil
}

// refused notes that a probe found the cloud away, and why. It reports whether that is news.
func (n *network) refused(f linkFault, text string, now time.Time) (news bool) {
	n.probed(text, now)
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.fault
	n.fault = &f
	news = !n.told || before == nil && f.stands() || before != nil && before.why != f.why
	n.told = true
	return news
}

// online reports whether the cloud was there the last time that somebody asked.
func (n *network) online() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up
}

// whenOnline is for loops that only need the cloud: true, or false with sig set when it is there.
func (n *network) whenOnline(sig *clock.Signal) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.up {
		n.asleep = appendOnce(n.asleep, sig)
	}
	return n.up
}

// LinkState is how the way to the cloud is.
type LinkState struct {
	Up      bool
	Since   time.Time // it went away, or was never there since the start
	Probe   time.Time // the next one
	Last    string    // the latest error
	LastAt  time.Time
	Drops   uint64
	Allowed int  // lanes that may send at once
	Reached bool // since the start

	Why string // of a person has to act before the cloud is there again: what is wrong; else empty
	Do  string // and what to do about it
}

func (n *network) state() LinkState {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := LinkState{Up: n.up, Since: n.since, Last: n.last, LastAt: n.lastAt, Drops: n.drops, Allowed: n.allowed}
	s.Reached = n.ever
	if !n.up {
		s.Probe = n.next
		if n.fault != nil && n.fault.stands() {
			s.Why, s.Do = n.fault.why, n.fault.do
		}
	}
	return s
}
