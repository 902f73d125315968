package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

const (
	restoreSlack = 5 * time.Minute // before the restore point: what was acknowledged then may be lost too
	replayFor    = time.Hour       // after which what is absent counts as deleted, whoever has not replayed
	tablesEvery  = 5 * time.Minute
	requeueSlice = 200 // batches put back in one transaction

	tableBookPrefix = "table/" // in identity.Side, and the name
)

// restores are the tables that were looked at.
type restores struct {
	run string // names the process

	mu         sync.Mutex
	books      map[string]*tableBook
	requeueing chan struct{} // of those who put back
	epoch      atomic.Uint64 // counts those found to be others: what was asked before may be of what is no more
	checked    time.Time     // all of them
	missed     []string      // of them, those that could not be looked at
	denied     bool          // somebody has been told that they cannot be
}

// tables is what the feed is told of them.
type tables struct{ r *Replica }

// Epoch implements feed.Tables.
func (t tables) Epoch() uint64 { return t.r.restores.epoch.Load() }

// Check implements feed.Tables.
func (t tables) Check(ctx context.Context, table string) error { return t.r.checkTable(ctx, table) }

// KeepsAbsent implements feed.Tables.
func (t tables) KeepsAbsent(table string, set time.Time) bool { return t.r.keepsAbsent(table, set) }

// Owes implements feed.Tables.
func (t tables) Owes(b *outbox.Batch) bool { return t.r.owes(b) }

// Readable implements feed.Tables.
func (t tables) Readable(table string) error { return t.r.readable(table) }

// keepsAbsent reports whether what is absent from a table of the cloud stays here: while the writes that a restored table
// has lost are sent again, and for good what a table had that was made anew. set is when the base was.
func (r *Replica) keepsAbsent(table string, set time.Time) bool {
	b, ok := r.book(table)
	if !ok || b.Noticed.IsZero() {
		return false
	}
	return r.serverNow().Before(b.Until) || b.lostAnew(set)
}

// lostAnew reports whether a base was set before its table was created again: what the new one lacks of it was not deleted.
func (r *Replica) lostAnew(table string, set time.Time) bool {
	b, ok := r.book(table)
	return ok && b.lostAnew(set)
}

// lostItem is lostAnew for an item.
func (r *Replica) lostItem(it *outbox.WorkItem) bool {
	return it.Remote.Known.Item != nil && r.lostAnew(it.Spec.Name, it.Remote.Set)
}

func (b *tableBook) lostAnew(set time.Time) bool {
	return b.Recreated && !b.Noticed.IsZero() && set.Before(b.Noticed)
}

// mayComeBack reports whether what is absent from a table of the cloud may still be sent again by somebody who has it.
// Behind that the absence counts for what is written to it: else a delete of what a table made anew never had would wait
// for ever.
func (r *Replica) mayComeBack(table string) bool {
	b, ok := r.book(table)
	return ok && !b.Noticed.IsZero() && (b.Recreated && !b.Requeued || r.serverNow().Before(b.Until))
}

// replaying reports whether any table of the cloud has lost writes that are still being sent again.
func (r *Replica) replaying() bool {
	now := r.serverNow()
	r.restores.mu.Lock()
	defer r.restores.mu.Unlock()
	for _, b := range r.restores.books {
		if now.Before(b.Until) {
			return true
		}
	}
	return false
}

// checkTables looks whether the tables of the cloud are those that they were, and then puts back what those have lost that
// are not. It is cheap within five minutes of the last time. What cannot be told of one table is no error; the cloud being
// away is.
func (r *Replica) checkTables(ctx context.Context, always bool) error {
	now := r.clock.Now()
	if _, ok := r.cloud.(remote.Catalogue); !ok {
		return nil
	}
	r.restores.mu.Lock()
	tables, all := r.restores.missed, always || now.Sub(r.restores.checked) >= tablesEvery
	r.restores.mu.Unlock()
	epoch := r.restores.epoch.Load()
	if all {
		tables = r.mirroredTables()
	}
	missed, err := r.lookAtAll(ctx, tables)
	if err == nil {
		r.restores.mu.Lock()
		r.restores.missed = missed
		if all && r.restores.epoch.Load() == epoch { // else what was looked at first may have become another one too
			r.restores.checked = now
		}
		r.restores.mu.Unlock()
	}
	if failed := r.requeueAll(ctx); failed != nil { // also where some tables could not be looked at
		return failed
	}
	return err
}

