package lease

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// sighting is what a lock of somebody else looked like, and since when by this node's boot clock. The clocks of the
// holder play no part in it: a dead holder whose clock was an hour ahead blocks nobody. The expiry counts as a part of the
// look also where there is an rvn: the original application may have taken a record of ours over and left the rest in it.
type sighting struct {
	holder, rvn string
	expiresAt   int64
	since       time.Duration
}

// claim decides how a lock may be taken now. It gives *HeldError when it may not.
func (m *Manager) claim(key string, r Record, exists bool, now Instant) (Change, error) {
	switch {
	case !exists || r.Released():
		return m.take(key, ifFree, attr.Item{":zero": attr.Int(0)}, now), nil
	case r.Holder == m.me, m.local && heldBy(r.Holder, m.node):
		// An answer was lost, or a lease ended without its release. Without a cloud it may also be the lock of an
		// earlier run: it is dead, for this one has the file. In the cloud a clone of this machine may live.
		return m.take(key, ifOurs, attr.Item{":h": attr.S(r.Holder), ":f": attr.Int(r.Fence)}, now), nil
	}
	if still := m.stillFor(key, &r, now); still < r.stands() {
		return Change{}, &HeldError{Key: key, Holder: r.Holder, Retry: r.stands() - still}
	}
	h, ms := attr.S(r.Holder), m.serverMillis(now)
	if !r.ours() && r.ExpiresAt >= ms {
		return Change{}, &HeldError{Key: key, Holder: r.Holder, Retry: time.Duration(r.ExpiresAt-ms) * time.Millisecond}
	}
	if r.RVN != "" {
		return m.take(key, ifStill, attr.Item{":seen": attr.S(r.RVN), ":h": h, ":e": attr.Int(r.ExpiresAt)}, now), nil
	}
	return m.take(key, ifLapsed,
		attr.Item{":now": attr.Int(ms), ":seen": attr.Int(r.ExpiresAt), ":h": h}, now), nil
}

// Holder returns which node holds a lock, as far as that can be seen without taking it: "" where there is no record, it
// was given back, or it has stood still for its time. The node of a holder that is none of ours is its whole text.
func (m *Manager) Holder(ctx context.Context, key string) (node string, err error) {
	r, exists, err := m.get(ctx, key)
	if err != nil || !exists || r.Released() {
		return "", err
	}
	if r.Holder != m.me && m.stillFor(key, &r, m.times.Now()) >= r.stands() {
		return "", nil
	}
	return r.Node(), nil
}

// stillFor notes what a lock looks like and returns how long it has looked like that. now is taken after the reading:
// the record may have been written as late as that.
func (m *Manager) stillFor(key string, r *Record, now Instant) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.seen[key]
	if s == nil || s.holder != r.Holder || s.rvn != r.RVN || s.expiresAt != r.ExpiresAt {
		s = &sighting{holder: r.Holder, rvn: r.RVN, expiresAt: r.ExpiresAt, since: now.Boot}
		m.seen[key] = s
	}
	return now.Boot - s.since
}

// Acquire tries once to take a lock. *HeldError says who has it, *LostError that the answer came too late to be of
// use; after any other error it may or may not have been taken, and the next Acquire finds out.
//
// Before the first unit of work the state that the lock guards must be read anew: another node may have written it. That
// is what Config.Took does.
func (m *Manager) Acquire(ctx context.Context, key string) (*Lease, error) {
	if err := m.fit(); err != nil {
		return nil, err
	}
	if err := m.begin(key); err != nil {
		return nil, err
	}
	defer m.end(key)
	l, err := m.acquire(ctx, key)
	if err != nil || m.took == nil {
		return l, err
	}
	held, cancel := l.Context(ctx)
	defer cancel()
	err = m.took(held, key, l.Fence())
	if err == nil {
		err = l.Check()
	}
	if err != nil {
		return nil, errors.Join(err, l.Release(context.WithoutCancel(ctx)))
	}
	return l, nil
}

func (m *Manager) acquire(ctx context.Context, key string) (*Lease, error) {
	r, exists, err := m.get(ctx, key)
	if err != nil {
		return nil, err
	}
	for {
		sent := m.times.Now()
		change, err := m.claim(key, r, exists, sent)
		if err != nil {
			return nil, err
		}
		got, err := m.update(ctx, change)
		if err == nil {
			return m.hold(ctx, key, got, sent)
		}
		failed, ok := errors.AsType[*ConditionFailedError](err)
		if !ok {
			return nil, err
		}
		if failed.OK && failed.Old.Holder == m.me && failed.Old.Fence > r.Fence {
			// A copy of a request of ours was here first. Take it once more, to know from when it counts.
			r, exists = failed.Old, true
			continue
		}
		if failed.OK && !failed.Old.Released() {
			m.stillFor(key, &failed.Old, m.times.Now())
		}
		return nil, &HeldError{Key: key, Holder: failed.Old.Holder, Retry: m.ttl / 3}
	}
}

// Recover frees at once every lock that earlier runs of this node have left, each with a higher fence. It is for a
// node without a cloud, when its store has been opened: whoever holds the file knows them dead. In the cloud they
// wait for their time like everybody's.
func (m *Manager) Recover(ctx context.Context) (freed int, err error) {
	if !m.local {
		return 0, nil
	}
	records, err := m.table.List(ctx)
	if err != nil {
		return 0, err
	}
	for i := range records {
		r := &records[i]
		if r.Released() || r.Holder == m.me || !heldBy(r.Holder, m.node) {
			continue
		}
		c := m.take(r.Key, ifOurs, attr.Item{
			":h": attr.S(r.Holder), ":f": attr.Int(r.Fence), ":expires": attr.Int(0),
		}, m.times.Now())
		if _, err := m.update(ctx, c); err != nil {
			return freed, err
		}
		freed++
	}
	return freed, nil
}
