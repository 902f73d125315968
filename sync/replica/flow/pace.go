package flow

import (
	"maps"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Paces holds the send rate of each table, and which tables are stopped. A table has no limit until the cloud throttles a good part of what is
// sent to it; then it gets seven tenths of its rate, and recovers slowly. A few throttled answers among many are no reason: the batches
// concerned wait a little, and sending less would only let the queue grow.
type Paces struct {
	mu     sync.Mutex
	tables map[string]*pace
	rand   func() float64
}

// pace is the token bucket of one table; it learns from throttles.
type pace struct {
	rate    float64 // sends per second; 0: unlimited
	next    time.Time
	grown   time.Time // when the rate was last raised
	quiet   time.Time // when the bucket is dropped, if no throttle is seen before
	streak  int       // throttles without a success in between
	recent  uint32    // the latest answers, newest in the lowest bit; 1: throttled
	answers int       // how many of them there were since the rate was lowered, at most 32
	sent    int       // in the current window
	window  time.Time
	seen    float64 // sends per second in the last window
	stopped stop

	throttles uint64 // since the start

	taken time.Time // when a request was last accepted, or refused because of its items; zero: not since the start
}

// stop is why nothing is sent to a table.
type stop struct {
	why   string // "": not stopped
	class string
	since time.Time
	until time.Time // next try
	tries int
	held  bool // no tries: the table is checked separately
}

const (
	paceFloor = 1.0 // sends per second, however often the table is throttled
	paceForgo = time.Minute
	paceBurst = 100 * time.Millisecond

	paceStreak  = 3  // throttles in a row that slow a table down
	paceAnswers = 20 // answers from which their share does
	paceShare   = 6  // one in so many
)

func throttleWait() backoff.Policy {
	return backoff.Policy{Base: 50 * time.Millisecond, Max: 20 * time.Second}
}

// StopWait returns the pauses between tries of a stopped table: seconds at first, then minutes.
func StopWait() backoff.Policy {
	return backoff.Policy{Base: 5 * time.Second, Max: 5 * time.Minute, Floor: time.Second}
}

// NewPaces returns paces without throttled tables.
func NewPaces(rand func() float64) *Paces {
	return &Paces{tables: map[string]*pace{}, rand: rand}
}

func (p *Paces) paceOf(table string) *pace {
	t := p.tables[table]
	if t == nil {
		t = &pace{}
		p.tables[table] = t
	}
	return t
}

// ReserveSend returns when a send to tables may go. If that is later than now, nothing is taken and the caller asks again.
func (p *Paces) ReserveSend(tables []string, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := now
	for _, table := range tables {
		at = MaxTime(at, p.paceOf(table).free(now))
	}
	if at.After(now) {
		return at
	}
	for _, table := range tables {
		t := p.paceOf(table)
		if t.stopped.why != "" { // this send tries it, and the others wait for the result
			t.stopped.until = now.Add(StopWait().Delay(t.stopped.tries, p.rand()))
		}
		t.count(now)
	}
	return now
}

// free returns when the table may be sent to.
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

// MaxTime returns the later of two instants.
func MaxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// count counts a send: it takes a token, and measures the table's rate for when it is throttled.
func (t *pace) count(now time.Time) {
	if since := now.Sub(t.window); since >= time.Second {
		t.seen = float64(t.sent) / since.Seconds()
		t.sent, t.window = 0, now
	}
	t.sent++
	if t.rate > 0 {
		step := time.Duration(float64(time.Second) / t.rate)
		t.next = MaxTime(t.next, now.Add(-paceBurst)).Add(step)
	}
}

// SlowTable slows the table down, and returns how long the throttled batch waits.
func (p *Paces) SlowTable(table string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.paceOf(table)
	t.throttles++
	t.streak++
	t.remember(1)
	if t.isOverloaded() {
		t.slowDown(now)
	}
	t.quiet = now.Add(paceForgo)
	return throttleWait().Delay(t.streak-1, p.rand())
}

// remember records an answer; throttled is 1 or 0.
func (t *pace) remember(throttled uint32) {
	t.recent = t.recent<<1 | throttled
	t.answers = min(t.answers+1, 32)
}

// isOverloaded reports whether the latest answers show that too much is sent to the table.
func (t *pace) isOverloaded() bool {
	return t.streak >= paceStreak || t.answers >= paceAnswers && bits.OnesCount32(t.recent)*paceShare > t.answers
}

// slowDown lowers the rate. One answer of a burst does that, not each of them.
func (t *pace) slowDown(now time.Time) {
	if t.rate == 0 {
		lasted := max(now.Sub(t.window), paceBurst)
		t.rate = max(t.seen, float64(t.sent)/lasted.Seconds(), paceFloor/0.7)
	} else if now.Sub(t.grown) <= 100*time.Millisecond {
		return
	}
	t.rate = max(t.rate*0.7, paceFloor)
	t.grown = now
	t.recent, t.answers = 0, 0
}

// RaiseRate raises the table's rate by a tenth, and by one, each second.
func (p *Paces) RaiseRate(table string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.paceOf(table)
	t.streak = 0
	t.remember(0)
	if t.rate > 0 && now.Sub(t.grown) >= time.Second {
		t.rate, t.grown = t.rate*1.1+1, now
	}
}

// Takes lifts the stop of tables that accepted a request, or refused it because of their items. A held table is released only by its
// check: the request may be from before the hold.
func (p *Paces) Takes(tables []string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, table := range tables {
		t := p.paceOf(table)
		t.taken = now
		if !t.stopped.held {
			t.stopped = stop{}
		}
	}
}

// LastTaken returns when a table last accepted a request, or refused one because of its items; zero: not since the start.
func (p *Paces) LastTaken(table string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paceOf(table).taken
}

// Halt stops a table until a person acts; single entries still try it from time to time. It reports whether that is new.
func (p *Paces) Halt(table, class, why string, now time.Time) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.paceOf(table)
	if t.stopped.held { // the check knows more: an earlier request may be answered late
		return false
	}
	news = t.stopped.class != class
	if news {
		t.stopped = stop{why: why, class: class, since: now}
	}
	t.stopped.until = now.Add(StopWait().Delay(t.stopped.tries, p.rand()))
	t.stopped.tries++
	return news
}

