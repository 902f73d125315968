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

// LocksTable holds the leases of all applications that have no table of their own for them.
const LocksTable = "touchline-locks"

// Host is what a node gives an application that it opens.
type Host struct {
	Node    string // the id of this node
	Store   *store.Store
	Clock   clock.Clock
	Log     *slog.Logger
	Metrics *prometheus.Registry
	Leases  *lease.Pool
	Sync    Sync         // nil: the node has no cloud
	Mail    *mail.Outbox // nil: the node sends none (mail.mode)
	Observe bool         // without the cloud the node goes on for its own readers (cloud.offline: observe)

	Version   string
	PublicURL string // where people reach the node, for links in what it sends (http.public_url); empty: not configured
	// Maintain starts an operation on the store of which only one may run at a time, such as a backup; done ends it.
	Maintain func() (done func(), err error)

	// Work ends when the node's work does, which is before it stops serving.
	Work context.Context //nolint:containedctx // the life of the loops, for what begins in a request and outlives it
}

// Sync is what an application asks of the replication with the cloud. replica.Replica is one.
type Sync interface {
	// Ensure fetches items, or whole partitions, that another node may have written. If the cloud cannot be reached that is
	// not an error.
	Ensure(ctx context.Context, table string, keys ...attr.Item) error
	// Proved reports what became of the write of a journal record.
	Proved(ctx context.Context, seq uint64) (replica.Proof, error)
	// Confirmed returns an item as the cloud has it, as far as this node knows: without writes that are waiting to be sent.
	// nil: the cloud has none.
	Confirmed(tx *store.Tx, table string, key attr.Item) (attr.Item, error)
	// Skew is how far the cloud's clock is ahead of this machine's, by its last answers.
	Skew() time.Duration
}
