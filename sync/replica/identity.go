package replica

import "context"

// identity is who this node is to the cloud.
type identity struct{}

// openIdentity loads who this node is and begins a run of it. It asks the cloud nothing.
func (r *Replica) openIdentity(ctx context.Context) error { return nil }

// connect tells the cloud who is there, and finds out whether somebody else was. It comes before the first entry of a
// connection is sent, and is the probe while the cloud is away: its errors are those of the cloud.
func (r *Replica) connect(ctx context.Context) error { return nil }

// runIdentity keeps the node's row in the cloud until ctx ends.
func (r *Replica) runIdentity(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// settledOf gives the sequence below which everything of a node is settled, as far as that is known; 0: it is not.
func (r *Replica) settledOf(node string) uint64 { return 0 }
