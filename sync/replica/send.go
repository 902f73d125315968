package replica

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// send takes a batch as far as it goes without a pause: it asks what is to be done, does it, asks what the answer means.
// The caller has the right to have a request on its way; send gives it back. false: the batch stays where it is, to be
// sent again when the cloud is there.
func (l *worker) send(ctx context.Context, f *flight) (finished bool) {
	answered := false
	defer func() { l.r.net.Leave(answered) }()
	if err := l.r.rereadIfFlagged(ctx, f); err != nil {
		return l.give(f, err)
	}
	l.r.events.expect(f.Batch)
	for range maxSteps {
		known, a, err := l.next(ctx, f)
		if err != nil {
			return l.give(f, err)
		}
		if l.without(f, &a, known) {
			return true
		}
		stored := a.Attempt && f.mustPersist()
		ans, err := l.ask(ctx, f, &a)
		switch {
		case errors.Is(err, errFlagged):
			if err := l.r.readAnew(ctx, f); err != nil {
				return l.give(f, err)
			}
			continue
		case err != nil:
			return l.give(f, err)
		case ctx.Err() != nil:
			return false // whatever the answer was, it will be found again
		}
		answered = l.heard(f, &a, ans.Err)
		env := l.r.env(nil)
		f.outcome, f.known, f.answered = f.Take(a, ans, known, env), known, env.Now
		f.sees(f.outcome.Known)
		f.changed = f.changed || stored // as one that is unanswered
		if finished, again := l.took(ctx, f, &a, ans.Err); !again {
			return finished
		}
	}
	f.outcome = intent.Outcome{Result: intent.OutParked}
	f.park(l.r.clock.Now().Add(time.Second), "it took many steps")
	return true
}

// heard notes what any answer tells of its tables. It reports whether the cloud has said something at all.
func (l *worker) heard(f *flight, a *intent.Action, err *intent.Error) bool {
	if a.Kind == intent.ActSend && takes(err) {
		l.r.paces.Takes(f.written(a))
	}
	return err == nil || err.Class != intent.Offline && err.Class != intent.Unknown
}

// takes reports whether an answer shows that its table is there and that this node may write to it.
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

// without takes the actions for which nobody is asked: what is settled already, what waits, what the table's pace holds
// back. false: a request is to be made.
func (l *worker) without(f *flight, a *intent.Action, known []intent.Known) bool {
	switch a.Kind {
	case intent.ActSettle:
		f.outcome, f.known = *a.Outcome, known
		return true
	case intent.ActPark:
		f.outcome, f.idle = intent.Outcome{Result: intent.OutParked}, true
		f.park(l.r.local(a.Until), a.Why)
		if a.Why == intent.WhyEvents { // whoever settles them says so
			f.wait = time.Time{}
		}
		return true
	case intent.ActSend:
		now, tables := l.r.clock.Now(), f.written(a)
		if at := l.r.paces.Take(tables, now); at.After(now) {
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

// took acts on what an answer means; again: there is a step to follow.
func (l *worker) took(ctx context.Context, f *flight, a *intent.Action, failed *intent.Error) (finished, again bool) {
	if a.Kind == intent.ActRead || failed != nil {
		if err := l.vanished(ctx, f); err != nil {
			if unread := l.r.asItWas(ctx, f); unread != nil { // nobody knows whether the absence can be believed
				err = unread
			}
			return l.give(f, err), false
		}
	}
	switch f.outcome.Result {
	case intent.OutAgain:
		f.changed = true
		return false, true
	case intent.OutOffline, intent.OutRefresh:
		l.r.offline(f.outcome, failed)
		return false, false
	}
	l.readRest(ctx, f)
	l.learn(f, failed)
	return true, false
}

// readRest reads what the refusal of a transaction has not shown of its rows, those of its conditions among them: who decides about it is
// to find all of them as they are. Where that fails it is decided on what is here, and they are read as soon as can be.
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
		l.r.log.Warn("the rows of a refused transaction cannot be read at once", "seq", f.ID.Seq, "table", f.Table(), "error", err)
		for _, ref := range refs {
			l.r.feed.Book(ref.Table, ref.Key)
		}
	}
}

// learn takes from an answer what is true of more than the batch, and when the batch may go on.
func (l *worker) learn(f *flight, err *intent.Error) {
	now := l.r.clock.Now()
	o := &f.outcome
	if o.Code == intent.CodeDeposed {
		l.r.deposedBy(o.Lock, o.Fence)
	}
	switch o.Result {
	case intent.OutApplied:
		l.r.paces.Succeeded(f.Table(), now)
	case intent.OutThrottled:
		f.park(now.Add(max(o.After, l.r.paces.Throttled(f.Table(), now))), "throttled")
	case intent.OutUnknown:
		if _, gone := remote.Unreached(err); gone { // the others need not find it out the same way
			l.r.offline(*o, err)
		}
		f.park(now.Add(max(o.After, unknownWait().Delay(f.Tries(), l.r.float()))), "no answer")
	case intent.OutParked:
		f.park(now.Add(o.After), cmp.Or(f.Entries[0].Why, f.why))
	case intent.OutStopTable:
		l.stop(f, err, now)
	case intent.OutTimeline:
		l.r.identity.Suspect(errTimeline.Error())
		f.park(now.Add(time.Second), "this node's history is looked into")
	}
}

// stop notes that a table is not there, or not this node's to write to. Of a transaction whose answer does not tell which of
// its tables it is, the others' writes are not to wait: it waits alone.
func (l *worker) stop(f *flight, err *intent.Error, now time.Time) {
	table := f.outcome.Table
	if table == "" {
		l.r.log.Error("a write waits for a table", "seq", f.ID.Seq, "error", err, "alarm", f.outcome.Alarm)
		f.park(now.Add(flow.StopWait().Delay(f.Tries(), l.r.float())), err.Error())
		return
	}
	if l.r.paces.Halt(table, err.Class.String(), err.Error(), now) {
		l.r.log.Error("nothing of a table is sent", "table", table, "error", err, "alarm", f.outcome.Alarm)
	}
	f.park(l.r.paces.StoppedUntil([]string{table}, now), flow.WhyStopped)
}

var errTimeline = errors.New("the cloud has writes of this node that this file does not know")

func unknownWait() backoff.Policy {
	return backoff.Policy{Base: 200 * time.Millisecond, Max: 30 * time.Second}
}

// give puts a batch aside that the node itself cannot work on.
func (l *worker) give(f *flight, err error) bool {
	l.r.log.Error("an entry cannot be processed", "seq", f.ID.Seq, "table", f.Table(), "error", err)
	f.outcome, f.idle = intent.Outcome{Result: intent.OutParked}, true
	f.park(l.r.clock.Now().Add(asideWait), "an error of this node")
	return true
}

// park notes until when and why a flight waits, for the lane alone.
func (f *flight) park(until time.Time, why string) { f.wait, f.why = until, why }

// next asks what is to be done with a batch, by what is known now.
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
		if there == nil { // a feed has seen its mark, or somebody has decided it: who settles it finds out
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

// ask does what an action says. An error is the node's own: nothing was sent.
func (l *worker) ask(ctx context.Context, f *flight, a *intent.Action) (intent.Answer, error) {
	if a.Attempt {
		if err := l.attempt(ctx, f, a); err != nil {
			return intent.Answer{}, err
		}
	}
	if a.Kind == intent.ActSend {
		l.r.identity.Sent()
	}
	l.r.cfg.Failpoint("send")
	ctx, cancel := context.WithTimeout(ctx, l.r.cfg.Deadline)
	defer cancel()
	var ans intent.Answer
	var err error
	switch {
	case a.Kind == intent.ActRead:
		for _, ref := range a.Reads {
			image, failed := l.r.cloud.Get(ctx, ref.Table, ref.Key)
			if err = failed; err != nil {
				break
			}
			ans.Items = append(ans.Items, image)
		}
	case a.Transact:
		err = l.r.cloud.Transact(ctx, a.Calls, l.r.token())
	default:
		ans.Image, err = l.r.cloud.Write(ctx, a.Calls[0])
	}
	ans.Err = remote.AsError(err)
	l.r.cfg.Failpoint("answer")
	return ans, nil
}

// attempt makes sure that the batch is known to have been attempted before its first byte leaves. The first time the mark
// of the window has seen to that; where the entries have changed since, they are written, unless they were flagged meanwhile:
// errFlagged.
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
		if f.flagEpoch != l.r.box.Flags.Load() || f.flagged(there) {
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
		return t.Keep(tx)
	})
	if err != nil {
		f.Size = size
		return err
	}
	f.changed = false
	l.r.cfg.Failpoint("attempted")
	return nil
}

