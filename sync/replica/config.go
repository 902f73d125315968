package replica

import (
	"context"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// SendBy returns the deadline, by the server's clock, for the first send of a write; zero: none. A write not sent by then becomes a
// conflict with intent.CodeLate. A write that was sent earlier, and may have arrived, goes on until it is answered.
type SendBy func(tx *store.Tx, w *intent.Write) (time.Time, error)

// Config configures a Replica. Store and Cloud are required; everything else has a default.
type Config struct {
	Store *store.Store
	Cloud remote.Cloud
	Dir   string // of the identity file, beside the store; "": in memory only, for tests

	Clock clock.Clock   // nil: the machine's
	Jumps *clock.Jumps  // jumps of the machine's clocks, which wake the loops; nil: nobody looks
	Rand  func() uint64 // the only source of randomness; nil: a generator seeded by the system
	Log   *slog.Logger  // nil: no logging

	SyncTable string // the cloud table of identities, tombstones and proofs; "": touchline-sync
	LockTable string // the cloud table of the leases; "": no leases, and fences are not looked up

	Poll         []feed.Rule                    // what is read regularly
	Merge        map[string]conflict.MergeFunc  // by table: the application's merge handlers
	Secret       map[string]conflict.SecretFunc // by table: items whose values conflicts must not show
	SendBy       map[string]SendBy              // by table; writes to other tables have no deadline
	Transactions *bool                          // whether the cloud has them; nil: ask it

	Budget   flow.Budget
	Limits   Limits        // zero: UsualLimits
	Workers  int           // requests on their way at once, besides one for what goes ahead; 0: 16
	Deadline time.Duration // per request; 0: 10 s

	// FencedOff is called when the cloud has refused a write of this node because the item carries a higher fence of the lock. If
	// this node still holds the lock, FencedOff raises the lock's fence above that: after a lock record was deleted by hand, its
	// fence restarts lower. It returns the lock's new fence; 0: not this node's lock. The refused write is on record and not
	// repeated; the holder's next write carries the raised fence. nil: no call.
	FencedOff func(ctx context.Context, lock string, fence int64) (raised int64, err error)

	// Failpoint is called with a name between two steps that a crash may separate; nil: no calls.
	Failpoint func(point string)
}

const (
	defaultWorkers  = 16
	defaultDeadline = 10 * time.Second
)

func (c Config) withDefaults() (Config, error) {
	if c.Store == nil || c.Cloud == nil {
		return c, fault.New(fault.Invalid, "replica_config", "the replicator needs a store and a cloud")
	}
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	c.Clock = clock.Waking(c.Clock, c.Jumps)
	if c.Rand == nil {
		c.Rand = systemRand()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.SyncTable == "" {
		c.SyncTable = "touchline-sync"
	}
	if c.Limits == (Limits{}) {
		c.Limits = UsualLimits()
	}
	if c.Workers == 0 {
		c.Workers = defaultWorkers
	}
	if c.Workers < 1 || c.Workers > outbox.MaxWorkers {
		return c, fault.New(fault.Invalid, "replica_config", "the replicator can have 1 to %d workers, not %d", outbox.MaxWorkers, c.Workers)
	}
	if c.Deadline == 0 {
		c.Deadline = defaultDeadline
	}
	if c.Failpoint == nil {
		c.Failpoint = func(string) {}
	}
	c.Budget = c.Budget.WithDefaults()
	return c, nil
}
