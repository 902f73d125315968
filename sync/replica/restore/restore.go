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
	restoreSlack = 5 * time.Minute // before the restore point: writes acknowledged then may be lost too
	replayFor    = time.Hour       // after that, absence means deletion, even if some nodes have not replayed
	tablesEvery  = 5 * time.Minute
	requeueSlice = 200 // batches put back in one transaction

	bookPrefix = "table/" // in identity.Side, followed by the table's name
)

// Tables tracks the cloud's tables, and puts back what they lose. Set its exported fields before Open.
type Tables struct {
	Store     *store.Store
	Cloud     remote.Cloud
	Box       *outbox.Outbox
	Link      *flow.Link
	Paces     *flow.Paces
	Identity  *identity.Identity
	Clock     clock.Clock
	Log       *slog.Logger
	Rand      func() uint64
	SyncTable string
	Deadline  time.Duration // per request

	Rescan     func() // makes all workers read the outbox again
	Reconsider func() // makes them reconsider what they put aside, too
	Failpoint  func(point string)

	run        string        // identifies the process
	requeueing chan struct{} // semaphore for putting back
	epoch      atomic.Uint64 // number of tables found to be replaced: earlier requests may concern an old table

	mu      sync.Mutex
	books   map[string]*Book
	checked map[string]time.Time // by table: when it was last checked in this run
	missed  map[string]bool      // tables whose last check failed
	denied  bool                 // it was logged that they cannot be checked
	absent  map[string]bool      // tables that were found missing in this run, and not found there again since
}

// serverNow returns the cloud's time, as far as it is known.
func (t *Tables) serverNow() time.Time { return t.Clock.Wall().Add(t.Cloud.Skew()) }

// Epoch implements feed.Tables.
func (t *Tables) Epoch() uint64 { return t.epoch.Load() }

// KeepsAbsent reports whether items absent from a cloud table stay here: while the lost writes of a restored table are being sent again,
// and for good if the item belonged to the predecessor of a recreated table. set is when the item's base was set.
func (t *Tables) KeepsAbsent(table string, set time.Time) bool {
	b, ok := t.book(table)
	if !ok || b.Noticed.IsZero() {
		return false
	}
	return t.serverNow().Before(b.Until) || b.lostAnew(set)
}

// lostAnew reports whether a base was set before its table was recreated: what the new table lacks of it was not deleted.
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

// MayComeBack reports whether something absent from a cloud table may still be sent again by a node that has it. After that, the absence
// counts for writes to it: otherwise a delete of something that a recreated table never had would wait for ever.
func (t *Tables) MayComeBack(table string) bool {
	b, ok := t.book(table)
	return ok && !b.Noticed.IsZero() && (b.Recreated && !b.Requeued || t.serverNow().Before(b.Until))
}

// Replaying reports whether the lost writes of any cloud table are still being sent again.
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

// CheckAll checks that the cloud's tables are still the same ones, then puts back what replaced tables have lost. Unless always is set it
// leaves out tables that were checked within five minutes. A table that cannot be checked is no error; a cloud that cannot be reached
// is, but what was checked until then remains checked.
func (t *Tables) CheckAll(ctx context.Context, always bool) error {
	now := t.Clock.Now()
	return t.checkDue(ctx, func(table string) bool {
		at, checked := t.checked[table]
		return always || !checked || t.missed[table] || now.Sub(at) >= tablesEvery
	})
}

// CheckUnchecked is CheckAll for the tables that this run has not checked yet: nothing is sent before, because a restore before the first
// check is hard to detect. Later checks run beside the sending.
func (t *Tables) CheckUnchecked(ctx context.Context) error {
	return t.checkDue(ctx, func(table string) bool {
		_, checked := t.checked[table]
		return !checked && !t.missed[table]
	})
}

// checkDue checks the tables that are due, then puts back what replaced tables have lost. due is called with the lock held.
func (t *Tables) checkDue(ctx context.Context, due func(table string) bool) error {
	tables := t.mirroredTables()
	t.mu.Lock()
	tables = slices.DeleteFunc(tables, func(table string) bool { return !due(table) })
	t.mu.Unlock()
	err := t.checkEach(ctx, tables)
	if failed := t.putBackAll(ctx); failed != nil { // even if some tables could not be checked
		return failed
	}
	return err
}

// checkEach checks tables, and remembers each that was checked.
func (t *Tables) checkEach(ctx context.Context, tables []string) error {
	for _, table := range tables {
		epoch, now := t.epoch.Load(), t.Clock.Now()
		err := t.Inspect(ctx, table)
		_, gone := remote.AsUnreached(err)
		switch e, ofCloud := errors.AsType[*intent.Error](err); {
		case err == nil:
		case !ofCloud, gone, e.Class == intent.Credentials, ctx.Err() != nil:
			return err
		default: // send to it all the same, and check again soon
			remote.Complain(t.Log, "looking at a table", err)
		}
		t.recordCheck(table, epoch, now, err)
	}
	return nil
}

// recordCheck remembers that a table was checked. If a table was found to be replaced meanwhile, this one may have been replaced too.
func (t *Tables) recordCheck(table string, epoch uint64, now time.Time, failed error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.checked == nil {
		t.checked, t.missed = map[string]time.Time{}, map[string]bool{}
	}
	t.missed[table] = failed != nil
	if failed == nil && t.epoch.Load() == epoch {
		t.checked[table] = now
	}
}

