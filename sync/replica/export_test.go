package replica

import (
	"context"

	"github.com/touchline/touchline/store/attr"
)

// InHand is how many batches the lanes hold in memory. The lanes do not run.
func (r *Replica) InHand() (n int) {
	for _, l := range r.workers {
		n += len(l.inHand) + len(l.done)
	}
	return n
}

// Synced is what the protocol takes the server's time for.
func (r *Replica) Synced() bool { return r.env(nil).Synced }

// ReadNow reads an item from the cloud, however fresh what is held of it is.
func (r *Replica) ReadNow(ctx context.Context, table string, key attr.Item) error {
	return r.feed.ReadNow(ctx, r.spec(table), key)
}
