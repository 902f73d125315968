package lease

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// Lease is the right to work under one lock until its deadline, which each renewal moves. Once over it stays over.
type Lease struct {
	m   *Manager
	key string

	ctx    context.Context // ends when the lease does, its cause says why
	cancel context.CancelCauseFunc

	io   chan struct{} // of one place, for one request at a time: a renewal must not overtake a release
	sent int64         // renewals that may have left; of whoever has the place
	kept bool          // Run has it; guarded by the manager's mu

	mu    sync.Mutex
	fence int64
	term  Term
	watch *time.Timer
}

func newLease(m *Manager, key string, fence int64, term Term) *Lease {
	l := &Lease{m: m, key: key, fence: fence, term: term, io: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch = time.AfterFunc(l.nextLook(), l.look)
	return l
}

// Key is the lock's.
func (l *Lease) Key() string { return l.key }

// Fence is the number that everything written under this lease carries.
func (l *Lease) Fence() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fence
}

// Deadline is when the lease ends by the wall clock if it is not renewed.
func (l *Lease) Deadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.term.Deadline()
}

// Done is closed when the lease is over.
func (l *Lease) Done() <-chan struct{} { return l.ctx.Done() }

// Err says why the lease is over: a *LostError, or nil while it is not known to be.
func (l *Lease) Err() error { return context.Cause(l.ctx) }

// Check looks at the clocks and reports whether work under the lease may go on. Ask after every call that blocks: a
// machine that was suspended in it comes back long after the deadline, and its timers do not know.
func (l *Lease) Check() error {
	if err := l.Err(); err != nil {
		return err
	}
	now := l.m.times.Now()
	l.mu.Lock()
	over := l.term.Expired(now)
	l.mu.Unlock()
	if over {
		return l.lose("its deadline has passed")
	}
	return nil
}

// Context is for one unit of work: it ends with parent, or with the lease, whose error is its cause then. cancel
// frees it.
func (l *Lease) Context(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	if err := l.Check(); err != nil {
		end(err)
	}
	stop := context.AfterFunc(l.ctx, func() { end(context.Cause(l.ctx)) })
	return ctx, func() {
		stop()
		end(context.Canceled)
	}
}

// Release ends the lease here first, then in the table, where the next node need not wait for it.
func (l *Lease) Release(ctx context.Context) error {
	l.io <- struct{}{}
	defer func() { <-l.io }()
	if l.Check() != nil {
		return nil // somebody else's by now, perhaps: it runs out by itself
	}
	_ = l.lose("it was released")
	_, err := l.m.update(ctx, l.m.release(l.key, l.Fence()))
	if _, notOurs := errors.AsType[*ConditionFailedError](err); notOurs {
		return nil
	}
	return err
}

// RaiseFence is for a holder whose write was refused by an item with a higher fence, as a record that was deleted
// and begun again can bring about. If the lock is still ours its fence becomes above+1, and the write can be repeated
// with it; else the lease is over.
func (l *Lease) RaiseFence(ctx context.Context, above int64) error {
	if above < 0 || above == math.MaxInt64 {
		return fault.New(fault.Damaged, "lease_fence", "no fence is above %d", above)
	}
	l.io <- struct{}{}
	defer func() { <-l.io }()
	if err := l.Check(); err != nil {
		return err
	}
	r, exists, err := l.m.get(ctx, l.key)
	if err != nil {
		return err
	}
	if err := l.judge(r, exists); err != nil {
		return err
	}
	if l.Fence() > above {
		return l.Check()
	}
	r, err = l.m.update(ctx, l.m.raise(l.key, l.Fence(), above+1))
	if failed, ok := errors.AsType[*ConditionFailedError](err); ok {
		if lost := l.judge(failed.Old, failed.OK); lost != nil {
			return lost
		}
	}
	if err != nil {
		return err
	}
	if err := l.judge(r, true); err != nil {
		return err
	}
	return l.Check()
}

// renew sends one renewal. Twice, if our own record answers that it is not as expected: an answer to a change of the
// fence was lost.
func (l *Lease) renew(ctx context.Context) error {
	l.io <- struct{}{}
	defer func() { <-l.io }()
	for again := false; ; again = true {
		if err := l.Check(); err != nil {
			return err
		}
		sent := l.m.times.Now()
		l.sent++
		r, err := l.m.update(ctx, l.m.renewal(l.key, l.Fence(), l.sent, sent))
		failed, refused := errors.AsType[*ConditionFailedError](err)
		switch {
		case err == nil:
			if err := l.judge(r, true); err != nil {
				return err
			}
			return l.extend(sent)
		case !refused:
			return err
		}
		if lost := l.judge(failed.Old, failed.OK); lost != nil {
			return lost
		}
		if again {
			return err
		}
	}
}

// judge looks whether a record is still this lease's, and takes over a fence that only this node can have raised.
func (l *Lease) judge(r Record, exists bool) error {
	switch {
	case !exists:
		return l.lose("its record was deleted")
	case r.Holder != l.m.me:
		return l.lose("another node has taken it")
	case r.Released():
		return l.lose("it was released")
	}
	l.mu.Lock()
	fell := r.Fence < l.fence
	if !fell {
		l.fence = r.Fence
	}
	l.mu.Unlock()
	if fell {
		return l.lose("its record was deleted and created again")
	}
	return nil
}

// extend begins a new term, unless the one before had run out by then: what it ended must not come to life again.
func (l *Lease) extend(sent Instant) error {
	if err := l.Check(); err != nil {
		return err
	}
	l.mu.Lock()
	l.term.Sent = sent
	l.mu.Unlock()
	return l.Check()
}

// lose ends the lease for good and gives the reason, which is the first one's.
func (l *Lease) lose(why string) error {
	l.cancel(&LostError{Key: l.key, Why: why})
	l.mu.Lock()
	if l.watch != nil {
		l.watch.Stop()
	}
	l.mu.Unlock()
	l.m.forget(l)
	return l.Err()
}

// age is how old the last renewal is.
func (l *Lease) age() time.Duration {
	now := l.m.times.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Mono - l.term.Sent.Mono
}

// look checks the clocks now and then, so that contexts end also if the wall clock was stepped, or soon after the
// machine has woken up: a timer alone counts only time that it was awake.
func (l *Lease) look() {
	if l.Check() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() == nil {
		l.watch.Reset(l.nextLook())
	}
}

// nextLook is called with mu held, or before the lease is shared.
func (l *Lease) nextLook() time.Duration {
	return max(min(l.term.left(l.m.times.Now()), l.m.ttl/20), time.Millisecond)
}

// HeldError says that a lock is not free.
type HeldError struct {
	Key    string
	Holder string
	Retry  time.Duration // when to try again at the earliest, if nothing changes
}

// Error implements error.
func (e *HeldError) Error() string { return "the lock " + e.Key + " is held by " + e.Holder }

// Unwrap returns the fault.
func (e *HeldError) Unwrap() error { return fault.New(fault.Conflict, "lease_held", "%s", e.Error()) }

// LostError says that a lease is over.
type LostError struct {
	Key string
	Why string
}

// Error implements error.
func (e *LostError) Error() string { return "the lease on " + e.Key + " is over: " + e.Why }

// Unwrap returns the fault.
func (e *LostError) Unwrap() error {
	return fault.New(fault.Unavailable, "lease_lost", "%s", e.Error())
}

func errEnded() error {
	return fault.New(fault.Unavailable, "lease_ended", "no leases are taken any more")
}
