package replica

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// send takes a batch as far as it goes without a pause: it asks what to do, does it, and asks what the answer means. The caller has
// entered the link; send leaves it. If it returns false, the batch stays in place, to be sent again when the cloud is
// reachable.
func (l *worker) send(ctx context.Context, f *flight) (finished bool) {
	answered := false
	defer func() { l.r.net.ReleasePermission(answered) }()
	if err := l.r.rereadIfFlagged(ctx, f); err != nil {
		return l.parkUnprocessable(f, err)
	}
	l.r.events.expect(f.Batch)
	for range maxSteps {
		known, a, err := l.next(ctx, f)
		if err != nil {
			return l.parkUnprocessable(f, err)
		}
		if l.handleWithoutRequest(f, &a, known) {
			return true
		}
		stored := a.Attempt && f.mustPersist()
		ans, err := l.ask(ctx, f, &a)
		switch {
		case errors.Is(err, errFlagged):
			if err := l.r.readAnew(ctx, f); err != nil {
				return l.parkUnprocessable(f, err)
			}
			continue
		case err != nil:
			return l.parkUnprocessable(f, err)
		case ctx.Err() != nil:
			return false // whatever the answer was, it will be found again
		}
		answered = l.recordAnswer(f, &a, ans.Err)
		env := l.r.env(nil)
		f.outcome, f.known, f.answered = f.SettleAnswer(a, ans, known, env), known, env.Now
		f.recordShown(f.outcome.Known)
		f.changed = f.changed || stored // the outbox has it as unanswered
		if finished, again := l.handleAnswer(ctx, f, &a, ans.Err); !again {
			return finished
		}
	}
	f.outcome = intent.Outcome{Result: intent.OutParked}
	f.park(l.r.clock.Now().Add(time.Second), "it took many steps")
	return true
}

// recordAnswer records what any answer says about its tables, and reports whether the cloud has answered at all.
func (l *worker) recordAnswer(f *flight, a *intent.Action, err *intent.Error) bool {
	if a.Kind == intent.ActSend && takes(err) {
		l.r.paces.Takes(f.tablesWritten(a), l.r.clock.Now())
	}
	return err == nil || err.Class != intent.Offline && err.Class != intent.Unknown
}

// takes reports whether an answer shows that the table exists and that this node may write to it.
func takes(err *intent.Error) bool {
	if err == nil {
		return true
	}
	switch err.Class {
	case intent.ConditionFailed, intent.Canceled, intent.Validation, intent.TooLarge:
		return true
	}
	return false
}

// handleWithoutRequest handles actions that need no request: batches already settled, waiting, or held back by a table's pace. false: a request
// is needed.
func (l *worker) handleWithoutRequest(f *flight, a *intent.Action, known []intent.Known) bool {
	switch a.Kind {
	case intent.ActSettle:
		f.outcome, f.known = *a.Outcome, known
		return true
	case intent.ActPark:
		f.outcome, f.idle = intent.Outcome{Result: intent.OutParked}, true
		f.park(l.r.local(a.Until), a.Why)
		if a.Why == intent.WhyEvents { // settling the events notifies it
			f.wait = time.Time{}
		}
		return true
	case intent.ActSend:
		now, tables := l.r.clock.Now(), f.tablesWritten(a)
		if at := l.r.paces.ReserveSend(tables, now); at.After(now) {
			f.outcome, f.idle = intent.Outcome{Result: intent.OutThrottled}, true
			why := "the table's pace"
			if !l.r.paces.StoppedUntil(tables, now).IsZero() {
				why = flow.WhyStopped
			}
			f.park(at, why)
			return true
		}
	case intent.ActRead:
	}
	return false
}

// handleAnswer acts on what an answer means; again reports whether another step follows.
func (l *worker) handleAnswer(ctx context.Context, f *flight, a *intent.Action, failed *intent.Error) (finished, again bool) {
	if a.Kind == intent.ActRead || failed != nil {
		if err := l.checkVanishedItem(ctx, f); err != nil {
			if unread := l.r.asItWas(ctx, f); unread != nil { // nobody knows whether the absence can be believed
				err = unread
			}
			return l.parkUnprocessable(f, err), false
		}
	}
	switch f.outcome.Result {
	case intent.OutAgain:
		f.changed = true
		return false, true
	case intent.OutRefresh:
		l.r.signatureRefused(f.outcome, failed)
		return false, false
	case intent.OutOffline:
		if !l.r.net.Online() {
			return false, false
		}
	}
	l.readRest(ctx, f)
	l.learn(f, failed)
	return true, false
}

