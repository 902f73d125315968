package lease

import "context"

// Raise is Lease.RaiseFence for whoever knows a lock by its key alone, as the replicator does whose write was refused. It
// gives the fence that the lock has then; 0: this node does not hold it, which is no error.
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
