package lease

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

const (
	locks = "cricket-locks"
	match = "match:1"
	ttl   = 10 * time.Second
)

// world is one locks table, true time, and nodes whose clocks are each wrong in their own way.
type world struct {
	testing.TB
	store *store.Store
	true  atomic.Int64 // true time; the leases' own timers read it too
	rvns  int
}

func (w *world) at() time.Duration { return time.Duration(w.true.Load()) }

func (w *world) pass(d time.Duration) { w.true.Add(int64(d)) }

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{TB: t, store: storetest.Open(t, store.TableSpec{
		Name: locks, Key: store.KeySpec{Partition: store.KeyAttr{Name: attrKey, Type: store.KeyString}},
		Policy: store.PolicyLock, Why: "test",
	})}
}

func epoch() time.Time { return time.Date(2026, 10, 9, 13, 0, 0, 0, time.UTC) }

// node is a machine: its clocks, its connection to the table and its manager.
type node struct {
	*Manager
	w     *world
	wall  time.Duration // how far ahead of true time
	rate  float64       // of all its clocks
	slept atomic.Int64  // how long the monotonic clock has stood still
	link  *link
}

// Now implements Times.
func (n *node) Now() Instant {
	passed := time.Duration(float64(n.w.at()) * n.rate)
	return Instant{Wall: epoch().Add(passed + n.wall), Mono: passed - time.Duration(n.slept.Load()), Boot: passed}
}

func (w *world) node(name string, options ...func(*node, *Config)) *node {
	w.Helper()
	n := &node{w: w, rate: 1, link: &link{Table: Local(w.store, locks), w: w}}
	cfg := Config{
		Table: n.link, Node: name, Boot: "b1", TTL: ttl, Times: n,
		RVN: func() string { w.rvns++; return fmt.Sprint("rvn", w.rvns) },
	}
	for _, option := range options {
		option(n, &cfg)
	}
	// The server's clock is true: its answers tell each node its error.
	cfg.Skew = func() time.Duration { return epoch().Add(w.at()).Sub(n.Now().Wall) }
	m, err := New(cfg)
	if err != nil {
		w.Fatal(err)
	}
	n.Manager = m
	return n
}

func ahead(d time.Duration) func(*node, *Config) { return func(n *node, _ *Config) { n.wall = d } }

func boot(id string) func(*node, *Config) { return func(_ *node, c *Config) { c.Boot = id } }

func alone(_ *node, c *Config) { c.Local = true }

// remembers gives a node a store in which it remembers fences.
func remembers(n *node, c *Config) { c.Fences = FencesIn(n.w.store, locks) }

// suspend stops a machine for a period of true time.
func (n *node) suspend(d time.Duration) {
	n.w.pass(d)
	n.slept.Add(int64(float64(d) * n.rate))
}

// acquire must succeed.
func (n *node) acquire() *Lease {
	n.w.Helper()
	l, err := n.Acquire(n.w.Context(), match)
	if err != nil {
		n.w.Fatalf("%s at %v: %v", n.me, n.w.at(), err)
	}
	return l
}

// refused tries to acquire; another node must hold the lock.
func (n *node) refused() *HeldError {
	n.w.Helper()
	_, err := n.Acquire(n.w.Context(), match)
	held, ok := errors.AsType[*HeldError](err)
	if !ok {
		n.w.Fatalf("%s at %v: %v, want it to be held", n.me, n.w.at(), err)
	}
	return held
}

// waits retries until it acquires the lock, and returns the time that took.
func (n *node) waits() (*Lease, time.Duration) {
	n.w.Helper()
	began := n.w.at()
	for n.w.at()-began < 10*ttl {
		if l, err := n.Acquire(n.w.Context(), match); err == nil {
			return l, n.w.at() - began
		}
		n.w.pass(time.Second)
	}
	n.w.Fatalf("%s never got it", n.me)
	return nil, 0
}

func (w *world) record() attr.Item {
	w.Helper()
	var it attr.Item
	err := w.store.View(w.Context(), func(tx *store.Tx) (err error) {
		it, err = tx.Get(locks, attr.Item{attrKey: attr.S(match)})
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return it
}

// put writes a record as another application would.
func (w *world) put(it attr.Item) {
	w.Helper()
	it[attrKey] = attr.S(match)
	w.update(func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: locks, Item: it})
		return err
	})
}

func (w *world) drop() {
	w.Helper()
	w.update(func(tx *store.Tx) error {
		_, err := tx.Delete(store.DeleteItem{Table: locks, Key: attr.Item{attrKey: attr.S(match)}})
		return err
	})
}

func (w *world) update(fn func(*store.Tx) error) {
	w.Helper()
	if err := w.store.Update(w.Context(), fn); err != nil {
		w.Fatal(err)
	}
}

// link is the connection to the table, which can lose a request, lose an answer or deliver a copy late.
type link struct {
	Table
	w     *world
	fault string   // for the next update: "request", "answer", "late" or "slow"
	late  []Change // copies still on their way
	sent  []Change
}

var errLost = errors.New("no answer")

func (l *link) Update(ctx context.Context, c Change) (Record, error) {
	l.sent = append(l.sent, c)
	fault := l.fault
	l.fault = ""
	switch fault {
	case "request":
		return Record{}, errLost
	case "late":
		l.late = append(l.late, c)
		return Record{}, errLost
	case "slow":
		l.w.pass(ttl / 12)
		defer l.w.pass(ttl / 12)
	}
	r, err := l.Table.Update(ctx, c)
	if fault == "answer" {
		return Record{}, errLost
	}
	return r, err
}

// arrive delivers the late copies.
func (l *link) arrive(ctx context.Context) {
	late := l.late
	l.late = nil
	for _, c := range late {
		_, _ = l.Table.Update(ctx, c)
	}
}