// readRest reads the rows of a refused transaction that the refusal did not show, including those of its conditions, so that a decision
// about it sees all of them. If that fails the decision uses what is here, and the rows are read as soon as possible.
func (l *worker) readRest(ctx context.Context, f *flight) {
	lead := f.Entries[0]
	if f.outcome.Result != intent.OutConflict || lead.Txn == 0 {
		return
	}
	var refs []intent.Ref
	for i, e := range f.Entries {
		if f.outcome.Known[i] == nil {
			refs = append(refs, intent.Ref{Table: e.Table, Key: e.Key})
		}
	}
	for i := range lead.Checks {
		refs = append(refs, intent.Ref{Table: lead.Checks[i].Table, Key: lead.Checks[i].Key})
	}
	var err error
	if f.rest, err = l.r.feed.ReadAll(ctx, refs); err != nil {
		l.r.log.Warn("the rows of a refused transaction could not be read", "seq", f.ID.Seq, "table", f.Table(), "error", err)
		for _, ref := range refs {
			l.r.feed.Book(ref.Table, ref.Key)
		}
	}
}

// learn takes from an answer what concerns more than the batch, and when the batch may go on.
func (l *worker) learn(f *flight, err *intent.Error) {
	now := l.r.clock.Now()
	o := &f.outcome
	if o.Code == intent.CodeFencedOff {
		l.r.fencedOffBy(o.Lock, o.Fence)
	}
	switch o.Result {
	case intent.OutApplied:
		l.r.paces.RaiseRate(f.Table(), now)
	case intent.OutThrottled:
		f.park(now.Add(max(o.After, l.r.paces.SlowTable(f.Table(), now))), "throttled")
	case intent.OutUnknown:
		f.park(now.Add(max(o.After, l.unansweredWait(f))), whyNoAnswer)
	case intent.OutOffline:
		o.Result = intent.OutParked
		f.park(now.Add(l.unansweredWait(f)), whyUnreached)
	case intent.OutParked:
		f.park(now.Add(o.After), cmp.Or(f.Entries[0].Why, f.why))
	case intent.OutStopTable:
		l.stop(f, err, now)
	case intent.OutTimeline:
		l.r.identity.Suspect(errTimeline.Error())
		f.park(now.Add(time.Second), "this node's history is looked into")
	}
}

// stop records that a table is missing, or not writable for this node. If a transaction's answer does not say which of its tables it
// is, other writes to them must not wait: only the transaction waits.
func (l *worker) stop(f *flight, err *intent.Error, now time.Time) {
	table := f.outcome.Table
	if table == "" {
		l.r.log.Error("a write waits for a table", "seq", f.ID.Seq, "error", err, "alarm", f.outcome.Alarm)
		f.park(now.Add(flow.StopWait().Delay(f.Tries(), l.r.float())), whyOneTable+": "+err.Error())
		return
	}
	if err.Class == intent.NoTable {
		l.r.tables.Missing(table)
	}
	if l.r.paces.Halt(table, err.Class.String(), err.Error(), now) {
		l.r.log.Error("nothing is sent to a table", "table", table, "error", err, "alarm", f.outcome.Alarm)
	}
	f.park(l.r.paces.StoppedUntil([]string{table}, now), flow.WhyStopped)
}

var errTimeline = errors.New("the cloud has writes of this node that this file does not know")

// parkUnprocessable parks a batch that the node itself cannot process.
func (l *worker) parkUnprocessable(f *flight, err error) bool {
	l.r.log.Error("an entry cannot be processed", "seq", f.ID.Seq, "table", f.Table(), "error", err)
	f.outcome, f.idle = intent.Outcome{Result: intent.OutParked}, true
	f.park(l.r.clock.Now().Add(asideWait), "an error of this node")
	return true
}

// park records until when and why a flight waits; only the worker uses it.
func (f *flight) park(until time.Time, why string) { f.wait, f.why = until, why }

// next returns what to do with a batch, by what is known now.
func (l *worker) next(ctx context.Context, f *flight) (known []intent.Known, a intent.Action, err error) {
	last := f.read
	f.read = l.r.box.Reads.Start()
	if last != nil {
		defer last.End()
	}
	err = l.r.store.View(ctx, func(tx *store.Tx) error {
		there, err := tx.Side(outbox.SideOutbox).Get(f.ID.Key())
		if err != nil {
			return err
		}
		if there == nil { // a feed has seen its mark, or somebody has decided it; settling finds out
			a = intent.Action{Kind: intent.ActSettle, Outcome: &intent.Outcome{Result: intent.OutParked}}
			return nil
		}
		known, err = l.r.knownOf(tx, f, last)
		if err != nil {
			return err
		}
		env := l.r.env(tx)
		f.began, f.epoch = env.Now, l.r.tables.Epoch()
		provisional := f.Provisional()
		a = f.Next(known, env)
		f.changed = f.changed || a.Noted || provisional && !f.Provisional()
		return nil
	})
	return known, a, err
}

