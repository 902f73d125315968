package replica

import (
	"context"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Limits are the replica's, see there.
type Limits = limits

// UsualLimits are those of every replica that nobody has limited.
func UsualLimits() Limits { return usualLimits() }

// Limit gives the replica other limits, before it is opened.
func (r *Replica) Limit(l Limits) { r.limits = l }

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
		w := r.newWork(tx)
		it, err := w.item(table, key)
		if err != nil {
			return err
		}
		entries, err := w.entries(it)
		if err == nil {
			_, seqs = intent.View(it.sh.known, entries, w.env)
		}
		return err
	})
	return seqs, err
}