// StoppedUntil returns when the stopped ones among the tables are tried again; zero: none is stopped, or a try is due.
func (p *Paces) StoppedUntil(tables []string, now time.Time) (until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, table := range tables {
		if s := p.paceOf(table).stopped; s.why != "" && now.Before(s.until) {
			until = MaxTime(until, s.until)
		}
	}
	return until
}

// WhyStopped is the reason of a batch that waits because its table is stopped.
const WhyStopped = "its table is stopped"

// holdFor is practically for ever.
const holdFor = 365 * 24 * time.Hour

// Pace is the send rate of a table.
type Pace struct {
	Rate      float64 `json:"rate,omitzero"`      // sends per second that throttling leaves; 0: unlimited
	Throttled uint64  `json:"throttled,omitzero"` // throttled answers since the start
}

// SlowedTables returns the paces of the tables that were ever throttled.
func (p *Paces) SlowedTables(now time.Time) map[string]Pace {
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

	Denied bool // this node has no permission
}

// MarshalText implements encoding.TextMarshaler: why.
func (s *StoppedTable) MarshalText() ([]byte, error) { return []byte(s.Why), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *StoppedTable) UnmarshalText(why []byte) error {
	s.Why = string(why)
	return nil
}

// StoppedTables lists the stopped tables by name.
func (p *Paces) StoppedTables() (out []StoppedTable) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(p.tables)) {
		if s := p.tables[name].stopped; s.why != "" {
			out = append(out, StoppedTable{Table: name, Why: s.why, Since: s.since, Until: s.until, Denied: s.class == intent.Denied.String()})
		}
	}
	return out
}

// StopTable stops a table until it is released or the process ends. It reports whether that is new.
func (p *Paces) StopTable(table, class, why string, now time.Time) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.paceOf(table)
	news = t.stopped.why != why
	t.stopped = stop{why: why, class: class, since: now, until: now.Add(holdFor), held: true}
	return news
}

// Release releases a table that was stopped for that reason, and reports whether it was.
func (p *Paces) Release(table, class string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.paceOf(table)
	if t.stopped.class != class {
		return false
	}
	t.stopped = stop{}
	return true
}

// IsStopped reports whether the table is stopped for a reason of that class.
func (p *Paces) IsStopped(table, class string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paceOf(table).stopped.class == class
}
