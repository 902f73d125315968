package lease

import (
	"context"
	"errors"
	"sync"
)

// Pool lets several parts of one process work under one lease: to the table they are one holder. The lease is released with
// its last share.
type Pool struct {
	manager *Manager

	mu   sync.Mutex
	held map[string]*pooled
}

// pooled is a lease and the number of users sharing it.
type pooled struct {
	lease *Lease
	users int
}

// NewPool returns a pool for m. All leases must then be taken through the pool.
func NewPool(m *Manager) *Pool { return &Pool{manager: m, held: map[string]*pooled{}} }

// User is one part of the process. It has at most one share of each lease.
type User struct {
	pool   *Pool
	shares map[string]*Share // guarded by the pool's mu
}

// User adds a user to the pool.
func (p *Pool) User() *User { return &User{pool: p, shares: map[string]*Share{}} }

// Share is one user's share of a lease. It can do all that the lease can; its Release only gives back the share.
type Share struct {
	*Lease
	user *User
	of   *pooled
	gone bool // guarded by the pool's mu
}

// AcquireShare returns this user's share of a lock's lease: its existing share, a new share of a lease that another user holds, or a share
// of a lease acquired now. It returns nil while another node holds the lock.
func (u *User) AcquireShare(ctx context.Context, key string) (*Share, error) {
	if s := u.Has(key); s != nil {
		return s, nil
	}
	l, err := u.pool.manager.Acquire(ctx, key)
	if _, taken := errors.AsType[*HeldError](err); taken {
		return nil, nil //nolint:nilnil // no share and no error is the answer: another node has the lock
	}
	if err != nil {
		return nil, err
	}
	u.pool.mu.Lock()
	defer u.pool.mu.Unlock()
	of := &pooled{lease: l}
	u.pool.held[key] = of
	return u.join(key, of), nil
}

// Has returns this user's share of a lease that this process holds, or nil. It does no I/O.
func (u *User) Has(key string) *Share {
	p := u.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.held[key]
	if of == nil {
		return nil
	}
	if of.lease.Check() != nil {
		delete(p.held, key)
		delete(u.shares, key)
		return nil
	}
	if s := u.shares[key]; s != nil && s.of == of {
		return s
	}
	return u.join(key, of)
}

// join adds a share. The caller holds the pool's mu.
func (u *User) join(key string, of *pooled) *Share {
	of.users++
	s := &Share{Lease: of.lease, user: u, of: of}
	u.shares[key] = s
	return s
}

// Release gives the share back. The last one releases the lease.
func (s *Share) Release(ctx context.Context) error {
	p, key := s.user.pool, s.Key()
	p.mu.Lock()
	if s.gone {
		p.mu.Unlock()
		return nil
	}
	s.gone = true
	s.of.users--
	last := s.of.users == 0
	if s.user.shares[key] == s {
		delete(s.user.shares, key)
	}
	if last && p.held[key] == s.of {
		delete(p.held, key)
	}
	p.mu.Unlock()
	if !last {
		return nil
	}
	return s.Lease.Release(ctx)
}

// ReleaseShare releases this user's share of a lock's lease, if it has one.
func (u *User) ReleaseShare(ctx context.Context, key string) error {
	u.pool.mu.Lock()
	s := u.shares[key]
	u.pool.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.Release(ctx)
}

// Has reports whether this process holds the lock's lease now. It does no I/O.
func (p *Pool) Has(key string) bool {
	p.mu.Lock()
	of := p.held[key]
	p.mu.Unlock()
	return of != nil && of.lease.Check() == nil
}

// Holder returns the node that holds a lock, as far as can be seen without acquiring it. It returns "" if the lock has no record,
// was released, or has stood still for its TTL. For a holder of another application it returns the holder's whole text.
func (p *Pool) Holder(ctx context.Context, key string) (node string, err error) {
	return p.manager.Holder(ctx, key)
}
