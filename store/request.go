package store

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// The budgets of untrusted requests, in units of expr.Work. They count work, not time: a slow machine does not refuse more.
const (
	// turnWork may be spent while others wait. A request that needs more is judged on a snapshot, beside them.
	turnWork = 1 << 19
	// requestWork may be spent on the snapshot, and within the turn by a request whose items changed each time it was judged.
	requestWork = 64 << 20
	// maxAhead is how often a request is judged on a snapshot before it is judged within its turn.
	maxAhead = 3
	// pageWork ends a page of a Query or Scan, as its size does.
	pageWork = 64 << 20
	// readWork limits all pages of a View together. One item always has requestWork left.
	readWork = pageWork + requestWork
	// slotFrom is the cost from which a request needs one of the slots for expensive requests.
	slotFrom = 2 << 20
	// slotWait is how long a request waits for a slot.
	slotWait = 2 * time.Second
)

// The limits of expensive reads of applications, which have slots of their own.
const (
	// mostWaiting is how many of them may run and wait at a time. Each holds what it has read up to then, about a megabyte.
	mostWaiting = 32
	// mostOfClient is how many of them may be one client's, so that others are at most so many turns behind it.
	mostOfClient = 4
)

// slots limits the expensive requests that run at a time to half of the processors, which leaves the rest to the others.
type slots chan struct{}

func newSlots() slots { return make(slots, max(1, runtime.GOMAXPROCS(0)/2)) }

// acquireSlot waits for a slot.
func (s slots) acquireSlot(ctx context.Context) error {
	late := time.NewTimer(slotWait)
	defer late.Stop()
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-late.C:
		return storeBusy()
	}
}

func storeBusy() error {
	return fault.New(fault.Unavailable, "store_busy", "Too many expensive requests are running: try again in a moment.")
}

// shared are the slots for expensive reads of applications.
type shared struct {
	slots
	mu  sync.Mutex
	all int
	of  map[string]int // by client
}

func newShared() *shared { return &shared{slots: newSlots(), of: map[string]int{}} }

// enter waits for a slot, unless too many others do, in total or of the client.
func (s *shared) enter(ctx context.Context, client string) error {
	s.mu.Lock()
	busy := s.all >= mostWaiting || s.of[client] >= mostOfClient
	if !busy {
		s.all++
		s.of[client]++
	}
	s.mu.Unlock()
	if busy {
		return storeBusy()
	}
	err := s.acquireSlot(ctx)
	if err != nil {
		s.forget(client)
	}
	return err
}

// releaseSlot gives a slot back.
func (s *shared) releaseSlot(client string) {
	<-s.slots
	s.forget(client)
}

func (s *shared) forget(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[client]--; s.of[client] == 0 {
		delete(s.of, client)
	}
}

type clientKey struct{}

