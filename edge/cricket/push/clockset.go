package push

import "time"

// leastSet is how far the wall clock must move against the time of loops to count as set.
const leastSet = 2 * time.Second

// Sessions, claims, alerts and the end of a match have times of the wall clock, so the coordinator reckons in these. But what it waits for
// by itself (pauses between pushes, retries, refreshes) must not begin to wait for hours when somebody sets the clock.

// followClock moves the coordinator's own times if the wall clock was set since the last round.
func (c *Coordinator) followClock() {
	ahead := c.cfg.Clock.Wall().Sub(c.cfg.Clock.Now())
	moved := ahead - c.ahead
	if moved.Abs() < leastSet {
		return
	}
	c.ahead = ahead
	if c.since.IsZero() { // nothing has been timed yet
		return
	}
	c.moveTimes(moved)
}

// moveTimes moves the times that the coordinator has measured itself, and plans every match again.
func (c *Coordinator) moveTimes(by time.Duration) {
	c.circuit.moveTimes(by)
	moveAll(by, &c.since, &c.pass, &c.paused, &c.manageAt)
	c.urgent.moveTimes(by)
	for lane, at := range c.lanes {
		c.lanes[lane] = at.Add(by)
	}
	for i := range c.recent {
		moveAll(by, &c.recent[i].at)
	}
	for _, m := range c.matches {
		m.moveTimes(by)
	}
}

func (m *match) moveTimes(by time.Duration) {
	moveAll(by, &m.phaseSince, &m.askAt, &m.wake, &m.opening, &m.maintainAt, &m.next)
	for _, s := range m.sessions {
		s.moveTimes(by)
	}
	for _, s := range m.cardless {
		s.moveTimes(by)
	}
	if m.channel != nil {
		moveAll(by, &m.channel.over)
		m.channel.session.moveTimes(by)
	}
	m.dirty = true
}

func (s *session) moveTimes(by time.Duration) { moveAll(by, &s.at, &s.retry, &s.broken, &s.askAgain) }

func (b *circuit) moveTimes(by time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	moveAll(by, &b.until)
}

// moveAll moves times; zero means none and stays.
func moveAll(by time.Duration, times ...*time.Time) {
	for _, t := range times {
		if !t.IsZero() {
			*t = t.Add(by)
		}
	}
}
