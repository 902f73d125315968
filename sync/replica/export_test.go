package replica

import (
	"context"

	"github.com/touchline/touchline/store/attr"
)

// InHand returns the number of batches that the workers hold in memory. The workers must not run.
func (r *Replica) InHand() (n int) {
	for _, l := range r.workers {
		n += len(l.inHand) + len(l.done)
	}
	return n
}

// KnowsServerTime reports whether the protocol considers the server's time known.
func (r *Replica) KnowsServerTime() bool { return r.env(nil).Synced }

// ReadNow reads an item from the cloud, however fresh the local state is.
func (r *Replica) ReadNow(ctx context.Context, table string, key attr.Item) error {
	return r.feed.ReadNow(ctx, r.spec(table), key)
}
