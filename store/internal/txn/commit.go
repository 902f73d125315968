package txn

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/refusal"
)

// MaxBatch limits the transactions of one commit, and so how long the first of them waits.
const MaxBatch = 512

// A commit waits for as many members as the last one had, including those that were waiting when it ended: up to linger for each next
// one, and up to maxLinger from its start. maxYields ends the wait where time stands still.
const (
	linger    = 100 * time.Microsecond
	maxLinger = 10 * linger
	maxYields = 1 << 8
)

// committer is the single writer. It has no goroutine of its own: one of the waiting callers leads. The leader takes all waiting members
// into one bbolt transaction and gives each its turn. A member's function runs on its caller's goroutine while the leader waits, so a
// panic, a runtime.Goexit or a stack trace is where it belongs. Then the leader commits, tells all members the outcome, and hands the
// lead to the first caller that has arrived meanwhile. So a lone writer does everything on its own goroutine and waits for nobody.
type committer struct {
	s       *DB
	mu      sync.Mutex
	queue   []*member
	leading bool          // there is a leader, or a member has been told to lead
	closed  error         // why no more members are accepted
	ended   chan struct{} // closed when closed is set and nobody leads
	last    int           // members of the last commit, and those waiting when it ended; only the leader uses it
	back    chan struct{} // signals that a member has finished its turn

	trimmed   time.Time // when the journal was last trimmed
	untrimmed int       // records written since

	stall   *time.Timer // runs while members are served
	serving bool
	since   time.Time // when the current turn began; zero: no turn
	holder  *member   // the member whose turn it is
}

// member is one Update in progress.
type member struct {
	ctx   context.Context
	fn    func(*Tx) error
	state atomic.Uint32
	ch    chan turn // receives the lead or a turn, then the outcome
	err   error     // of fn, then of the commit
}

// turn is a message from the leader to a member: the lead, a transaction to run in, or the end.
type turn struct {
	lead bool
	tx   *Tx
}

const (
	memberWaits   = iota
	memberRuns    // it leads or has its turn
	memberLeft    // its context ended first
	memberEscaped // it panicked or ended its goroutine, and was undone: nobody waits for the outcome
)

func newCommitter(s *DB) *committer {
	c := &committer{s: s, last: 1, back: make(chan struct{}, 1), ended: make(chan struct{})}
	c.stall = time.AfterFunc(time.Hour, c.breakStall)
	c.stall.Stop()
	return c
}

// submit queues fn, runs it when its turn comes, and returns the outcome.
func (c *committer) submit(ctx context.Context, fn func(*Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m := &member{ctx: ctx, fn: fn}
	leads, err := c.enter(m)
	switch {
	case err != nil:
		return err
	case leads:
		c.lead(m)
		return m.err
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
	switch {
	case t.lead:
		c.lead(m)
	case t.tx != nil:
		c.takeTurn(m, t.tx)
		<-m.ch
	}
	return m.err
}

// enter gives the member the lead if nobody has it; otherwise it queues the member.
func (c *committer) enter(m *member) (leads bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed != nil {
		return false, c.closed
	}
	if !c.leading {
		c.leading = true
		m.state.Store(memberRuns)
		return true, nil
	}
	m.ch = make(chan turn, 2)
	c.queue = append(c.queue, m)
	return false, nil
}

// takeTurn runs the member's function while the leader waits.
func (c *committer) takeTurn(m *member, tx *Tx) {
	defer func() { c.back <- struct{}{} }()
	c.runMember(m, tx)
}

// runMember runs the member's function. If that fails, panics or ends the goroutine, its changes are undone.
func (c *committer) runMember(m *member, tx *Tx) {
	returned := false
	defer func() {
		if !returned {
			m.state.Store(memberEscaped)
		}
		tx.finish(returned && m.err == nil)
	}()
	m.err = tx.run(m.fn)
	returned = true
}

// lead makes one commit of the member and all that wait. Even if the member's function panics or ends the goroutine, the commit is made
// and the lead handed on, because the others are not affected.
func (c *committer) lead(m *member) {
	b, err := c.begin()
	if err != nil {
		m.err = err
		c.refuseAll(err)
		c.last = 1
		c.handOn()
		return
	}
	defer func() {
		c.last = c.commit(b)
		c.handOn()
	}()
	c.serve(b, m)
}

// handOn gives the lead to the first waiting member.
func (c *committer) handOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.first(); m != nil {
		m.ch <- turn{lead: true}
		return
	}
	c.leading = false
	if c.closed != nil {
		close(c.ended)
	}
}

// Waiting returns how many members wait for their turn or the lead.
func (c *committer) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// linger waits briefly for another member, as those of the last commit may be about to return and can share this one. It yields instead
// of sleeping because timers are ten times too coarse.
func (c *committer) linger(end time.Time) (came bool) {
	began := time.Now()
	for n := 1; ; n++ {
		runtime.Gosched()
		yieldProcessor()
		if c.Waiting() > 0 {
			return true
		}
		now := time.Now()
		if now.Sub(began) > linger || now.After(end) || n >= maxYields && now.Equal(began) {
			return false
		}
	}
}

// next removes the first waiting member from the queue and marks it as running.
func (c *committer) next() *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first()
}

