package cricketapp

import (
	"context"

	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/sync/lease"
)

// held implements poll.Leases with the leases of the node.
type held struct {
	pool *lease.Pool
	user *lease.User
}

func newHeld(p *lease.Pool) held { return held{p, p.User()} }

// Hold implements poll.Leases.
func (h held) Hold(ctx context.Context, key string) (poll.Lease, error) {
	s, err := h.user.AcquireShare(ctx, key)
	if s == nil {
		return nil, err
	}
	return s, err
}

// Holder implements poll.Leases.
func (h held) Holder(ctx context.Context, key string) (string, error) { return h.pool.Holder(ctx, key) }
