package replica

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/sync/replica/intent"
)

// paces hold how fast each table is sent to, and which are stopped. A table has all the speed there is until the cloud
// throttles it: then it has seven tenths of what it had, and gets it back slowly.
type paces struct {
	mu     sync.Mutex
	tables map[string]*pace
	rand   func() float64
}

// pace is a token bucket of one table, that learns from throttles.
type pace struct {
	rate    float64 // sends a second; 0: as fast as it goes
	next    time.Time
	grown   time.Time // the rate was last raised
	quiet   time.Time // when no throttle has been seen for so long the bucket goes
	streak  int       // throttles without a success between
	sent    int       // in the second that began at
	window  time.Time
	seen    float64 // sends in the last whole second
	stopped stop

	throttles uint64 // since the start
}

// stop is why nothing is sent to a table.
type stop struct {
	why   string // empty: it is not stopped
	class string
	since time.Time
	until time.Time // it is tried again
	tries int
	held  bool // it is not: somebody looks at the table now and then
}

const (
	paceFloor = 1.0 // sends a second, however often the table is throttled
	paceForgo = time.Minute
	paceBurst = 100 * time.Millisecond
)

func throttleWait() backoff.Policy {
	return backoff.Policy{Base: 50 * time.Millisecond, Max: 20 * time.Second}
}

func stopWait() backoff.Policy {
	return backoff.Policy{Base: 5 * time.Second, Max: 5 * time.Minute, Floor: time.Second}
}

func newPaces(rand func() float64) *paces {
	return &paces{tables: map[string]*pace{}, rand: rand}
}

func (p *paces) of(table string) *pace {
	t := p.tables[table]
	if t == nil {
		t = &pace{}
		p.tables[table] = t
	}
	return t
}

// take returns the instant at which a send to tables may go: now, or later, and then nothing is taken.
func (p *paces) take(tables []string, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := now
	for _, table := range tables {
		at = maxTime(at, p.of(table).free(now))
	}
	if at.After(now) {
		return at
	}
	for _, table := range tables {
		t := p.of(table)
		if t.stopped.why != "" { // this one tries it, and the others wait for what it finds
			t.stopped.until = now.Add(stopWait().Delay(t.stopped.tries, p.rand()))
		}
		t.count(now)
	}
	return now
}

// free is when the table may be sent to.
func (t *pace) free(now time.Time) time.Time {
	switch {
	case t.stopped.why != "" && now.Before(t.stopped.until):
		return t.stopped.until
	case t.rate == 0:
		return now
	case now.After(t.quiet):
		t.rate, t.next = 0, time.Time{}
		return now
	}
	return t.next
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// count notes a send: it takes a token, and what the table got is known when it is throttled.
func (t *pace) count(now time.Time) {
	if since := now.Sub(t.window); since >= time.Second {
		t.seen = float64(t.sent) / since.Seconds()
		t.sent, t.window = 0, now
	}
	t.sent++
	if t.rate > 0 {
		step := time.Duration(float64(time.Second) / t.rate)
		t.next = maxTime(t.next, now.Add(-paceBurst)).Add(step)
	}
}

// throttled slows the table down, and returns how long the one that was throttled waits.
func (p *paces) throttled(table string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.of(table)
	t.throttles++
	t.streak++
	if t.rate == 0 {
		t.rate = max(t.seen, float64(t.sent), paceFloor/0.7)
	}
	if now.Sub(t.grown) > 100*time.Millisecond { // one answer of a burst slows, not each of them
		t.rate = max(t.rate*0.7, paceFloor)
		t.grown = now
	}
	t.quiet = now.Add(paceForgo)
	return throttleWait().Delay(t.streak-1, p.rand())
}

// succeeded speeds the table up: a twentieth more each second.
func (p *paces) succeeded(table string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.of(table)
	t.streak = 0
	if t.rate > 0 && now.Sub(t.grown) >= time.Second {
		t.rate, t.grown = t.rate*1.05+1, now
	}
}

// takes lifts the stop of tables that have taken a request, or refused it for what they have. One that is held is released
// by who looks at it alone: the request may have been of before.
func (p *paces) takes(tables []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, table := range tables {
		if t := p.of(table); !t.stopped.held {
			t.stopped = stop{}
		}
	}
}

// halt stops a table for what only somebody can change; it is tried again now and then, by one entry. It reports whether
// that is news.
func (p *paces) halt(table, class, why string, now time.Time) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.of(table)
	if t.stopped.held { // by who knows more: what was asked before may be answered late
		return false
	}
	news = t.stopped.class != class
	if news {
		t.stopped = stop{why: why, class: class, since: now}
	}
	t.stopped.until = now.Add(stopWait().Delay(t.stopped.tries, p.rand()))
	t.stopped.tries++
	return news
}

// stoppedUntil is when those of the tables that are stopped are tried again; zero: none is, or it is time.
func (p *paces) stoppedUntil(tables []string, now time.Time) (until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, table := range tables {
		if s := p.of(table).stopped; s.why != "" && now.Before(s.until) {
			until = maxTime(until, s.until)
		}
	}
	return until
}

// stoppedWhy is why nothing is sent to tables; empty: none of them is stopped.
func (p *paces) stoppedWhy(tables []string, now time.Time) string {
	if p.stoppedUntil(tables, now).IsZero() {
		return ""
	}
	return whyStopped
}

const whyStopped = "its table is stopped"

// Pace is how fast a table is sent to.
type Pace struct {
	Rate      float64 `json:"rate,omitzero"`      // sends a second that the cloud's throttling leaves; 0: as fast as it goes
	Throttled uint64  `json:"throttled,omitzero"` // answers that were throttles, since the start
}

// slowed returns the paces of the tables that were ever throttled.
func (p *paces) slowed(now time.Time) map[string]Pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]Pace{}
	for name, t := range p.tables {
		if t.throttles == 0 {
			continue
		}
		pace := Pace{Throttled: t.throttles}
		if !now.After(t.quiet) {
			pace.Rate = t.rate
		}
		out[name] = pace
	}
	return out
}

// StoppedTable is a table to which nothing is sent.
type StoppedTable struct {
	Table string
	Why   string
	Since time.Time
	Until time.Time // the next try

	denied bool // to this node
}

// MarshalText implements encoding.TextMarshaler: why.
func (s *StoppedTable) MarshalText() ([]byte, error) { return []byte(s.Why), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *StoppedTable) UnmarshalText(why []byte) error {
	s.Why = string(why)
	return nil
}

// stoppedTables lists them by name.
func (p *paces) stoppedTables() (out []StoppedTable) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(p.tables)) {
		if s := p.tables[name].stopped; s.why != "" {
			out = append(out, StoppedTable{Table: name, Why: s.why, Since: s.since, Until: s.until, denied: s.class == intent.Denied.String()})
		}
	}
	return out
}
