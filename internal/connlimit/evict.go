package connlimit

import (
	"cmp"
	"slices"
	"time"
)

const (
	// grace is how long a head, a body or an answer may be under way, however slowly.
	grace = 10 * time.Second

	// minRate in bytes per second is a tenth of what a phone has over GPRS.
	minRate = 512

	arrivingOf    = 8  // bodies may be under way on an eighth of the connections
	leastArriving = 64 // and at least on so many
)

// mostArriving returns how many bodies may be under way at once.
func (l *Limiter) mostArriving() int64 { return int64(max(leastArriving, l.most/arrivingOf)) }

// hasBody reports whether a body is under way on a connection.
func (c *conn) hasBody() bool {
	return slices.ContainsFunc(c.pending, func(r *request) bool { return r.arrives.Load() })
}

// patienceFor returns how long so many bytes may take before their connection counts as idle.
func patienceFor(bytes int64) time.Duration {
	return grace + time.Duration(bytes)*time.Second/minRate
}

// dueAt returns when a connection began, or will begin, to count as idle. waits is false if it does not wait for its client at all.
func (c *conn) dueAt() (at time.Duration, waits bool) {
	switch {
	case c.taken:
		return 0, false
	case len(c.pending) == 0 && c.idle:
		return c.since, true
	case len(c.pending) == 0: // a head arrives, or the last of an answer is sent
		return c.since + grace, true
	}
	for _, r := range c.pending { // the fastest counts
		due, waits := r.dueAt()
		if !waits {
			return 0, false
		}
		at = max(at, due)
	}
	return at, true
}

// queue has the connections that are closed next of a set. To find them all connections are looked at, which takes long on a port with
// thousands while thousands more wait: so a search finds a few percent of them, and is good for a moment.
type queue struct {
	next []*conn
	made time.Duration
}

const (
	queueOf   = 64                     // a search finds one in so many connections
	queueGood = 100 * time.Millisecond // how long what it finds is good
)

// candidate is a connection that waits for its client.
type candidate struct {
	*conn
	due time.Duration
}

// evict removes a connection that waits for its client from the count, for the caller to close: one of those that among names, or if that
// is nil of all. q is the queue of that set. It returns nil if none waits.
func (l *Limiter) evict(q *queue, among func(*conn) bool) *conn {
	now := l.now()
	searched := now-q.made > queueGood
	if searched {
		q.next, q.made = l.search(among), now
	}
	victim := q.first(among)
	if victim == nil && !searched {
		q.next, q.made = l.search(among), now
		victim = q.first(among)
	}
	if victim == nil {
		return nil
	}
	if due, _ := victim.dueAt(); due <= now {
		l.closedIdle++
	} else {
		l.closedSlow++
	}
	l.forget(victim)
	return victim
}

// first takes the first connection that still waits for its client; nil: there is none.
func (q *queue) first(among func(*conn) bool) *conn {
	for len(q.next) > 0 {
		c := q.next[0]
		q.next = q.next[1:]
		if _, waits := c.dueAt(); waits && !c.closed && (among == nil || among(c)) {
			return c
		}
	}
	return nil
}

// search returns the connections of a set that are closed next.
func (l *Limiter) search(among func(*conn) bool) []*conn {
	found := l.found[:0]
	for _, c := range l.conns {
		if due, waits := c.dueAt(); waits && (among == nil || among(c)) {
			found = append(found, candidate{c, due})
		}
	}
	l.found = found
	slices.SortFunc(found, candidate.compare)
	next := make([]*conn, min(len(found), 1+len(l.conns)/queueOf))
	for i := range next {
		next[i] = found[i].conn
	}
	clear(found)
	return next
}

// compare orders connections as they are closed: those that no signed-in user has marked before others, then those of the address with the
// most such connections, then by when they are due.
func (c candidate) compare(other candidate) int {
	switch {
	case c.marked && !other.marked:
		return 1
	case other.marked && !c.marked:
		return -1
	}
	return cmp.Or(cmp.Compare(other.rivals(), c.rivals()), cmp.Compare(c.due, other.due))
}

// rivals returns how many connections of the same rank the address has.
func (c *conn) rivals() int {
	if c.marked {
		return c.addr.marked
	}
	return c.addr.open - c.addr.marked
}
