package lease

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// Lease is the right to work under one lock until its deadline. Each renewal moves the deadline; a lease that is over stays over.
type Lease struct {
	m   *Manager
	key string

	ctx    context.Context // ends with the lease; its cause says why
	cancel context.CancelCauseFunc

	io   chan struct{} // a semaphore for one request at a time, so that no renewal overtakes a release
	sent int64         // renewals that may have left; owned by the holder of io
	kept bool          // whether Run renews it; guarded by the manager's mu

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
	l.watch = time.AfterFunc(l.nextCheck(), l.checkClocks)
	return l
}

// Key returns the lock's key.
func (l *Lease) Key() string { return l.key }

// Fence returns the number that everything written under this lease carries.
func (l *Lease) Fence() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fence
}

// Deadline returns when the lease ends by the wall clock unless it is renewed.
func (l *Lease) Deadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.term.Deadline()
}

// Done is closed when the lease is over.
func (l *Lease) Done() <-chan struct{} { return l.ctx.Done() }

// Err returns why the lease is over, a *LostError, or nil while the lease is not known to be over.
func (l *Lease) Err() error { return context.Cause(l.ctx) }

// Check reads the clocks and returns an error if work under the lease must stop. Call it after every blocking call: if the machine
// was suspended meanwhile, it wakes up long after the deadline, and its timers do not notice.
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

// Context returns a context for one piece of work. It ends with parent or with the lease, and then its cause is the lease's
// error. Call cancel to free it.
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

// Release ends the lease here first, then in the table, so that the next node need not wait for it to expire.
func (l *Lease) Release(ctx context.Context) error {
	l.io <- struct{}{}
	defer func() { <-l.io }()
	if l.Check() != nil {
		return nil // another node may hold it by now; otherwise it expires by itself
	}
	_ = l.lose("it was released")
	_, err := l.m.update(ctx, l.m.release(l.key, l.Fence()))
	if _, notOurs := errors.AsType[*ConditionFailedError](err); notOurs {
		return nil
	}
	return err
}

// RaiseFence is for a holder whose write was refused by an item with a higher fence, which can happen after a lock record was
// deleted and created again. If the lock is still ours, its fence becomes above+1 and the caller can repeat the write with it;
// otherwise the lease is over.
func (l *Lease) RaiseFence(ctx context.Context, above int64) error {
	if err := l.m.sawItem(ctx, l.key, above); err != nil {
		return err
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
	if err := l.checkRecord(r, exists); err != nil {
		return err
	}
	if l.Fence() > above {
		return l.Check()
	}
	r, err = l.m.update(ctx, l.m.raise(l.key, l.Fence(), above+1))
	if failed, ok := errors.AsType[*ConditionFailedError](err); ok {
		if lost := l.checkRecord(failed.Old, failed.OK); lost != nil {
			return lost
		}
	}
	if err != nil {
		return err
	}
	if err := l.checkRecord(r, true); err != nil {
		return err
	}
	return l.Check()
}

// renew sends one renewal. It sends a second one if the condition failed although the record is still ours: then the answer
// to a change of the fence was lost.
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
			if err := l.checkRecord(r, true); err != nil {
				return err
			}
			return l.extend(sent)
		case !refused:
			return err
		}
		if lost := l.checkRecord(failed.Old, failed.OK); lost != nil {
			return lost
		}
		if again {
			return err
		}
	}
}

// checkRecord checks whether a record is still this lease's, and adopts a higher fence, which only this node can have set.
func (l *Lease) checkRecord(r Record, exists bool) error {
	switch {
	case !exists:
		return l.lose("its record was deleted")
	case r.Holder != l.m.me:
		return l.lose("another node has taken it")
	case r.IsReleased():
		return l.lose("it was released")
	}
	l.mu.Lock()
	fell := r.Fence < l.fence
	if !fell {
		l.fence = r.Fence
	}
	l.mu.Unlock()
	if fell {
		return l.lose("its record was deleted and created again, or went back to an earlier state")
	}
	return nil
}

// extend begins a new term unless the previous one has run out: work that it ended must not come back to life.
func (l *Lease) extend(sent Instant) error {
	if err := l.Check(); err != nil {
		return err
	}
	l.mu.Lock()
	l.term.Sent = sent
	l.mu.Unlock()
	return l.Check()
}

// lose ends the lease for good. The first reason is kept.
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

// age returns the time since the last renewal was sent.
func (l *Lease) age() time.Duration {
	now := l.m.times.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Mono - l.term.Sent.Mono
}

// checkClocks checks the clocks periodically. A timer alone counts only the time the machine was awake; with checkClocks, contexts also end
// after a step of the wall clock, and soon after the machine wakes up.
func (l *Lease) checkClocks() {
	if l.Check() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() == nil {
		l.watch.Reset(l.nextCheck())
	}
}

// nextCheck returns the time until the next check. It is called with mu held, or before the lease is shared.
func (l *Lease) nextCheck() time.Duration {
	return max(min(l.term.timeLeft(l.m.times.Now()), l.m.ttl/20), time.Millisecond)
}

// HeldError reports that another holder has the lock.
type HeldError struct {
	Key    string
	Holder string
	Retry  time.Duration // earliest useful retry, if nothing changes
}

// Error implements error.
func (e *HeldError) Error() string { return "the lock " + e.Key + " is held by " + e.Holder }

// Unwrap returns the fault.
func (e *HeldError) Unwrap() error { return fault.New(fault.Conflict, "lease_held", "%s", e.Error()) }

// LostError reports that a lease is over.
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
	return fault.New(fault.Unavailable, "lease_ended", "this node takes no more leases")
}
