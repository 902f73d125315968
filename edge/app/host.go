package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
)

// LocksTable holds the leases of all applications without a lease table of their own.
const LocksTable = "touchline-locks"

// Host is what a node provides to an application that it opens.
type Host struct {
	Node    string // this node's id
	Store   *store.Store
	Clock   clock.Clock
	Log     *slog.Logger
	Metrics *prometheus.Registry
	Leases  *lease.Pool
	Sync    Sync         // nil: the node has no cloud
	Mail    *mail.Outbox // nil: the node sends no mail (mail.mode)
	Observe bool         // without the cloud the node keeps working for its own readers (cloud.offline: observe)

	Version   string
	PublicURL string // public address of the node (http.public_url), for links in messages; empty: not configured
	// Maintain starts a store operation of which only one may run at a time, such as a backup. done ends it.
	Maintain func() (done func(), err error)

	// Work ends when the node's work ends, which is before it stops serving.
	Work context.Context //nolint:containedctx // lifetime of the loops, for work that outlives its request
}

// Sync is what an application needs from the replication with the cloud. replica.Replica implements it.
type Sync interface {
	// Ensure fetches items, or whole partitions, that another node may have written. An unreachable cloud is not an error.
	Ensure(ctx context.Context, table string, keys ...attr.Item) error
	// ProofOf reports what became of the write of a journal record.
	ProofOf(ctx context.Context, seq uint64) (replica.Proof, error)
	// ConfirmedItem returns an item as the cloud has it, as far as this node knows: without writes that are still waiting to be sent. nil:
	// the cloud does not have it.
	ConfirmedItem(tx *store.Tx, table string, key attr.Item) (attr.Item, error)
	WholeReads
	// Skew is how far the cloud's clock was ahead of this machine's in its latest answers.
	Skew() time.Duration
}

// WholeReads is what the replication knows of reads from start to end.
type WholeReads interface {
	// LatestPass returns the number of the read of a table or partition that began last.
	LatestPass() uint64
	// IsWhole reports whether a partition, or the whole table if partition is absent, was read from start to end by a pass that began
	// after the one with the given number, and since the cloud was last away.
	IsWhole(table string, partition attr.Value, after uint64) (bool, error)
	// WantWhole has a partition, or the whole table if partition is absent, read from start to end soon.
	WantWhole(table string, partition attr.Value) error
	// WatchWhole sets sig whenever something was read whole, until stop is called.
	WatchWhole(sig *clock.Signal) (stop func())
}
