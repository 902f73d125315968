package replica

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// Replica keeps a store and a cloud one: what the application writes goes out as the operation it was, exactly once, and
// what others have written comes in. It is attached to a store by Open and works within Run.
//
// What it must not forget lies in side buckets of the store, and changes in the transactions that make it true. What is
// in memory is a window on that, moved behind the commits.
type Replica struct {
	cfg   Config // complete
	store *store.Store
	cloud Cloud
	clock clock.Clock
	log   *slog.Logger

	lanes   []*lane
	outbox  *outbox     // how much waits, by table
	net     *network    // whether the cloud can be reached, and how many lanes may send
	paces   *paces      // of tables: the pace, and which are stopped
	levels  *levels     // of the budgets
	waiting *waiters    // who waits for entries to be settled
	reads   *readings   // consistent reads on their way, against bases set meanwhile
	asked   clockSignal // housekeeping has something to do

	identity identity // identity.go
	feeds    feeds    // feed.go
	surface  surface  // status.go
}

// clockSignal is a signal that is there from the beginning.
type clockSignal struct {
	once sync.Once
	sig  *clock.Signal
}

func (s *clockSignal) get() *clock.Signal {
	s.once.Do(func() { s.sig = clock.NewSignal() })
	return s.sig
}

// New makes a Replica. It does no I/O.
func New(c Config) (*Replica, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Replica{cfg: c, store: c.Store, cloud: c.Cloud, clock: c.Clock, log: c.Log}
	return r, nil
}

// Open attaches the replica to its store and loads what lies there of earlier runs. It comes before the store's first
// write, and asks the cloud nothing.
func (r *Replica) Open(ctx context.Context) error {
	return nil
}

// Run sends, receives and keeps house until ctx ends, and returns its cause when everything that it started has ended.
func (r *Replica) Run(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// systemRand is a generator for nodes; tests bring their own.
func systemRand() func() uint64 {
	var mu sync.Mutex
	g := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	return func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return g.Uint64()
	}
}

// The parts of others. Each moves to the file of its owner, who replaces what stands here.
type (
	// surface counts for status and metrics (status.go).
	surface struct{}
)
