package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/touchline/touchline/internal/fault"
)

// maxBatch bounds the transactions of one commit, and with them the time that the first of them waits.
const maxBatch = 512

// A commit waits for as many members as there were about the last one, in it or waiting behind it: up to linger for the
// next of them, and up to maxLinger for all. maxYields ends it where time stands still.
const (
	linger    = 100 * time.Microsecond
	maxLinger = 10 * linger
	maxYields = 1 << 14
)

// committer is the one writer. It takes all that wait into one bbolt transaction and gives each of them its turn: the
// function of a member runs on the goroutine of its caller, so that a panic, a runtime.Goexit or a stack trace is
// where it belongs, while the committer waits. Then it commits, and tells them all.
type committer struct {
	s      *Store
	mu     sync.Mutex
	queue  []*member
	closed error         // why no further member is taken
	wake   chan struct{} // holds one: something has changed
	back   chan struct{} // the member that had the turn gives it back
	ended  chan struct{} // run has returned

	stall   *time.Timer // runs while members are served
	serving bool
	since   time.Time // when a member got the turn; zero: nobody has it
}

// member is one Update on its way.
type member struct {
	ctx   context.Context
	fn    func(*Tx) error
	state atomic.Uint32
	ch    chan turn // the turn, then the outcome
	err   error     // of fn, then of the commit
}

// turn is what the committer sends to a member: a transaction to run in, or the end.
type turn struct{ tx *Tx }

const (
	memberWaits   = iota
	memberRuns    // the committer has given it the turn
	memberLeft    // its context ended first
	memberEscaped // it left by a panic, after it was undone: nobody waits for the outcome
)

func newCommitter(s *Store) *committer {
	c := &committer{
		s: s, wake: make(chan struct{}, 1), back: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	c.stall = time.AfterFunc(time.Hour, c.breakStall)
	c.stall.Stop()
	return c
}

type insideKey struct{ s *Store }

// submit queues fn, runs it when its turn comes, and returns the outcome.
func (c *committer) submit(ctx context.Context, fn func(*Tx) error) error {
	if ctx.Value(insideKey{c.s}) != nil {
		return fault.New(fault.Internal, "nested_update", "Update was called inside Update: it would wait for itself")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m := &member{ctx: ctx, fn: fn, ch: make(chan turn, 2)}
	if err := c.enqueue(m); err != nil {
		return err
	}
	var t turn
	select {
	case t = <-m.ch:
	case <-ctx.Done():
		if m.state.CompareAndSwap(memberWaits, memberLeft) {
			return context.Cause(ctx)
		}
		t = <-m.ch
	}
	if t.tx != nil {
		c.take(m, t.tx)
		<-m.ch
	}
	return m.err
}

func (c *committer) enqueue(m *member) error {
	c.mu.Lock()
	err := c.closed
	if err == nil {
		c.queue = append(c.queue, m)
	}
	c.mu.Unlock()
	if err == nil {
		c.poke()
	}
	return err
}

func (c *committer) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take runs the member's function on the caller's goroutine. If fn fails, panics or ends the goroutine, what it did
// is undone before the turn goes back.
func (c *committer) take(m *member, tx *Tx) {
	returned := false
	defer func() {
		if !returned {
			m.state.Store(memberEscaped)
		}
		tx.finish(returned && m.err == nil)
		c.back <- struct{}{}
	}()
	m.err = tx.run(m.fn)
	returned = true
}

// run is the loop of the committer; it ends when close was called and nobody waits any more.
func (c *committer) run() {
	defer close(c.ended)
	for last := 1; c.await(last); {
		last = c.commit()
	}
}

// await returns when there is something to commit, false when there never will be again.
func (c *committer) await(last int) bool {
	for {
		n, closed := c.waiting()
		if n > 0 {
			c.linger(n, last)
			return true
		}
		if closed {
			return false
		}
		<-c.wake
	}
}

func (c *committer) waiting() (n int, closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue), c.closed != nil
}

// linger lets those who were about the last commit come back, as they will in a moment, so that they share the next
// one. It ends when as many wait, or when nobody has come for a while. It yields instead of
// sleeping because a timer is ten times too coarse.
func (c *committer) linger(n, last int) {
	if last <= 1 {
		return
	}
	arrived := time.Now()
	end := arrived.Add(maxLinger)
	for range maxYields {
		if n >= last {
			return
		}
		runtime.Gosched()
		now := time.Now()
		more, _ := c.waiting()
		if more > n {
			n, arrived = more, now
		}
		if now.Sub(arrived) > linger || now.After(end) {
			return
		}
	}
}

// next takes the first of those who wait and gives it the right to run.
func (c *committer) next() *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) > 0 {
		m := c.queue[0]
		c.queue[0] = nil
		c.queue = c.queue[1:]
		if m.state.CompareAndSwap(memberWaits, memberRuns) {
			return m
		}
	}
	c.queue = nil
	return nil
}