// first is next for a caller that holds mu.
func (c *committer) first() *member {
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

// commit ends the batch. It returns the number of its members and of those waiting when it ended.
func (c *committer) commit(b *batch) int {
	err := c.finish(b)
	c.s.Readers.Resume()
	behind := c.Waiting()
	failpoint.Hit(failpoint.CommitAnswer)
	c.reportOutcome(b, err)
	return len(b.members) + behind
}

// serve gives the leader, the waiting members and those that arrive meanwhile their turns, up to BatchLimit. It stops when nobody arrives
// any more, or when nobody waits and it has served as many as c.last counts: a lone writer waits for nobody.
func (c *committer) serve(b *batch, leader *member) {
	c.watchStall(true)
	defer c.watchStall(false)
	end := time.Now().Add(maxLinger)
	b.members = append(b.members, leader)
	c.hasTurn(leader)
	c.runMember(leader, b.newTx(leader.ctx))
	c.hadTurn()
	for len(b.members) < c.BatchLimit() && b.broken == nil {
		m := c.next()
		if m == nil {
			if len(b.members) >= c.last || !c.linger(end) {
				return
			}
			continue
		}
		b.members = append(b.members, m)
		c.giveTurn(b, m)
	}
}

// BatchLimit is 1 after a refusal for lack of space, so that a write that needs no new space is not refused because of another one that
// does.
func (c *committer) BatchLimit() int {
	if c.s.Meter.LastWasFull.Load() {
		return 1
	}
	return MaxBatch
}

func (c *committer) begin() (b *batch, err error) {
	if err := c.s.Err(); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil { // bbolt panics if its page lists are damaged
			err = c.s.latch(fmt.Errorf("begin: %v", r))
		}
	}()
	c.s.Readers.Suspend()
	btx, err := c.s.Bolt.Begin(true)
	if err != nil {
		return nil, c.s.latch(err)
	}
	return newBatch(c.s, btx), nil
}

func (c *committer) giveTurn(b *batch, m *member) {
	c.hasTurn(m)
	m.ch <- turn{tx: b.newTx(m.ctx)}
	<-c.back
	c.hadTurn()
}

// finish commits the changes of the members. The state in memory changes only after the commit.
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
	failpoint.Hit(failpoint.CommitSealed)
	need, leaves := b.need(), b.leaves()
	if err := c.s.Room.Reserve(b.btx, need, leaves); err != nil {
		_ = b.btx.Rollback()
		return c.refusal(err)
	}
	if c.s.Room.Hopeless(need, leaves, started) {
		_ = b.btx.Rollback()
		return c.refusal(bolterrors.ErrMaxSizeReached)
	}
	failpoint.Hit(failpoint.CommitReserved)
	err = b.btx.Commit()
	ended := time.Now()
	c.s.Room.RecordCommit(need, leaves, err, ended, ended.Sub(started))
	if err != nil {
		return c.refusal(err)
	}
	failpoint.Hit(failpoint.CommitWritten)
	c.s.advance(b)
	c.s.Meter.recordCommit(len(b.members), ended.Sub(started))
	return nil
}

// refusal translates an error of a commit. Lack of space is detected before anything is written; any other error latches the store.
func (c *committer) refusal(err error) error {
	if disk.IsFull(err) {
		c.s.Meter.full()
		return fault.Wrap(err, fault.Full, "store_full", "there is no room for the write in the store")
	}
	return c.s.latch(err)
}

// reportOutcome sends the members their outcome. If the commit failed, all get its error, because even a member's own error may be about changes
// that now never happened.
func (c *committer) reportOutcome(b *batch, err error) {
	for _, m := range b.members {
		if m.state.Load() == memberEscaped {
			continue
		}
		if err != nil {
			m.err = err
		}
		if m.ch != nil { // a leader that never queued has no channel
			m.ch <- turn{}
		}
	}
}

// refuseAll fails all waiting members.
func (c *committer) refuseAll(err error) {
	for m := c.next(); m != nil; m = c.next() {
		m.err = err
		m.ch <- turn{}
	}
}

// close lets waiting members finish, refuses later ones, and returns when nobody leads any more.
func (c *committer) close() {
	c.mu.Lock()
	if c.closed == nil {
		c.closed = refusal.Closed()
		if !c.leading {
			close(c.ended)
		}
	}
	c.mu.Unlock()
	<-c.ended
}

// abandon releases the write lock of a transaction that panicked, so that Close does not wait for it.
func abandon(btx *bolt.Tx) {
	defer func() { _ = recover() }() // the transaction is lost already
	_ = btx.Rollback()
}