// AsClient returns a context whose ViewShared reads for a client; the empty one stands for all readers.
func AsClient(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// ViewShared is View for the clients of applications, whose rows may be many. A read that looks at more than some hundred rows waits for
// one of the slots for expensive reads, which it holds until fn returns, so that few of them run at a time and cheap ones are never behind
// them: fn should also encode the answer. It is fault.Unavailable if too many wait already, in total or of the same client (AsClient), or
// if none gets free in time. There is no limit to what it may read.
//
// Without AsClient it reads for the node itself, for pages that all readers share: these have slots of their own, and wait in any number.
func (s *Store) ViewShared(ctx context.Context, fn func(*Tx) error) error {
	p := place{s: s, ctx: ctx}
	p.client, _ = ctx.Value(clientKey{}).(string)
	defer p.release()
	return s.View(ctx, func(tx *Tx) error {
		tx.shared, tx.work = true, expr.NewWork(math.MaxInt/2, p.pause)
		return tx.runWithinBudget(fn)
	})
}

// place is what a ViewShared needs to go on once it is expensive.
type place struct {
	s      *Store
	ctx    context.Context //nolint:containedctx // of the View that it belongs to
	client string          // empty: it reads for all
	leave  func()          // nil: it has no slot
}

// pause is called at intervals with the units spent.
func (p *place) pause(spent int) error {
	if spent >= slotFrom && p.leave == nil {
		if err := p.enter(); err != nil {
			return err
		}
	}
	return context.Cause(p.ctx)
}

func (p *place) enter() error {
	if p.client != "" {
		err := p.s.reads.enter(p.ctx, p.client)
		if err == nil {
			p.leave = func() { p.s.reads.releaseSlot(p.client) }
		}
		return err
	}
	err := p.s.renders.acquireSlot(p.ctx)
	if err == nil {
		p.leave = func() { <-p.s.renders }
	}
	return err
}

func (p *place) release() {
	if p.leave != nil {
		p.leave()
	}
}

// spendOnEntry charges the budget for an entry that a read looks at. In a ViewShared that includes what the application does with it:
// decode it, show it and encode it.
func (tx *Tx) spendOnEntry(size int) error {
	if tx.shared {
		return tx.work.Spend(entryWork + size*smallByte)
	}
	return tx.work.Spend(entryWork + size/entryBytes)
}

// ViewRequest is View for untrusted callers. Their expressions have a budget: beyond it they are refused with fault.Invalid and
// expr.CodeWork, and pages of queries end early. It ends with ctx.
func (s *Store) ViewRequest(ctx context.Context, fn func(*Tx) error) error {
	return s.viewWithin(ctx, readWork, fn)
}

func (s *Store) viewWithin(ctx context.Context, limit int, fn func(*Tx) error) error {
	placed := false
	defer func() {
		if placed {
			<-s.slots
		}
	}()
	return s.View(ctx, func(tx *Tx) error {
		tx.work = expr.NewWork(limit, func(spent int) (err error) {
			if spent >= slotFrom && !placed {
				err = s.slots.acquireSlot(ctx)
				placed = err == nil
			}
			return errors.Join(err, context.Cause(ctx))
		})
		return tx.runWithinBudget(fn)
	})
}

// Work returns the remaining budget of the request, for callers that evaluate expressions themselves; nil: no limit.
func (tx *Tx) Work() *expr.Work { return tx.work }

// runWithinBudget runs fn. If the budget is spent, it returns that error, whatever fn made of it.
func (tx *Tx) runWithinBudget(fn func(*Tx) error) error {
	err := fn(tx)
	if over := tx.work.Err(); over != nil {
		return over
	}
	return err
}

// UpdateRequest is Update for untrusted callers. Expressions have a budget, as in ViewRequest, and long work is not done while others
// wait: such a request is judged on a snapshot, and its turn only checks that the items have not changed since. If they have, it is
// judged again.
//
// So fn may run several times, also on the snapshot, and must do the same each time. Its calls must not depend on one another, because
// calls on the snapshot change nothing. If ahead is true, the first run is on a snapshot, and a request that changes nothing there never
// takes a turn.
func (s *Store) UpdateRequest(ctx context.Context, ahead bool, fn func(*Tx) error) error {
	j, limit := (*judgement)(nil), turnWork
	for try := 0; ; try++ {
		if ahead {
			j = &judgement{}
			if err := s.runJudged(ctx, j, fn); err != nil || !j.changes {
				return err
			}
		}
		if try == maxAhead {
			limit = requestWork
		}
		err := s.Update(ctx, func(tx *Tx) error {
			tx.work = expr.NewWork(limit, func(int) error { return context.Cause(ctx) })
			tx.judged = j
			return tx.runWithinBudget(fn)
		})
		if limit == requestWork || !isTooMuch(err) {
			return err
		}
		ahead = true
	}
}

func isTooMuch(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Code == expr.CodeWork
}

// judgement holds the results of a request's calls on a snapshot, in order.
type judgement struct {
	calls   []judged
	changes bool // at least one call changes something
}

// judged is the result of one call: its actions and their changes. The old rows in the changes belong to the snapshot and are gone with
// it.
type judged struct {
	writes  []write
	mark    format.Mark
	changes []txn.Change
	images  Images
	had     []uint64 // seq of the old rows, 0: none; nil: not judged on a snapshot
	refused bool
}

// runJudged runs fn on a snapshot. If fn changes nothing, it reports what fn touched to Tx.OnTouch.
func (s *Store) runJudged(ctx context.Context, j *judgement, fn func(*Tx) error) error {
	return s.viewWithin(ctx, requestWork, func(tx *Tx) error {
		tx.ahead = j
		if err := fn(tx); err != nil || j.changes {
			return err
		}
		for i := range j.calls {
			for k := range j.calls[i].changes {
				if err := tx.touchWrite(&j.calls[i].changes[k]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Rehearse runs fn as UpdateRequest does, but only on a snapshot, on which its calls change nothing, for callers who want to know which
// items decide what it does (Tx.OnJudged). Its error is that of fn.
func (s *Store) Rehearse(ctx context.Context, fn func(*Tx) error) error {
	return s.viewWithin(ctx, requestWork, func(tx *Tx) error {
		tx.ahead, tx.rehearsing = &judgement{}, true
		return fn(tx)
	})
}

// recordJudged keeps the result of a call on a snapshot.
func (tx *Tx) recordJudged(call judged) {
	if tx.ahead == nil {
		return
	}
	call.had = make([]uint64, len(call.changes))
	for i := range call.changes {
		if old := call.changes[i].Old; old != nil {
			call.had[i] = old.Seq()
		}
		tx.ahead.changes = tx.ahead.changes || call.changes[i].Changes()
	}
	tx.ahead.calls = append(tx.ahead.calls, call)
}

// recall returns the result of the next call on a snapshot, or nil if it was not judged on one.
func (tx *Tx) recall() *judged {
	if tx.judged == nil || tx.recalled == len(tx.judged.calls) {
		return nil
	}
	tx.recalled++
	return &tx.judged.calls[tx.recalled-1]
}

// stands reports whether the result of a call on a snapshot is still valid: its tables and rows are unchanged. Each write gives a row a
// new sequence, so comparing those is enough. It then replaces the old rows in the changes by those of this transaction.
func (tx *Tx) stands(call *judged) (bool, error) {
	if call == nil || call.refused || call.had == nil {
		return false, nil
	}
	for i := range call.changes {
		c, w := &call.changes[i], &call.writes[i]
		if t, err := tx.table(w.name); err != nil || t != w.table {
			return false, nil //nolint:nilerr // it is judged again, and then refused for that
		}
		was, err := tx.core.Row(w.table, w.key)
		if err != nil {
			return false, err
		}
		seq := uint64(0)
		if was != nil {
			seq = was.Seq()
		}
		if seq != call.had[i] {
			return false, nil
		}
		c.Old = was
	}
	return true, nil
}

// spendOn charges the budget for decoding or writing an item.
func (tx *Tx) spendOn(it attr.Item, encoded int) error {
	if tx.work == nil || encoded <= smallRow {
		return tx.work.Spend(encoded * smallByte)
	}
	return tx.work.SpendDecoded(it)
}

// Small items are charged by their size: weighing them might cost more than decoding them.
const (
	smallRow  = 4 << 10
	smallByte = 16
)
