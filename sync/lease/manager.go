// Package lease gives one node at a time the right to do some work, and a fence number that distinguishes its writes from those
// of earlier holders. The lease is for efficiency, the fence for correctness: see DESIGN.md.
package lease

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/touchline/touchline/internal/fault"
)

// DefaultTTL is how long a lock stays held without a renewal.
const DefaultTTL = 10 * time.Second

const (
	minTTL = 100 * time.Millisecond
	maxTTL = 10 * time.Minute // a record that asks for a longer wait is not believed

	// complainEvery limits the log of failed renewals: with hundreds of leases a failing table would otherwise fill the log, on a disk
	// that may itself be what is full.
	complainEvery = time.Minute
)

// Config says which node takes leases, and from which table.
type Config struct {
	Table Table
	Node  string        // node id
	Boot  string        // id of this run of the process, never used before
	TTL   time.Duration // default DefaultTTL
	// Local says that the table is in a file on this machine that only this run can have open. Earlier runs of this node are
	// then known to be dead.
	Local bool
	// Took is called once a lock has been acquired, under its lease and before Acquire returns it. It must read again what the lock
	// guards, because another node may have written it. If it fails, the lock is released. Default none.
	Took func(ctx context.Context, key string, fence int64) error
	// Fit returns an error if this node cannot do the work that locks are for. It is called before a lock is acquired and before each
	// renewal: a node that is not fit acquires nothing and releases what it holds. Default: always fit.
	Fit func() error
	// Fences is what this node remembers of the table's fences. Default: in memory only.
	Fences *Fences
	// Skew is the server's clock minus ours, estimated from the table's answers. Default 0.
	Skew   func() time.Duration
	Times  Times         // default RealTimes()
	RVN    func() string // random for every write; default crypto/rand
	Logger *slog.Logger  // default none
}

// Manager acquires, renews and releases the leases of one node.
type Manager struct {
	table    Table
	node, me string
	ttl      time.Duration
	local    bool
	took     func(ctx context.Context, key string, fence int64) error
	fit      func() error
	skew     func() time.Duration
	times    Times
	rvn      func() string
	log      *slog.Logger
	wake     chan struct{}
	fences   *Fences

	unrenewed  rate.Sometimes // limits how often failed renewals are logged
	unrecorded rate.Sometimes // the same of fences that could not be remembered

	mu     sync.Mutex
	busy   map[string]bool // keys being acquired
	leases map[string]*Lease
	seen   map[string]*sighting
	fallen map[string]Fallen
	falls  int64 // since the start
	ended  bool
}

// New validates the configuration. It does no I/O.
func New(cfg Config) (*Manager, error) {
	if cfg.TTL == 0 {
		cfg.TTL = DefaultTTL
	}
	switch {
	case cfg.Table == nil:
		return nil, fault.New(fault.Invalid, "lease_config", "leases need a table")
	case cfg.Node == "" || cfg.Boot == "" || strings.Contains(cfg.Boot, "#"):
		return nil, fault.New(fault.Invalid, "lease_config", "leases need the ids of the node and of its run")
	case cfg.TTL < minTTL || cfg.TTL > maxTTL:
		return nil, fault.New(fault.Invalid, "lease_config", "the TTL of a lease must be between %v and %v", minTTL, maxTTL)
	}
	m := &Manager{
		table: cfg.Table, node: cfg.Node, me: HolderText(cfg.Node, cfg.Boot), ttl: cfg.TTL, local: cfg.Local,
		took: cfg.Took, fit: cfg.Fit, skew: cfg.Skew, times: cfg.Times, rvn: cfg.RVN, log: cfg.Logger, wake: make(chan struct{}, 1),
		busy: map[string]bool{}, leases: map[string]*Lease{}, seen: map[string]*sighting{}, fallen: map[string]Fallen{},
		unrenewed: rate.Sometimes{Interval: complainEvery}, unrecorded: rate.Sometimes{Interval: complainEvery}, fences: cfg.Fences,
	}
	if m.fences == nil {
		m.fences = FencesIn(nil, "")
	}
	if m.fit == nil {
		m.fit = func() error { return nil }
	}
	if m.skew == nil {
		m.skew = func() time.Duration { return 0 }
	}
	if m.times == nil {
		m.times = RealTimes()
	}
	if m.rvn == nil {
		m.rvn = randomRVN
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	return m, nil
}

func randomRVN() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// serverMillis returns the server's time in milliseconds.
func (m *Manager) serverMillis(now Instant) int64 { return now.Wall.Add(m.skew()).UnixMilli() }

// requestContext limits a request to TTL/6: a slower one is useless, and two of them fit between a renewal and the deadline.
func (m *Manager) requestContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, m.ttl/6)
}

// get reads a lock's record.
func (m *Manager) get(ctx context.Context, key string) (Record, bool, error) {
	before, err := m.fences.recall(ctx, key)
	if err != nil {
		return Record{}, false, err
	}
	within, cancel := m.requestContext(ctx)
	defer cancel()
	r, exists, err := m.table.Get(within, key)
	if err == nil && exists {
		m.watchOthers(ctx, &r, before)
	}
	return r, exists, err
}

