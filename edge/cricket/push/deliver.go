package push

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Bounds of a round.
const (
	roundSize     = 8192        // pushes per round; after it the loop reads the journal again
	patienceUsual = time.Second // real time the loop waits for the last answers of a round
)

// pick chooses the pushes of this round: alerts and starts first, then the sessions that have waited longest.
// The rest is planned again in the next round, with the newest state. While pushes are held back only one is tried, but jobs
// that send nothing go on.
func (c *Coordinator) pick(jobs []*job) []*job {
	_, one := c.circuit.held()
	if !one && len(jobs) <= roundSize {
		return jobs
	}
	slices.SortStableFunc(jobs, func(a, b *job) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), a.session.at.Compare(b.session.at))
	})
	picked, pushes := make([]*job, 0, min(len(jobs), roundSize)), 0
	for _, j := range jobs {
		if len(picked) == roundSize || one && j.kind.pushes() && pushes > 0 {
			j.match.dirty = true
			continue
		}
		if j.kind.pushes() {
			pushes++
		}
		picked = append(picked, j)
	}
	return picked
}

// rank orders pushes that light up a screen before those that update a number.
func (j *job) rank() int {
	switch {
	case j.session.isChannel():
		return 0
	case j.kind == tell || j.kind == notify:
		return 1
	case j.kind == start:
		return 2
	default:
		return 3
	}
}

// send delivers the pushes of a round and returns the answered ones. It does not wait for stragglers: a token that Apple
// does not answer for must not delay the alerts of other matches. Late answers are handled by a later round, and until then
// their phones get nothing else.
func (c *Coordinator) send(ctx context.Context, jobs []*job) (answered []*job) {
	out := make([]*job, 0, len(jobs))
	for _, j := range jobs {
		if j.kind.pushes() && !j.skip {
			out = append(out, j)
		}
	}
	if len(out) == 0 {
		return jobs
	}
	r := c.launch(ctx, out)
	c.clock.Suspend(r.wait)
	defer r.rejoined()
	late := r.give()
	if len(late) == 0 {
		return jobs
	}
	for _, j := range late {
		j.session.flying = true
		c.metrics.stragglers.Inc()
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return slices.Contains(late, j) })
}

// sendRound is a round of pushes under way.
type sendRound struct {
	c     *Coordinator
	queue chan *job
	empty chan struct{} // closed when every push has been taken by a worker
	done  chan struct{} // closed when every push is answered

	mu    sync.Mutex
	left  int               // not taken yet
	open  map[*job]struct{} // not answered yet
	gone  bool              // the loop has gone on
	leave func()            // of the last worker, deferred until the loop has joined the clock again
}

// launch starts the workers of a round. Each is joined to the clock while it works.
func (c *Coordinator) launch(ctx context.Context, jobs []*job) *sendRound {
	r := &sendRound{
		c: c, queue: make(chan *job, len(jobs)), empty: make(chan struct{}), done: make(chan struct{}),
		left: len(jobs), open: make(map[*job]struct{}, len(jobs)), leave: func() {},
	}
	for _, j := range jobs {
		r.queue <- j
		r.open[j] = struct{}{}
	}
	close(r.queue)
	leaves := make([]func(), min(c.cfg.Workers, len(jobs)))
	for w := range leaves {
		leaves[w] = c.clock.Join()
	}
	for _, leave := range leaves {
		c.flying.Go(func() { r.work(ctx, leave) })
	}
	return r
}

// work sends until the queue is empty.
func (r *sendRound) work(ctx context.Context, leave func()) {
	for j := range r.queue {
		r.taken()
		if ctx.Err() == nil && r.c.mayStill(j) {
			j.result, j.skip = r.c.deliver(ctx, j.push)
		} else {
			j.skip = true
		}
		j.at = r.c.clock.Now()
		if r.answered(j, leave) {
			return
		}
	}
	leave()
}

func (r *sendRound) taken() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left--; r.left == 0 {
		close(r.empty)
	}
}

// answered records an answer. The last worker of a round leaves the clock only after the loop is back.
func (r *sendRound) answered(j *job, leave func()) (last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, j)
	if r.gone {
		r.c.land(j)
	}
	if len(r.open) > 0 || r.gone {
		return false
	}
	r.leave = leave
	close(r.done)
	return true
}

// land hands a late answer to the loop.
func (c *Coordinator) land(j *job) {
	c.mu.Lock()
	c.landed = append(c.landed, j)
	c.mu.Unlock()
	c.changed.Set()
}

// wait waits for the answers: for the last of them only as long as patience.
func (r *sendRound) wait() {
	select {
	case <-r.done:
		return
	case <-r.empty:
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.c.patience)
	defer cancel()
	select {
	case <-r.done:
	case <-ctx.Done():
	}
}

// give returns the unanswered pushes; from now on their answers go to land.
func (r *sendRound) give() (late []*job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for j := range r.open {
		late = append(late, j)
	}
	r.gone = len(late) > 0
	return late
}

// rejoined lets the last worker leave the clock.
func (r *sendRound) rejoined() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leave()
}

// landings handles late answers.
func (c *Coordinator) landings(ctx context.Context) error {
	c.mu.Lock()
	late := c.landed
	c.landed = nil
	c.mu.Unlock()
	if len(late) == 0 {
		return nil
	}
	slices.SortFunc(late, func(a, b *job) int {
		return cmp.Or(cmp.Compare(a.match.id, b.match.id), cmp.Compare(a.session.row.Key, b.session.row.Key))
	})
	for _, j := range late {
		j.session.flying = false
	}
	return c.settle(ctx, late)
}