// lookAtAll looks at tables, and gives those that cannot be looked at.
func (r *Replica) lookAtAll(ctx context.Context, tables []string) (missed []string, err error) {
	for _, table := range tables {
		err := r.lookAt(ctx, table)
		_, gone := remote.Unreached(err)
		switch e, ofCloud := errors.AsType[*intent.Error](err); {
		case err == nil:
		case !ofCloud, gone, e.Class == intent.Credentials, ctx.Err() != nil:
			return nil, err
		default: // it is sent to all the same, and looked at again soon: a restore before the first look is hard to tell
			remote.Complain(r.log, "looking at a table", err)
			missed = append(missed, table)
		}
	}
	return missed, nil
}

// requeueAll puts back what tables have lost, after all were looked at: what one was restored to must be known before it
// is restored once more.
func (r *Replica) requeueAll(ctx context.Context) error {
	select { // lanes and feeds come together
	case r.restores.requeueing <- struct{}{}:
		defer func() { <-r.restores.requeueing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	r.restores.mu.Lock()
	var lost []string
	for table, b := range r.restores.books {
		if b.loses(r.restores.run) {
			lost = append(lost, table)
		}
	}
	r.restores.mu.Unlock()
	slices.Sort(lost)
	for _, table := range lost {
		if b, ok := r.book(table); ok && b.loses(r.restores.run) {
			if err := r.requeue(ctx, table, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// doubtTables has all tables looked at soon, whatever becomes of a look that has begun.
func (r *Replica) doubtTables() {
	r.restores.mu.Lock()
	defer r.restores.mu.Unlock()
	r.restores.checked = time.Time{}
}

func (r *Replica) mirroredTables() []string {
	names := []string{r.cfg.SyncTable}
	specs := r.store.Tables()
	for i := range specs {
		if specs[i].Sends() {
			names = append(names, specs[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

// checkTable looks at one table, and if that is another one at all tables: seldom is one restored alone, and of one that
// is restored once more before this node has seen the first time it would not learn what that took away.
func (r *Replica) checkTable(ctx context.Context, table string) error {
	epoch := &r.restores.epoch
	before := epoch.Load()
	if err := r.lookAt(ctx, table); err != nil {
		return err
	}
	if b, ok := r.book(table); epoch.Load() == before && !(ok && b.loses(r.restores.run)) {
		return nil
	}
	return r.checkTables(ctx, true)
}

// lookAt looks at one table.
func (r *Replica) lookAt(ctx context.Context, table string) error {
	cat, ok := r.cloud.(remote.Catalogue)
	if !ok {
		return nil
	}
	was, known := r.book(table) // before it is asked: what is noticed meanwhile is newer than the answer
	inner, cancel := r.within(ctx)
	state, err := cat.Table(inner, table)
	cancel()
	if err != nil {
		return r.uncatalogued(table, err)
	}
	if r.hasOtherKeys(table, &state) {
		return nil
	}
	switch {
	case !known || was.ID == "":
		if sent, err := r.sentBefore(ctx, table, &state); err != nil || sent {
			if err == nil { // before it was first looked at
				err = r.becameAnother(ctx, table, &was, state)
			}
			return err
		}
		return r.changeBook(ctx, table, func(b *tableBook) {
			if b.ID == "" {
				*b = tableBook{ID: state.ID, RestoredAt: state.RestoredAt}
			}
		})
	case was.ID != state.ID, !was.RestoredAt.Equal(state.RestoredAt):
		return r.becameAnother(ctx, table, &was, state)
	case was.Recreated && !was.Requeued && was.Run == r.restores.run:
		r.paces.Hold(table, classAnother, whyAnew, r.clock.Now())
	}
	return nil
}

// madeAfter is for how long before a table was made its writes have to be acknowledged, to show that there was another one: servers'
// clocks differ.
const madeAfter = time.Minute

// sentBefore reports whether a table that is looked at for the first time has become another one since something was sent to it.
// Of a restored one nobody can tell which was first, and a lost timeline may have sent what waits: the row that proves it is in
// another table. One that was made later than what it has acknowledged is not the one that did.
func (r *Replica) sentBefore(ctx context.Context, table string, state *remote.TableState) (sent bool, err error) {
	anew := state.RestoredAt.IsZero()
	from, until := state.RestoredAt.Add(-restoreSlack), state.CreatedAt.Add(-madeAfter)
	if anew {
		from = time.Time{}
	}
	err = r.store.View(ctx, func(tx *store.Tx) error {
		err := outbox.EachReplayed(tx, from, func(at time.Time, entries []*intent.Entry) (bool, error) {
			if anew && !at.Before(until) {
				return false, nil
			}
			sent = slices.ContainsFunc(entries, func(e *intent.Entry) bool { return e.Table == table })
			return !sent, nil
		})
		if sent || err != nil || anew {
			return err
		}
		sent, err = r.waitsSentTo(tx, table)
		return err
	})
	return sent, err
}

const whyAnew = "it was created again in the cloud: restart the node to send what it has to the new table, " +
	"or restore the old one"

// uncatalogued sorts the errors of a look at a table.
func (r *Replica) uncatalogued(table string, err error) error {
	switch remote.ClassOf(err) {
	case intent.NoTable:
		return nil // the lanes stop it
	case intent.Denied:
		r.restores.mu.Lock()
		told := r.restores.denied
		r.restores.denied = true
		r.restores.mu.Unlock()
		if !told {
			r.log.Warn("restore: the tables of the cloud cannot be described: a restored one will not be noticed", "table", table, "err", err)
		}
		return nil
	}
	return fmt.Errorf("looking at table %s: %w", table, err)
}

// becameAnother is what a node does that finds another table under a name than the one that it knew.
func (r *Replica) becameAnother(ctx context.Context, table string, was *tableBook, state remote.TableState) error {
	now := r.serverNow()
	b := tableBook{
		ID: state.ID, RestoredAt: state.RestoredAt, Noticed: now, Until: now.Add(replayFor),
		Recreated: state.RestoredAt.IsZero(), Run: r.restores.run,
		Requeued: table == r.cfg.SyncTable, // nothing of the outbox goes there but what goes with other tables
	}
	if b.Recreated {
		b.Made = state.CreatedAt
	} else {
		b.Lost = b.RestoredAt.Add(-restoreSlack)
	}
	r.restores.epoch.Add(1)
	r.doubtTables()
	r.cfg.Failpoint("restore-noticed")
	news := false
	err := r.changeBook(ctx, table, func(old *tableBook) {
		if news = old.is(was); news { // else somebody has noticed meanwhile
			b.inherit(old)
			*old = b
		}
	})
	if err == nil && news {
		r.tellAnother(table, &b)
	}
	return err
}

// tellAnother says that a table is another one, and stops one that was made again. requeue releases it, if it is restored.
func (r *Replica) tellAnother(table string, b *tableBook) {
	switch {
	case table == r.cfg.SyncTable:
		r.log.Error("restore: the node's own table in the cloud was replaced", "table", table)
	case b.Recreated:
		r.log.Error("restore: a table was created again in the cloud; nothing is sent to it and nothing is deleted here", "table", table)
		r.paces.Hold(table, classAnother, whyAnew, r.clock.Now())
	default:
		r.log.Error("restore: a table of the cloud was restored; what it has lost is sent again", "table", table, "restoredTo", b.RestoredAt)
	}
}

// classAnother is what a table is stopped for that was made again.
const classAnother = "another table"