// attempt makes sure that the batch is durably marked as attempted before its first byte leaves. Usually the in-flight window's mark has done
// that. If the entries have changed since, it stores them, or returns errFlagged if they were flagged meanwhile.
func (l *worker) attempt(ctx context.Context, f *flight, a *intent.Action) error {
	if !f.mustPersist() {
		f.Attempt(a)
		return nil
	}
	size, attempted := f.Size, false
	err := l.r.store.Update(ctx, func(tx *store.Tx) error {
		there, err := outbox.Get(tx, f.ID)
		if err != nil {
			return err
		}
		if f.flagEpoch != l.r.box.Flags.Load() || f.isFlagged(there) {
			return errFlagged
		}
		if !attempted {
			f.Attempt(a)
			attempted = true
		}
		t := outbox.Tally{}
		if err := outbox.Put(tx, f.Batch, t); err != nil {
			return err
		}
		return t.AddToCounts(tx)
	})
	if err != nil {
		f.Size = size
		return err
	}
	f.changed = false
	l.r.cfg.Failpoint("attempted")
	return nil
}

// errFlagged says that a batch was flagged in the outbox after the worker read it, so that another action is needed now.
var errFlagged = errors.New("the batch was flagged meanwhile")

// isFlagged reports whether the batch has left the outbox, or must be verified, since the flight read it.
func (f *flight) isFlagged(there *outbox.Batch) bool {
	return there == nil || there.Entries[0].FlaggedSince(f.Entries[0])
}

// mustPersist reports whether a batch holds what a restarted node could not find out again: results of earlier steps, or the values
// from before an update to a foreign life without a label.
func (f *flight) mustPersist() bool {
	return f.changed || slices.ContainsFunc(f.Entries, func(e *intent.Entry) bool {
		return len(e.Was) > 0 && e.Life == (intent.Life{Kind: intent.LifeForeign})
	})
}

// checkVanishedItem checks, if an answer shows no item where there was one, that the table is still the same one: what a new or restored table
// lacks was not deleted. In that case nothing is taken from the answer, and the batch waits.
func (l *worker) checkVanishedItem(ctx context.Context, f *flight) error {
	for i, now := range f.outcome.Known {
		if now == nil || now.Item != nil || f.known[i].Item == nil || f.Entries[i].Verifying() { // a verified batch knows of the restore
			continue
		}
		table, at := f.Entries[i].Table, l.r.clock.Now()
		if checked, ok := l.checked[table]; !ok || at.Sub(checked) >= checkValid {
			if err := l.r.tables.Check(ctx, table); err != nil {
				return err
			}
			l.checked[table] = at
		}
		if l.r.tables.MayComeBack(table) {
			f.outcome, f.idle = intent.Outcome{Result: intent.OutParked, After: asideWait}, true
			f.park(at.Add(asideWait), "its table is another one, or restored")
			return l.r.asItWas(ctx, f)
		}
	}
	return nil
}

// asItWas restores a batch to its state before the last answer, except that it was sent.
func (r *Replica) asItWas(ctx context.Context, f *flight) error {
	return r.store.View(ctx, func(tx *store.Tx) error {
		u, err := outbox.Get(tx, f.ID)
		if err != nil || u == nil {
			return err
		}
		for i, e := range u.Entries {
			e.Sent = max(e.Sent, f.Entries[i].Sent)
		}
		f.Batch, f.changed, f.shown = u, true, nil
		return nil
	})
}

// checkValid is how long a check of a table stays valid: many items may vanish at once.
const checkValid = 5 * time.Second

// token returns a fresh ClientRequestToken.
func (r *Replica) token() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], r.cfg.Rand())
	binary.BigEndian.PutUint64(b[8:], r.cfg.Rand())
	return hex.EncodeToString(b[:])
}

// signatureRefused records that the cloud does not accept our credentials.
func (r *Replica) signatureRefused(o intent.Outcome, err *intent.Error) {
	text := remote.ErrorText(err)
	if r.net.RecordLoss(text, r.clock.Now()) {
		r.log.Error("the cloud does not accept this node's signature", "error", text, "alarm", o.Alarm)
	}
	r.wakeTasks()
}
