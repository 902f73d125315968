package lease

import (
	"context"
	"errors"
	"sync"
)

// Pool lets several parts of one process work under one lease: to the table they are one holder. A lease goes back when the
// last part has given back its share.
type Pool struct {
	manager *Manager

	mu   sync.Mutex
	held map[string]*pooled
}

// pooled is a lease and how many parts work under it.
type pooled struct {
	lease *Lease
	users int
}

// NewPool makes the pool of a manager, from which alone leases are taken then.
func NewPool(m *Manager) *Pool { return &Pool{manager: m, held: map[string]*pooled{}} }

// User is one part of the process: it has one share of a lease at most.
type User struct {
	pool   *Pool
	shares map[string]*Share // guarded by the pool's mu
}

// User adds a part.
func (p *Pool) User() *User { return &User{pool: p, shares: map[string]*Share{}} }

// Share is what one part has of a lease: the lease, but for Release.
type Share struct {
	*Lease
	user *User
	of   *pooled
	gone bool // guarded by the pool's mu
}

// Hold returns this part's share of a lock's lease: the one that it has, one of the lease that another part has taken, or
// one of a lease taken now. Nil while another node holds the lock.
func (u *User) Hold(ctx context.Context, key string) (*Share, error) {
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

// Has returns this part's share of a lease that this process has, nil where it has none. It asks nobody.
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

// join is called with the pool's mu held.
func (u *User) join(key string, of *pooled) *Share {
	of.users++
	s := &Share{Lease: of.lease, user: u, of: of}
	u.shares[key] = s
	return s
}

// Release gives the share back; with the last one the lease goes.
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

// Give gives back what this part has of a lock's lease, if anything.
func (u *User) Give(ctx context.Context, key string) error {
	u.pool.mu.Lock()
	s := u.shares[key]
	u.pool.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.Release(ctx)
}

// Has reports whether this process has the lease of a lock now. It asks nobody.
func (p *Pool) Has(key string) bool {
	p.mu.Lock()
	of := p.held[key]
	p.mu.Unlock()
	return of != nil && of.lease.Check() == nil
}

// Holder returns which node holds a lock, as far as that can be seen without taking it: "" where there is no record, it
// was given back, or it has stood still for its time. The node of a holder that is none of ours is its whole text.
func (p *Pool) Holder(ctx context.Context, key string) (node string, err error) {
	return p.manager.Holder(ctx, key)
}
