package restore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/identity"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

const (
	restoreSlack = 5 * time.Minute // before the restore point: what was acknowledged then may be lost too
	replayFor    = time.Hour       // after which what is absent counts as deleted, whoever has not replayed
	tablesEvery  = 5 * time.Minute
	requeueSlice = 200 // batches put back in one transaction

	bookPrefix = "table/" // in identity.Side, and the name
)

// Tables is what is known of the tables of the cloud, and puts back what they lose. Its exported fields are set before it is
// opened.
type Tables struct {
	Store     *store.Store
	Cloud     remote.Cloud
	Box       *outbox.Outbox
	Paces     *flow.Paces
	Identity  *identity.Identity
	Clock     clock.Clock
	Log       *slog.Logger
	Rand      func() uint64
	SyncTable string
	Deadline  time.Duration // of one request

	Rescan     func() // has all lanes read the outbox anew
	Reconsider func() // has them look at what waits aside, too
	Failpoint  func(point string)

	run        string        // names the process
	requeueing chan struct{} // of those who put back
	epoch      atomic.Uint64 // counts those found to be others: what was asked before may be of what is no more

	mu      sync.Mutex
	books   map[string]*Book
	checked time.Time // all of them
	missed  []string  // of them, those that could not be looked at
	denied  bool      // somebody has been told that they cannot be
}

// serverNow is the time as the cloud has it, as far as that is known.
func (t *Tables) serverNow() time.Time { return t.Clock.Now().Add(t.Cloud.Skew()) }

// Epoch implements feed.Tables.
func (t *Tables) Epoch() uint64 { return t.epoch.Load() }

// KeepsAbsent reports whether what is absent from a table of the cloud stays here: while the writes that a restored table
// has lost are sent again, and for good what a table had that was made anew. set is when the base was.
func (t *Tables) KeepsAbsent(table string, set time.Time) bool {
	b, ok := t.book(table)
	if !ok || b.Noticed.IsZero() {
		return false
	}
	return t.serverNow().Before(b.Until) || b.lostAnew(set)
}

// lostAnew reports whether a base was set before its table was created again: what the new one lacks of it was not deleted.
func (t *Tables) lostAnew(table string, set time.Time) bool {
	b, ok := t.book(table)
	return ok && b.lostAnew(set)
}

// LostItem is lostAnew for an item.
func (t *Tables) LostItem(it *outbox.WorkItem) bool {
	return it.Remote.Known.Item != nil && t.lostAnew(it.Spec.Name, it.Remote.Set)
}

func (b *Book) lostAnew(set time.Time) bool {
	return b.Recreated && !b.Noticed.IsZero() && set.Before(b.Noticed)
}

// MayComeBack reports whether what is absent from a table of the cloud may still be sent again by somebody who has it.
// Behind that the absence counts for what is written to it: else a delete of what a table made anew never had would wait
// for ever.
func (t *Tables) MayComeBack(table string) bool {
	b, ok := t.book(table)
	return ok && !b.Noticed.IsZero() && (b.Recreated && !b.Requeued || t.serverNow().Before(b.Until))
}

// Replaying reports whether any table of the cloud has lost writes that are still being sent again.
func (t *Tables) Replaying() bool {
	now := t.serverNow()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.books {
		if now.Before(b.Until) {
			return true
		}
	}
	return false
}

// CheckAll looks whether the tables of the cloud are those that they were, and then puts back what those have lost that
// are not. It is cheap within five minutes of the last time. What cannot be told of one table is no error; the cloud being
// away is.
func (t *Tables) CheckAll(ctx context.Context, always bool) error {
	now := t.Clock.Now()
	if _, ok := t.Cloud.(remote.Catalogue); !ok {
		return nil
	}
	t.mu.Lock()
	tables, all := t.missed, always || now.Sub(t.checked) >= tablesEvery
	t.mu.Unlock()
	epoch := t.epoch.Load()
	if all {
		tables = t.mirroredTables()
	}
	missed, err := t.lookAtAll(ctx, tables)
	if err == nil {
		t.mu.Lock()
		t.missed = missed
		if all && t.epoch.Load() == epoch { // else what was looked at first may have become another one too
			t.checked = now
		}
		t.mu.Unlock()
	}
	if failed := t.putBackAll(ctx); failed != nil { // also where some tables could not be looked at
		return failed
	}
	return err
}

// lookAtAll looks at tables, and gives those that cannot be looked at.
func (t *Tables) lookAtAll(ctx context.Context, tables []string) (missed []string, err error) {
	for _, table := range tables {
		err := t.Look(ctx, table)
		_, gone := remote.Unreached(err)
		switch e, ofCloud := errors.AsType[*intent.Error](err); {
		case err == nil:
		case !ofCloud, gone, e.Class == intent.Credentials, ctx.Err() != nil:
			return nil, err
		default: // it is sent to all the same, and looked at again soon: a restore before the first look is hard to tell
			remote.Complain(t.Log, "looking at a table", err)
			missed = append(missed, table)
		}
	}
	return missed, nil
}

