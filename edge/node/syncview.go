package node

import (
	"context"

	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// cloudRoutes implements operator.Sync with the replicator and its conflicts.
type cloudRoutes struct {
	n *Node
	*conflict.Log
}

// Status implements operator.Sync.
func (c cloudRoutes) Status(ctx context.Context) (operator.SyncStatus, error) {
	st, err := c.n.sync.Status(ctx)
	cloud := c.n.parts.Cloud
	return operator.SyncStatus{
		Configured: true, Cloud: cloud.Name, Prefix: cloud.Config.Prefix, Mode: cloud.Config.Offline, Leases: c.n.heldLeases(), Status: st,
	}, err
}

// Wait implements operator.Sync.
func (c cloudRoutes) Wait(ctx context.Context, seq uint64) (refused uint64, err error) {
	return c.n.WaitSettled(ctx, seq)
}
