package nodes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/feed"
)

// Pair is two nodes "a" and "b" with a simulated cloud, in a bubble and without servers. Each is a store in memory, its replica, and the
// application's reads, merge rules and consumer. The test calls the rules directly instead of the routes.
type Pair struct {
	Cloud *simcloud.Cloud
	Table string // the application's first table
	Nodes []*Half

	key store.KeySpec
	bad func(error)
}

// Half is one of the nodes.
type Half struct {
	Name     string
	Store    *store.Store
	Sync     *replica.Replica
	Link     *simcloud.Link
	Consumer func(tx *store.Tx, records []store.Record) error // the application's consumer, set by the test

	taken uint64 // the last record passed to it
}

// rarely is how often a node of a pair makes reads that the application declares as rare.
const rarely = 4 * time.Minute

// NewPair starts two nodes with an application, which run until the end of the test. Their randomness comes from a seed. bad gets errors
// that occur while time passes.
func NewPair(t *testing.T, a *app.App, seed uint64, bad func(error)) *Pair {
	t.Helper()
	tables := a.Schema().Tables
	p := &Pair{Cloud: simcloud.New(simcloud.Options{}), Table: tables[0].Name, key: tables[0].Key, bad: bad}
	p.Cloud.Create(append(tables, syncTable())...)
	network := simcloud.NewNetwork(p.Cloud, simcloud.NewTimer(), seed)
	for _, name := range []string{"a", "b"} {
		h := &Half{Name: name, Link: network.Link(name, time.Now, nil)}
		if err := h.open(t, a, seed); err != nil {
			t.Fatal(err)
		}
		p.Nodes = append(p.Nodes, h)
	}
	return p
}

func (h *Half) open(t *testing.T, a *app.App, seed uint64) (err error) {
	t.Helper()
	if h.Store, err = store.OpenMemory(store.Options{Node: h.Name, Now: time.Now}); err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := h.Store.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := h.Store.Define(t.Context(), a.Schema().Tables...); err != nil {
		return err
	}
	random, mu := rand.New(rand.NewPCG(seed, uint64(h.Name[0]))), sync.Mutex{} // writers and the sender draw concurrently
	c := replica.Config{Store: h.Store, Cloud: h.Link, Clock: clock.Real(), Merge: a.Cloud().Merge, Rand: func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Uint64()
	}}
	for _, r := range a.Cloud().Reads {
		rule := feed.Rule{Table: r.Table, Every: map[app.Pace]time.Duration{app.Live: 5 * time.Second, app.Slow: 30 * time.Second, app.Seldom: rarely}[r.Every]}
		if r.Partitions != nil {
			rule.Partitions = func(tx *store.Tx) ([]attr.Value, error) { return r.Partitions(tx, nil) }
		}
		c.Poll = append(c.Poll, rule)
	}
	if h.Sync, err = replica.New(c); err != nil {
		return err
	}
	if err := h.Sync.Open(t.Context()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = h.Sync.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return nil
}

// CatchUp passes new journal records to the consumer, until there are no more.
func (h *Half) CatchUp() error {
	for {
		records, err := h.Store.Journal(context.Background(), h.taken, 64)
		if err != nil || len(records) == 0 {
			return err
		}
		more := true
		for more { // slices of the consumer's work
			err := h.Store.Update(context.Background(), func(tx *store.Tx) error {
				err := h.Consumer(tx, records)
				if more = errors.Is(err, table.ErrMore); more {
					return nil
				}
				return err
			})
			if err != nil {
				return fmt.Errorf("the consumer of %s: %w", h.Name, err)
			}
		}
		h.taken = records[len(records)-1].Seq
	}
}

// Pass lets time pass, during which the consumers work.
func (p *Pair) Pass(d time.Duration) {
	for step := max(time.Second, d/60); d > 0; d -= step {
		<-time.After(min(d, step))
		synctest.Wait()
		for _, h := range p.Nodes {
			p.bad(h.CatchUp())
		}
	}
}

// Rows returns the rows of the table by their keys, as a node has them; for nil, as the cloud has them, without the attributes that nodes
// add.
func (p *Pair) Rows(h *Half) map[string]attr.Item {
	var s *store.Store
	if h != nil {
		s = h.Store
	}
	rows, err := rowsOf(s, p.Cloud, p.Table, p.key.Partition.Name, p.key.Sort.Name)
	p.bad(err)
	return rows
}

// Meet reconnects both nodes with the cloud, and waits until nothing is on its way and both have read everything that the cloud has.
func (p *Pair) Meet() {
	for _, h := range p.Nodes {
		h.Link.Heal()
	}
	var differ error
	for _, d := range []time.Duration{2 * time.Minute, rarely + time.Minute} {
		p.Pass(d)
		for range 60 {
			if differ = p.differ(); differ == nil {
				break
			}
			p.Pass(10 * time.Second)
		}
	}
	p.bad(differ)
}

// differ returns an error about pending work, or about the first row that differs between a node and the cloud.
func (p *Pair) differ() error {
	cloud := p.Rows(nil)
	for _, h := range p.Nodes {
		st, err := h.Sync.Status(context.Background())
		if err != nil {
			return err
		}
		if st.Waiting > 0 || h.taken < h.Store.Seq() {
			return fmt.Errorf("%s is not through: %+v", h.Name, st)
		}
		here := p.Rows(h)
		keys := maps.Clone(cloud)
		maps.Copy(keys, here)
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			if a, b := cloud[k], here[k]; (a == nil) != (b == nil) || !attr.EqualItems(a, b) {
				return fmt.Errorf("%s: the cloud has %v, %s %v", k, a, h.Name, b)
			}
		}
	}
	return nil
}
