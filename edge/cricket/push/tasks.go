package push

import (
	"context"
)

// tasks are requests about channels or leases that run in the background, one at a time. The loop does not wait
// for them; it handles the outcome in its next round.
type tasks struct {
	c     *Coordinator
	busy  bool
	queue []task

	done []func(ctx context.Context) error // guarded by the coordinator's mu
}

// task is one request: do runs in the background, and afterwards the loop calls then.
type task struct {
	do   func(ctx context.Context)
	then func(ctx context.Context) error
}

// add queues a task.
func (e *tasks) add(ctx context.Context, x task) {
	e.queue = append(e.queue, x)
	e.next(ctx)
}

// next starts the first task of the queue if none is under way. It is joined to the clock until the loop knows of its end.
func (e *tasks) next(ctx context.Context) {
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

// finish runs then for the tasks that have ended, and starts the next one.
func (e *tasks) finish(ctx context.Context) error {
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