// putBackAll puts back what tables have lost, after all were looked at: what one was restored to must be known before it
// is restored once more.
func (t *Tables) putBackAll(ctx context.Context) error {
	select { // lanes and feeds come together
	case t.requeueing <- struct{}{}:
		defer func() { <-t.requeueing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t.mu.Lock()
	var lost []string
	for table, b := range t.books {
		if b.loses(t.run) {
			lost = append(lost, table)
		}
	}
	t.mu.Unlock()
	slices.Sort(lost)
	for _, table := range lost {
		if b, ok := t.book(table); ok && b.loses(t.run) {
			if err := t.requeue(ctx, table, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// doubtTables has all tables looked at soon, whatever becomes of a look that has begun.
func (t *Tables) doubtTables() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.checked = time.Time{}
}

func (t *Tables) mirroredTables() []string {
	names := []string{t.SyncTable}
	specs := t.Store.Tables()
	for i := range specs {
		if specs[i].Sends() {
			names = append(names, specs[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

// Check looks at one table, and if that is another one at all tables: seldom is one restored alone, and of one that
// is restored once more before this node has seen the first time it would not learn what that took away.
func (t *Tables) Check(ctx context.Context, table string) error {
	before := t.Epoch()
	if err := t.Look(ctx, table); err != nil {
		return err
	}
	if b, ok := t.book(table); t.Epoch() == before && !(ok && b.loses(t.run)) {
		return nil
	}
	return t.CheckAll(ctx, true)
}

// Look looks at one table.
func (t *Tables) Look(ctx context.Context, table string) error {
	cat, ok := t.Cloud.(remote.Catalogue)
	if !ok {
		return nil
	}
	was, known := t.book(table) // before it is asked: what is noticed meanwhile is newer than the answer
	inner, cancel := context.WithTimeout(ctx, t.Deadline)
	state, err := cat.Table(inner, table)
	cancel()
	if err != nil {
		return t.uncatalogued(table, err)
	}
	if t.hasOtherKeys(table, &state) {
		return nil
	}
	switch {
	case !known || was.ID == "":
		if sent, err := t.sentBefore(ctx, table, &state); err != nil || sent {
			if err == nil { // before it was first looked at
				err = t.becameAnother(ctx, table, &was, state)
			}
			return err
		}
		return t.changeBook(ctx, table, func(b *Book) {
			if b.ID == "" {
				*b = Book{ID: state.ID, RestoredAt: state.RestoredAt}
			}
		})
	case was.ID != state.ID, !was.RestoredAt.Equal(state.RestoredAt):
		return t.becameAnother(ctx, table, &was, state)
	case was.Recreated && !was.Requeued && was.Run == t.run:
		t.Paces.Hold(table, classAnother, whyAnew, t.Clock.Now())
	}
	return nil
}

// madeAfter is for how long before a table was made its writes have to be acknowledged, to show that there was another one: servers'
// clocks differ.
const madeAfter = time.Minute

// sentBefore reports whether a table that is looked at for the first time has become another one since something was sent to it.
// Of a restored one nobody can tell which was first, and a lost timeline may have sent what waits: the row that proves it is in
// another table. One that was made later than what it has acknowledged is not the one that did.
func (t *Tables) sentBefore(ctx context.Context, table string, state *remote.TableState) (sent bool, err error) {
	anew := state.RestoredAt.IsZero()
	from, until := state.RestoredAt.Add(-restoreSlack), state.CreatedAt.Add(-madeAfter)
	if anew {
		from = time.Time{}
	}
	err = t.Store.View(ctx, func(tx *store.Tx) error {
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
		sent, err = t.waitsSentTo(tx, table)
		return err
	})
	return sent, err
}

const whyAnew = "it was created again in the cloud: restart the node to send what it has to the new table, " +
	"or restore the old one"

// uncatalogued sorts the errors of a look at a table.
func (t *Tables) uncatalogued(table string, err error) error {
	switch remote.ClassOf(err) {
	case intent.NoTable:
		return nil // the lanes stop it
	case intent.Denied:
		t.mu.Lock()
		told := t.denied
		t.denied = true
		t.mu.Unlock()
		if !told {
			t.Log.Warn("restore: the tables of the cloud cannot be described: a restored one will not be noticed", "table", table, "err", err)
		}
		return nil
	}
	return fmt.Errorf("looking at table %s: %w", table, err)
}

// becameAnother is what a node does that finds another table under a name than the one that it knew.
func (t *Tables) becameAnother(ctx context.Context, table string, was *Book, state remote.TableState) error {
	now := t.serverNow()
	b := Book{
		ID: state.ID, RestoredAt: state.RestoredAt, Noticed: now, Until: now.Add(replayFor),
		Recreated: state.RestoredAt.IsZero(), Run: t.run,
		Requeued: table == t.SyncTable, // nothing of the outbox goes there but what goes with other tables
	}
	if b.Recreated {
		b.Made = state.CreatedAt
	} else {
		b.Lost = b.RestoredAt.Add(-restoreSlack)
	}
	t.epoch.Add(1)
	t.doubtTables()
	t.Failpoint("restore-noticed")
	news := false
	err := t.changeBook(ctx, table, func(old *Book) {
		if news = old.is(was); news { // else somebody has noticed meanwhile
			b.inherit(old)
			*old = b
		}
	})
	if err == nil && news {
		t.tellAnother(table, &b)
	}
	return err
}

// tellAnother says that a table is another one, and stops one that was made again. requeue releases it, if it is restored.
func (t *Tables) tellAnother(table string, b *Book) {
	switch {
	case table == t.SyncTable:
		t.Log.Error("restore: the node's own table in the cloud was replaced", "table", table)
	case b.Recreated:
		t.Log.Error("restore: a table was created again in the cloud; nothing is sent to it and nothing is deleted here", "table", table)
		t.Paces.Hold(table, classAnother, whyAnew, t.Clock.Now())
	default:
		t.Log.Error("restore: a table of the cloud was restored; what it has lost is sent again", "table", table, "restoredTo", b.RestoredAt)
	}
}

// classAnother is what a table is stopped for that was made again.
const classAnother = "another table"
