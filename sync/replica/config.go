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

// SendBy returns the deadline, by the server's clock, for the first send of a write; zero: none. A write that was not sent by
// then becomes a conflict with intent.CodeLate. One that was sent before, and may have arrived, goes on until it is
// answered.
type SendBy func(tx *store.Tx, w *intent.Write) (time.Time, error)

// Config configures a Replica. Store and Cloud are required; everything else has a default.
type Config struct {
	Store *store.Store
	Cloud remote.Cloud
	Dir   string // for the identity file, beside the store; empty: in memory only, for tests

	Clock clock.Clock   // nil: the wall clock
	Rand  func() uint64 // the only randomness; nil: a generator seeded by the system
	Log   *slog.Logger  // nil: nobody is told

	SyncTable string // in the cloud, for identities, tombstones and proofs; empty: touchline-sync
	LockTable string // in the cloud, of the leases; empty: there are none, and no fence is looked up

	Poll         []feed.Rule                    // what is read regularly
	Merge        map[string]conflict.MergeFunc  // by table: the application's answers to conflicts
	Secret       map[string]conflict.SecretFunc // by table: whose values conflicts show to nobody
	SendBy       map[string]SendBy              // by table; a write of another may be sent at any time
	Transactions *bool                          // does the cloud have them; nil: it is asked, if it is a Prober

	Budget   flow.Budget
	Limits   Limits        // zero: UsualLimits
	Lanes    int           // requests on their way at once, beside one for what goes ahead; 0: 16
	Deadline time.Duration // of one request; 0: 10 s

	// Deposed is called when the cloud has refused a write of this node because what is there carries a higher fence of the
	// lock: whoever still holds the lock with its own fence raises it above that, for a record of a lock that was deleted by
	// hand begins anew below. It gives the fence that the lock has then; 0: the lock is not this node's. The write
	// is not repeated: it is on record, and the holder's next one carries the raised fence. nil: nobody is told.
	Deposed func(ctx context.Context, lock string, fence int64) (raised int64, err error)

	// Failpoint is called with a name between two steps that a crash may separate; nil: no calls.
	Failpoint func(point string)
}

const (
	defaultLanes    = 16
	defaultDeadline = 10 * time.Second
)

func (c Config) withDefaults() (Config, error) {
	if c.Store == nil || c.Cloud == nil {
		return c, fault.New(fault.Invalid, "replica_config", "the replicator needs a store and a cloud")
	}
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
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
	if c.Lanes == 0 {
		c.Lanes = defaultLanes
	}
	if c.Lanes < 1 || c.Lanes > outbox.MaxLanes {
		return c, fault.New(fault.Invalid, "replica_config", "the replicator has 1 to %d lanes, not %d", outbox.MaxLanes, c.Lanes)
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
