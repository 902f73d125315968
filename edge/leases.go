package edge

import (
	"context"

	"github.com/oklog/ulid/v2"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/sync/lease"
)

// newLeases makes the manager over the locks that the nodes of a cloud share. Without a cloud it is over the node's own
// table, and what its earlier runs have left is freed: the file's lock proves them dead.
func (n *Node) newLeases(ctx context.Context) (*lease.Manager, error) {
	c := lease.Config{Node: n.store.Node(), Boot: ulid.Make().String(), Logger: n.parts.Log}
	if cloud := n.parts.Cloud; cloud != nil {
		c.Table, c.TTL, c.Skew, c.Took = cloud.Locks, cloud.Config.LeaseTTL, cloud.Items.Skew, n.took
		c.Fit = n.sync.Usable
		return lease.New(c)
	}
	c.Table, c.Local = lease.Local(n.store, cricket.TableLocks), true
	m, err := lease.New(c)
	if err != nil {
		return nil, err
	}
	if _, err := m.Recover(ctx); err != nil { // a row that is none of ours: the locks run out by themselves
		n.parts.Log.Warn("the locks of earlier runs could not be freed", "err", err)
	}
	return m, nil
}

// held gives a part of the node its shares of the leases that the node has taken.
type held struct {
	pool *lease.Pool
	user *lease.User
}

func newHeld(p *lease.Pool) held { return held{p, p.User()} }

// Hold implements poll.Leases.
func (h held) Hold(ctx context.Context, key string) (poll.Lease, error) {
	s, err := h.user.Hold(ctx, key)
	if s == nil {
		return nil, err
	}
	return s, err
}

// Holder implements poll.Leases.
func (h held) Holder(ctx context.Context, key string) (string, error) { return h.pool.Holder(ctx, key) }
