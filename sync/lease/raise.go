package lease

import "context"

// Raise is Lease.RaiseFence for a caller that knows only the lock's key, such as the replicator after a refused write. It returns
// the new fence, or 0 if this node does not hold the lock, which is not an error.
func (m *Manager) Raise(ctx context.Context, key string, above int64) (fence int64, err error) {
	l := m.lease(key)
	if l == nil || l.Check() != nil {
		return 0, nil //nolint:nilerr // that it is over is the answer
	}
	if err := l.RaiseFence(ctx, above); err != nil {
		return 0, err
	}
	return l.Fence(), nil
}
