package lease

import (
	"context"
	"math"

	"github.com/touchline/touchline/internal/fault"
)

// Raise is Lease.RaiseFence for a caller that knows only the lock's key, such as the replicator after a refused write. It returns
// the new fence, or 0 if this node does not hold the lock, which is not an error: it then takes the lock above that fence.
func (m *Manager) Raise(ctx context.Context, key string, above int64) (fence int64, err error) {
	if err := m.sawItem(ctx, key, above); err != nil {
		return 0, err
	}
	l := m.lease(key)
	if l == nil || l.Check() != nil {
		return 0, nil //nolint:nilerr // that it is over is the answer
	}
	if err := l.RaiseFence(ctx, above); err != nil {
		return 0, err
	}
	return l.Fence(), nil
}

// sawItem remembers the fence of an item that refused a write.
func (m *Manager) sawItem(ctx context.Context, key string, fence int64) error {
	if fence < 0 || fence == math.MaxInt64 {
		return fault.New(fault.Damaged, "lease_fence", "no valid fence is above %d", fence)
	}
	return m.fences.remember(ctx, key, seenFences{item: fence})
}
