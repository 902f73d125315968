package push

import (
	"context"
)

// errands are requests that are made beside the loop, one after the other: about channels, or to the locks. The loop does
// not wait for them; what follows from an answer it does itself, with its next round.
type errands struct {
	c     *Coordinator
	busy  bool
	queue []errand

	done []func(ctx context.Context) error // guarded by the coordinator's mu
}

// errand is one of them: do is called beside the loop, then by it.
type errand struct {
	do   func(ctx context.Context)
	then func(ctx context.Context) error
}

// add has an errand done when those before it are.
func (e *errands) add(ctx context.Context, x errand) {
	e.queue = append(e.queue, x)
	e.next(ctx)
}

// next begins the first errand of the queue, if none is under way. It is a member of the clock until the loop knows of its end.
func (e *errands) next(ctx context.Context) {
	if e.busy || len(e.queue) == 0 || ctx.Err() != nil {
		return
	}
	x := e.queue[0]
	e.queue, e.busy = e.queue[1:], true
	leave := e.c.clock.Join()
	e.c.flying.Go(func() {
		defer leave()
		x.do(ctx)
		e.c.mu.Lock()
		e.done = append(e.done, x.then)
		e.c.mu.Unlock()
		e.c.changed.Set()
	})
}

// finish does what follows from the errands that have ended.
func (e *errands) finish(ctx context.Context) error {
	e.c.mu.Lock()
	done := e.done
	e.done = nil
	e.c.mu.Unlock()
	for _, then := range done {
		e.busy = false
		if err := then(ctx); err != nil {
			return err
		}
	}
	e.next(ctx)
	return nil
}