// errFlagged is that a batch was flagged in the outbox since a lane has read it: what is to be done with it is another thing now.
var errFlagged = errors.New("the unit was flagged meanwhile")

// flagged reports whether the batch has left the outbox, or is to be made sure of, since the flight has read it.
func (f *flight) flagged(there *outbox.Batch) bool {
	return there == nil || there.Entries[0].FlaggedSince(f.Entries[0])
}

// mustPersist reports whether a batch holds what a restarted node could not know again: what has been found out, or what
// was there before an update to a foreign life that nobody has named.
func (f *flight) mustPersist() bool {
	return f.changed || slices.ContainsFunc(f.Entries, func(e *intent.Entry) bool {
		return len(e.Was) > 0 && e.Life == (intent.Life{Kind: intent.LifeForeign})
	})
}

// vanished looks, where an answer shows no item and there was one, whether the table is still the one that had it: what a
// new or restored table does not have was not deleted. Then nothing is taken from the answer, and the batch waits.
func (l *worker) vanished(ctx context.Context, f *flight) error {
	for i, now := range f.outcome.Known {
		if now == nil || now.Item != nil || f.known[i].Item == nil || f.Entries[i].MakesSure() { // which knows of the restore
			continue
		}
		table, at := f.Entries[i].Table, l.r.clock.Now()
		if looked, ok := l.looked[table]; !ok || at.Sub(looked) >= lookedFor {
			if err := l.r.tables.Check(ctx, table); err != nil {
				return err
			}
			l.looked[table] = at
		}
		if l.r.tables.MayComeBack(table) {
			f.outcome, f.idle = intent.Outcome{Result: intent.OutParked, After: asideWait}, true
			f.park(at.Add(asideWait), "its table is another one, or restored")
			return l.r.asItWas(ctx, f)
		}
	}
	return nil
}

// asItWas has a batch be what it was before its last answer, but for that it was sent.
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

// lookedFor is how long a look at a table counts: many items may have gone at once.
const lookedFor = 5 * time.Second

// token is a fresh ClientRequestToken.
func (r *Replica) token() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], r.cfg.Rand())
	binary.BigEndian.PutUint64(b[8:], r.cfg.Rand())
	return hex.EncodeToString(b[:])
}

// offline notes that the cloud cannot be reached, or does not know who is asking.
func (r *Replica) offline(o intent.Outcome, err *intent.Error) {
	if o.Result != intent.OutRefresh {
		r.linkLost(err)
		return
	}
	text := remote.ErrorText(err)
	if r.net.Lost(text, r.clock.Now()) {
		r.log.Error("the cloud does not accept this node's signature", "error", text, "alarm", o.Alarm)
	}
	r.errand()
}