// update changes a lock's record. A fence that this node now works under is remembered before anything is written with it; if that fails,
// so does the update.
func (m *Manager) update(ctx context.Context, c Change) (Record, error) {
	before, err := m.fences.recall(ctx, c.Key)
	if err != nil {
		return Record{}, err
	}
	within, cancel := m.requestContext(ctx)
	defer cancel()
	r, err := m.table.Update(within, c)
	if failed, ok := errors.AsType[*ConditionFailedError](err); ok && failed.OK {
		m.watchOthers(ctx, &failed.Old, before)
	}
	if err != nil {
		return r, err
	}
	return r, m.watchRecord(ctx, &r, before)
}

// watchOthers is watchRecord for a record that this node has only read: it says who holds the lock even if it cannot be remembered, such
// as on a full disk.
func (m *Manager) watchOthers(ctx context.Context, r *Record, before seenFences) {
	if err := m.watchRecord(ctx, r, before); err != nil {
		m.unrecorded.Do(func() { m.log.Warn("the fence of a lock cannot be remembered", "key", r.Key, "error", err) })
	}
}

// begin keeps two callers of this process from acquiring the same lock: to the table they are the same holder.
func (m *Manager) begin(key string) error {
	if l := m.lease(key); l != nil {
		_ = l.Check() // removes it from the list if it is over
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.ended:
		return errEnded()
	case m.busy[key] || m.leases[key] != nil:
		return &HeldError{Key: key, Holder: m.me, Retry: m.ttl / 3}
	}
	m.busy[key] = true
	return nil
}

func (m *Manager) lease(key string) *Lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.leases[key]
}

func (m *Manager) end(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.busy, key)
}

// startLease creates the lease of a lock that was just acquired by a request sent at the instant sent.
func (m *Manager) startLease(ctx context.Context, key string, r Record, sent Instant) (*Lease, error) {
	l := newLease(m, key, r.Fence, Term{Sent: sent, TTL: m.ttl})
	if err := l.Check(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	ended := m.ended
	if !ended {
		delete(m.seen, key)
		m.leases[key] = l
	}
	m.mu.Unlock()
	if ended {
		if err := l.Release(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
		return nil, errEnded()
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
	return l, nil
}

// forget removes a finished lease from the list, unless its key has a newer one.
func (m *Manager) forget(l *Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leases[l.key] == l {
		delete(m.leases, l.key)
	}
}

// Run renews every lease until ctx ends, then releases them all. It returns once they are released.
func (m *Manager) Run(ctx context.Context) error {
	m.forgetOldFences(ctx)
	var keepers sync.WaitGroup
	for ctx.Err() == nil {
		for _, l := range m.notKept() {
			keepers.Go(func() { m.renewLoop(ctx, l) })
		}
		select {
		case <-ctx.Done():
		case <-m.wake:
		}
	}
	keepers.Wait()
	m.mu.Lock()
	m.ended = true
	last := slices.Collect(maps.Values(m.leases))
	m.mu.Unlock()
	var releases sync.WaitGroup
	for _, l := range last {
		releases.Go(func() {
			if err := l.Release(context.WithoutCancel(ctx)); err != nil {
				m.log.Warn("a lease was not released and will expire", "key", l.key, "error", err)
			}
		})
	}
	releases.Wait()
	return nil
}

func (m *Manager) notKept() []*Lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*Lease
	for _, l := range m.leases {
		if !l.kept {
			l.kept = true
			out = append(out, l)
		}
	}
	return out
}

// renewLoop renews one lease every TTL/3, and sooner after a failure, until it is over.
func (m *Manager) renewLoop(ctx context.Context, l *Lease) {
	wait := max(m.ttl/3-l.age(), 0)
	for {
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-l.Done():
			t.Stop()
			m.log.Info("a lease has ended", "key", l.key, "fence", l.Fence(), "reason", l.Err())
			return
		case <-t.C:
		}
		if err := m.fit(); err != nil {
			m.giveBack(ctx, l, err)
			return
		}
		began := time.Now()
		if err := l.renew(ctx); err != nil && ctx.Err() == nil && l.Err() == nil {
			m.unrenewed.Do(func() { m.log.Warn("a lease was not renewed", "key", l.key, "error", err) })
			wait = max(m.ttl/12-time.Since(began), 0) // zero if waiting for the answer took that long
			continue
		}
		wait = max(m.ttl/3-l.age(), m.ttl/12)
	}
}

// giveBack releases a lease that this node can no longer use.
func (m *Manager) giveBack(ctx context.Context, l *Lease, why error) {
	m.log.Warn("releasing a lease", "key", l.key, "fence", l.Fence(), "reason", why)
	if err := l.Release(ctx); err != nil {
		m.log.Warn("a lease was not released and will expire", "key", l.key, "error", err)
	}
}

// Status is a lease as operators see it. The zero value means no lease.
type Status struct {
	Key      string    `json:"key,omitempty"`
	Fence    int64     `json:"fence,omitempty"`
	Deadline time.Time `json:"deadline,omitzero"` // real time
}

// HeldLeases lists the current leases of this node, sorted by key.
func (m *Manager) HeldLeases() []Status {
	m.mu.Lock()
	leases := slices.Collect(maps.Values(m.leases))
	m.mu.Unlock()
	var out []Status
	for _, l := range leases {
		if l.Check() == nil {
			out = append(out, Status{Key: l.key, Fence: l.Fence(), Deadline: l.Deadline()})
		}
	}
	slices.SortFunc(out, func(a, b Status) int { return strings.Compare(a.Key, b.Key) })
	return out
}
