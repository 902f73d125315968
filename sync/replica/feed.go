package replica

import (
	"context"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// PollRule says what of a table is read regularly: what others have written is learned by it.
type PollRule struct {
	Table string
	Every time.Duration // from the begin of one pass to that of the next, with a tenth of jitter; 0: 30 s

	// Partitions lists the partitions that are of interest just now: values of the partition key, each read by a Query. It
	// is called within a View before each pass and answers from the store and from memory alone. nil: the table is small,
	// and scanned.
	Partitions func(tx *store.Tx) ([]attr.Value, error)
}

// feeds are what is read regularly.
type feeds struct{}

// runFeed reads what the rules say until ctx ends.
func (r *Replica) runFeed(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}
