package replica

import (
	"context"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// InHand is how many units the lanes hold in memory. The lanes do not run.
func (r *Replica) InHand() (n int) {
	for _, l := range r.lanes {
		n += len(l.inHand) + len(l.done)
	}
	return n
}

// Synced is what the protocol takes the server's time for.
func (r *Replica) Synced() bool { return r.env(nil).Synced }

// Replaying reports whether what a restored cloud has lost is still being sent again, by this node or another.
func (r *Replica) Replaying() bool { return r.replaying() }

// TableSeen is the table of the cloud that was last seen under a name.
func (r *Replica) TableSeen(name string) string {
	b, _ := r.book(name)
	return b.ID
}

// Doubtful lists the writes that wait on an item and do not hold on what the cloud has there: they are not in the view.
func (r *Replica) Doubtful(ctx context.Context, table string, key attr.Item) (seqs []uint64, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		w := r.box.Begin(tx)
		it, err := w.Load(table, key)
		if err != nil {
			return err
		}
		entries, err := w.Entries(it)
		if err == nil {
			_, seqs = intent.View(it.Remote.Known, entries, w.Env)
		}
		return err
	})
	return seqs, err
}