// putBackAll puts back what tables have lost, after all were checked: the restore point must be known before a table is restored once
// more.
func (t *Tables) putBackAll(ctx context.Context) error {
	select { // workers and feeds arrive together
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

// doubtTables makes all tables be checked soon, whatever becomes of a check under way.
func (t *Tables) doubtTables() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.checked)
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

// Check checks one table and, if it was replaced, all tables: seldom is one restored alone. And if a table were restored again before
// this node noticed the first time, it would not learn what that restore took away.
func (t *Tables) Check(ctx context.Context, table string) error {
	before := t.Epoch()
	if err := t.Inspect(ctx, table); err != nil {
		return err
	}
	if b, ok := t.book(table); t.Epoch() == before && !(ok && b.loses(t.run)) {
		return nil
	}
	return t.CheckAll(ctx, true)
}

// Inspect checks one table.
func (t *Tables) Inspect(ctx context.Context, table string) error {
	was, known := t.book(table) // read before asking: what is noticed meanwhile is newer than the answer
	inner, cancel := context.WithTimeout(ctx, min(t.Deadline, t.Link.ProbeLimit()))
	state, err := t.Cloud.Table(inner, table)
	cancel()
	if err != nil {
		return t.classifyCheckError(table, err)
	}
	if t.hasOtherKeys(table, &state) {
		return nil
	}
	switch {
	case !known || was.ID == "":
		if sent, err := t.sentBefore(ctx, table, &state); err != nil || sent {
			if err == nil { // it was replaced before the first check
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
		t.Paces.StopTable(table, classAnother, whyAnew, t.Clock.Now())
	}
	t.takeMissing(table) // it is there again, and the same one
	return nil
}

// madeAfter is how much earlier than a table's creation its writes must have been acknowledged to prove that there was another table:
// servers' clocks differ.
const madeAfter = time.Minute

// sentBefore reports whether a table checked for the first time has been replaced since something was sent to it. For a restored table
// nobody can tell which came first, and a lost timeline may have sent what waits: the row that proves it is in another table. A
// table created after its writes were acknowledged is not the one that acknowledged them.
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

// whyPutBack lasts only until what the node has is put back.
const whyPutBack = "it was created again in the cloud, and what this node has is put back first"

// classifyCheckError classifies the errors of checking a table.
func (t *Tables) classifyCheckError(table string, err error) error {
	switch remote.ClassOf(err) {
	case intent.NoTable:
		t.Missing(table)
		return nil // the workers stop it
	case intent.Denied:
		t.mu.Lock()
		logged := t.denied
		t.denied = true
		t.mu.Unlock()
		if !logged {
			t.Log.Warn("restore: the tables of the cloud cannot be described, so a restore of them will not be noticed", "table", table, "err", err)
		}
		return nil
	}
	return fmt.Errorf("checking table %s: %w", table, err)
}

// Missing records that the cloud does not have a table. Somebody who creates it then does what the node asks for.
func (t *Tables) Missing(table string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.absent == nil {
		t.absent = map[string]bool{}
	}
	t.absent[table] = true
}

// takeMissing reports whether a table was missing, and forgets it.
func (t *Tables) takeMissing(table string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	missing := t.absent[table]
	delete(t.absent, table)
	return missing
}

// becameAnother handles a table that is not the one known under its name.
func (t *Tables) becameAnother(ctx context.Context, table string, was *Book, state remote.TableState) error {
	now := t.serverNow()
	b := Book{
		ID: state.ID, RestoredAt: state.RestoredAt, Noticed: now, Until: now.Add(replayFor),
		Recreated: state.RestoredAt.IsZero(), Run: t.run,
		Requeued: table == t.SyncTable, // outbox entries go there only together with other tables
	}
	if missing := t.takeMissing(table); b.Recreated {
		b.Made = state.CreatedAt
		if missing {
			b.Run = "" // no person has to restart the node: what it has is put back at once
		}
	} else {
		b.Lost = b.RestoredAt.Add(-restoreSlack)
	}
	t.epoch.Add(1)
	t.doubtTables()
	t.Failpoint("restore-noticed")
	news := false
	err := t.changeBook(ctx, table, func(old *Book) {
		if news = old.is(was); news { // otherwise it was noticed meanwhile
			b.inherit(old)
			*old = b
		}
	})
	if err == nil && news {
		t.tellAnother(table, &b)
	}
	return err
}

// tellAnother logs that a table was replaced, and stops one that was recreated. requeue releases it if it was restored.
func (t *Tables) tellAnother(table string, b *Book) {
	switch {
	case table == t.SyncTable:
		t.Log.Error("restore: the node's own table in the cloud was replaced", "table", table)
	case b.Recreated && b.Run == "":
		t.Log.Warn("restore: a missing table was created again in the cloud; what this node has is sent to it", "table", table)
		t.Paces.StopTable(table, classAnother, whyPutBack, t.Clock.Now())
	case b.Recreated:
		t.Log.Error("restore: a table was created again in the cloud; nothing is sent to it and nothing is deleted here", "table", table)
		t.Paces.StopTable(table, classAnother, whyAnew, t.Clock.Now())
	default:
		t.Log.Error("restore: a table of the cloud was restored; what it has lost is sent again", "table", table, "restoredTo", b.RestoredAt)
	}
}

// classAnother is the reason class of tables stopped because they were recreated.
const classAnother = "another table"