// commit makes one commit of all that wait, and returns how many there were about it: in it, or waiting when it ended.
func (c *committer) commit() int {
	b, err := c.begin()
	if err != nil {
		c.refuseAll(err)
		return 1
	}
	c.serve(b)
	if len(b.members) > 0 {
		err = c.finish(b)
	} else {
		err = b.btx.Rollback()
	}
	c.s.readers.resume()
	behind, _ := c.waiting()
	c.tell(b, err)
	return len(b.members) + behind
}

// serve gives those who wait, and those who come meanwhile, their turn.
func (c *committer) serve(b *batch) {
	c.watchStall(true)
	defer c.watchStall(false)
	for len(b.members) < c.batchLimit() && b.broken == nil {
		m := c.next()
		if m == nil {
			return
		}
		b.members = append(b.members, m)
		c.giveTurn(b, m)
	}
}

// batchLimit is one after a refusal for lack of space: then a write that needs no new space is not refused for the
// sake of a neighbour that does.
func (c *committer) batchLimit() int {
	if c.s.meter.lastWasFull.Load() {
		return 1
	}
	return maxBatch
}

func (c *committer) begin() (*batch, error) {
	if err := c.s.Err(); err != nil {
		return nil, err
	}
	c.s.readers.suspend()
	btx, err := c.s.db.Begin(true)
	if err != nil {
		return nil, c.s.latch(err)
	}
	return newBatch(c.s, btx), nil
}

func (c *committer) giveTurn(b *batch, m *member) {
	c.hasTurn(time.Now())
	m.ch <- turn{tx: b.newTx(m.ctx)}
	<-c.back
	c.hasTurn(time.Time{})
}

func (c *committer) hasTurn(since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = since
}

// finish commits what the members have left. Only behind the commit does the memory of the store move.
func (c *committer) finish(b *batch) (err error) {
	started := time.Now()
	defer func() {
		if r := recover(); r != nil {
			err = c.s.latch(fmt.Errorf("commit: %v", r))
			abandon(b.btx)
		}
	}()
	if b.broken != nil {
		_ = b.btx.Rollback()
		return c.s.latch(b.broken)
	}
	if b.mutations == 0 {
		return b.btx.Rollback()
	}
	if err := b.seal(); err != nil {
		_ = b.btx.Rollback()
		return c.s.latch(err)
	}
	c.s.room.reserve(b.btx, b.need(), !b.grows)
	if err := b.btx.Commit(); err != nil {
		return c.refusal(err)
	}
	c.s.advance(b)
	c.s.meter.committed(len(b.members), time.Since(started))
	return nil
}

// refusal translates an error of a commit: no room is met before anything is written; all else is beyond repair.
func (c *committer) refusal(err error) error {
	if isFull(err) {
		c.s.meter.full()
		return fault.Wrap(err, fault.Full, "store_full", "there is no room for the write in the store")
	}
	return c.s.latch(err)
}

// tell gives the members their outcome. When the commit failed all of them did: also an error of theirs may have been
// about something that now never was.
func (c *committer) tell(b *batch, err error) {
	for _, m := range b.members {
		if m.state.Load() == memberEscaped {
			continue
		}
		if err != nil {
			m.err = err
		}
		m.ch <- turn{}
	}
}

// refuseAll fails those who wait.
func (c *committer) refuseAll(err error) {
	for m := c.next(); m != nil; m = c.next() {
		m.err = err
		m.ch <- turn{}
	}
}

func (c *committer) watchStall(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serving = on
	if on {
		c.stall.Reset(c.s.opts.WriteStall)
	} else {
		c.stall.Stop()
	}
}

// breakStall fails those who wait while one member keeps its turn too long. If one of them is an Update that the
// member made itself, the member gets its error and ends; otherwise callers learn that the store is stuck.
func (c *committer) breakStall() {
	if limit := c.s.opts.WriteStall; c.stalled(limit) {
		c.refuseAll(fault.New(fault.Unavailable, "store_stalled",
			"another transaction has been running for %v; does it call Update itself?", limit))
	}
}

// stalled tells whether a member has had its turn for limit, and comes back when one may have.
func (c *committer) stalled(limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.serving {
		return false
	}
	var had time.Duration
	if !c.since.IsZero() {
		had = time.Since(c.since)
	}
	c.stall.Reset(max(limit-had, limit/4))
	return had >= limit
}

// close lets those who wait finish, refuses all others, and returns when the loop has ended.
func (c *committer) close() {
	c.mu.Lock()
	if c.closed == nil {
		c.closed = errClosed()
	}
	c.mu.Unlock()
	c.poke()
	<-c.ended
}

func isFull(err error) bool { return errors.Is(err, bolterrors.ErrMaxSizeReached) }

// abandon gives back the write lock of a transaction that panicked, so that Close does not wait for it.
func abandon(btx *bolt.Tx) {
	defer func() { _ = recover() }() // it is beyond repair already
	_ = btx.Rollback()
}
