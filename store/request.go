package store

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// What the requests of others may cost, in units of expr.Work. Two requests are never more than both of their budgets apart: a
// machine that is slow is slow for all of them.
const (
	// turnWork may be spent while the others wait. A request that needs more is judged on a snapshot, beside them.
	turnWork = 1 << 19
	// requestWork may be spent on the snapshot, and in the turn by a request whose items have changed each time it was judged.
	requestWork = 64 << 20
	// maxAhead is how many times a request is judged before that.
	maxAhead = 3
	// pageWork ends a page of a Query or Scan, like its size.
	pageWork = 64 << 20
	// readWork is what all pages of a View may cost, so that one item always has requestWork.
	readWork = pageWork + requestWork
	// laneFrom is what a request costs that waits for its place beside other costly ones.
	laneFrom = 2 << 20
	// laneWait is how long.
	laneWait = 2 * time.Second
)

// lane has places for the requests that take long: half of the processors, so that the others have the rest.
type lane chan struct{}

func newLane() lane { return make(lane, max(1, runtime.GOMAXPROCS(0)/2)) }

// take waits for a place.
func (l lane) take(ctx context.Context) error {
	late := time.NewTimer(laneWait)
	defer late.Stop()
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-late.C:
		return fault.New(fault.Unavailable, "store_busy", "too many expensive requests are running")
	}
}

// ViewRequest is View for untrusted callers. Their expressions have a budget; beyond it they are refused with fault.Invalid
// and expr.CodeWork, and pages of queries end early. It ends with ctx.
func (s *Store) ViewRequest(ctx context.Context, fn func(*Tx) error) error {
	return s.viewWithin(ctx, readWork, fn)
}

func (s *Store) viewWithin(ctx context.Context, limit int, fn func(*Tx) error) error {
	placed := false
	defer func() {
		if placed {
			<-s.lane
		}
	}()
	return s.View(ctx, func(tx *Tx) error {
		tx.work = expr.NewWork(limit, func(spent int) (err error) {
			if spent >= laneFrom && !placed {
				err = s.lane.take(ctx)
				placed = err == nil
			}
			return errors.Join(err, context.Cause(ctx))
		})
		return tx.within(fn)
	})
}

// Work is the remaining budget of the request's expressions, for a caller that evaluates some itself; nil: no limit.
func (tx *Tx) Work() *expr.Work { return tx.work }

// within runs fn, and gives the error of the budget whatever fn makes of it.
func (tx *Tx) within(fn func(*Tx) error) error {
	err := fn(tx)
	if over := tx.work.Err(); over != nil {
		return over
	}
	return err
}

// UpdateRequest is Update for a request of somebody who may ask for anything: its expressions have a budget, as in
// ViewRequest, and what takes long is not done while others wait. Such a request is judged on a snapshot, and when its turn
// comes it is only looked whether the items are still the same. If they are not, it is judged again.
//
// So fn may run several times, on the snapshot too, and does the same each time. Its calls do not depend on one another, as a
// call on the snapshot changes nothing. ahead begins with the snapshot: where that shows that nothing is to be changed, the
// request never has a turn.
func (s *Store) UpdateRequest(ctx context.Context, ahead bool, fn func(*Tx) error) error {
	j, limit := (*judgement)(nil), turnWork
	for try := 0; ; try++ {
		if ahead {
			j = &judgement{}
			if err := s.judge(ctx, j, fn); err != nil || !j.changes {
				return err
			}
		}
		if try == maxAhead {
			limit = requestWork
		}
		err := s.Update(ctx, func(tx *Tx) error {
			tx.work = expr.NewWork(limit, func(int) error { return context.Cause(ctx) })
			tx.judged = j
			return tx.within(fn)
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

// judgement is what the calls of a request have come to on a snapshot, in their order.
type judgement struct {
	calls   []judged
	changes bool // one of the calls changes something
}

// judged is one call: its actions and their changes, whose old rows are those of the snapshot and gone with it.
type judged struct {
	writes  []write
	mark    format.Mark
	changes []txn.Change
	images  Images
	had     []uint64 // seq of the old rows; 0: none. nil: it was not on a snapshot
	refused bool
}

// judge runs fn on a snapshot. If it changes nothing, what it has touched is told.
func (s *Store) judge(ctx context.Context, j *judgement, fn func(*Tx) error) error {
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

// note keeps what a call has come to on a snapshot.
func (tx *Tx) note(call judged) {
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

// recall returns what the next call has come to on a snapshot, nil: it was on none.
func (tx *Tx) recall() *judged {
	if tx.judged == nil || tx.recalled == len(tx.judged.calls) {
		return nil
	}
	tx.recalled++
	return &tx.judged.calls[tx.recalled-1]
}

// stands reports whether what a call came to on a snapshot is still so: the tables and the rows are the same. Then its
// changes have the rows of this transaction. Each write of a row has a sequence of its own.
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

// spendOn takes the decoding, or the writing, of an item off the budget.
func (tx *Tx) spendOn(it attr.Item, encoded int) error {
	if tx.work == nil || encoded <= smallRow {
		return tx.work.Spend(encoded * smallByte)
	}
	return tx.work.SpendDecoded(it)
}

// A small item is not weighed: its bytes may be what costs most.
const (
	smallRow  = 4 << 10
	smallByte = 16
)
