package lease

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// sighting is how another holder's lock looked, and since when by this node's boot clock. The holder's clocks play no part: a dead
// holder whose clock ran an hour fast blocks nobody. expiresAt is compared even where there is an rvn, because the original
// application may have taken over one of our records and left our other attributes in it.
type sighting struct {
	holder, rvn string
	expiresAt   int64
	since       time.Duration
}

// claim decides how a lock may be acquired now. It returns *HeldError if it may not.
func (m *Manager) claim(key string, r Record, exists bool, seen seenFences, now Instant) (Change, error) {
	take := func(condition string, values attr.Item) (Change, error) {
		return m.acquisition(key, &r, seen, condition, values, now), nil
	}
	switch {
	case !exists || r.IsReleased():
		return take(ifFree, attr.Item{":zero": attr.Int(0)})
	case r.Holder == m.me, m.local && heldBy(r.Holder, m.node):
		// An answer was lost, or a lease ended without its release. Without a cloud this may also be the lock of an earlier run,
		// which is dead because this run has the file open. In the cloud a clone of this machine may be alive.
		return take(ifOurs, attr.Item{":h": attr.S(r.Holder)})
	}
	if still := m.stillFor(key, &r, now); still < r.stands() {
		return Change{}, &HeldError{Key: key, Holder: r.Holder, Retry: r.stands() - still}
	}
	h, ms := attr.S(r.Holder), m.serverMillis(now)
	if !r.ours() && r.ExpiresAt >= ms {
		return Change{}, &HeldError{Key: key, Holder: r.Holder, Retry: time.Duration(r.ExpiresAt-ms) * time.Millisecond}
	}
	if r.RVN != "" {
		return take(ifStill, attr.Item{":seen": attr.S(r.RVN), ":h": h, ":e": attr.Int(r.ExpiresAt)})
	}
	return take(ifLapsed, attr.Item{":now": attr.Int(ms), ":seen": attr.Int(r.ExpiresAt), ":h": h})
}

// Holder returns the node that holds a lock, as far as can be seen without acquiring it. It returns "" if the lock has no record,
// was released, or has stood still for its TTL. For a holder of another application it returns the holder's whole text.
func (m *Manager) Holder(ctx context.Context, key string) (node string, err error) {
	r, exists, err := m.get(ctx, key)
	if err != nil || !exists || r.IsReleased() {
		return "", err
	}
	if r.Holder != m.me && m.stillFor(key, &r, m.times.Now()) >= r.stands() {
		return "", nil
	}
	return r.Node(), nil
}

// stillFor records how a lock looks and returns how long it has looked like that. now must be taken after the read: the
// record may have been written as late as that.
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

// Acquire tries once to acquire a lock. It returns *HeldError if another holder has it and *LostError if the answer came too late
// to be of use. After any other error the lock may or may not have been acquired; the next Acquire finds out.
// Before any work starts, the state that the lock guards must be read again, because another node may have written it.
// Config.Took does that.
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
		seen, err := m.fences.recall(ctx, key)
		if err != nil {
			return nil, err
		}
		sent := m.times.Now()
		change, err := m.claim(key, r, exists, seen, sent)
		if err != nil {
			return nil, err
		}
		got, err := m.update(ctx, change)
		if err == nil {
			return m.startLease(ctx, key, got, sent)
		}
		failed, ok := errors.AsType[*ConditionFailedError](err)
		if !ok {
			return nil, err
		}
		// A copy of our own request got here first: acquire again, to know from when the term counts. Or another node took the lock and
		// released it since it was read.
		moved := failed.OK && failed.Old.Fence > r.Fence
		if moved && (failed.Old.Holder == m.me || failed.Old.IsReleased()) {
			r, exists = failed.Old, true
			continue
		}
		if failed.OK && !failed.Old.IsReleased() {
			m.stillFor(key, &failed.Old, m.times.Now())
		}
		return nil, &HeldError{Key: key, Holder: failed.Old.Holder, Retry: m.ttl / 3}
	}
}

// Recover frees every lock that earlier runs of this node left behind, raising each fence. It is for a node without a cloud,
// right after its store is opened: the process that has the file open knows that earlier runs are dead. In the cloud such locks
// expire like any other.
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
		if r.IsReleased() || r.Holder == m.me || !heldBy(r.Holder, m.node) {
			continue
		}
		seen, err := m.fences.recall(ctx, r.Key)
		if err != nil {
			return freed, err
		}
		c := m.acquisition(r.Key, r, seen, ifOurs, attr.Item{":h": attr.S(r.Holder), ":expires": attr.Int(0)}, m.times.Now())
		if _, err := m.update(ctx, c); err != nil {
			return freed, err
		}
		freed++
	}
	return freed, nil
}
