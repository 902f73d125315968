package intent

import (
	"slices"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Why a batch is parked.
const (
	WhyEvents = "events"      // state waits until its events are settled
	WhyHold   = "hold"        // a copy of the item's create may still arrive
	WhyCount  = "count guard" // other nodes write the item faster than a Put of it can be sent
	WhyYield  = "yields"      // another node's Put of the item goes first
	WhyReplay = "replay"      // the cloud was restored: wait until all nodes have replayed
	WhyTable  = "table"       // HoldTable
)

// eventsPoll is how often state that waits for its events is looked at, unless notified earlier.
const eventsPoll = time.Second

// Next returns what to do with a batch now. known holds the bases of its entries' items, in order. Calling it twice returns the
// same action.
func (u *Batch) Next(known []Known, env Env) Action {
	a := u.action(known, env)
	a.at = env.Now
	return a
}

// action is Next without the instant.
func (u *Batch) action(known []Known, env Env) Action {
	for _, e := range u.Entries {
		if e.Held != HoldNone {
			return Action{Kind: ActPark, Why: e.Why}
		}
		if until := e.ParkedUntil(env.Now); until.After(env.Now) {
			return Action{Kind: ActPark, Until: until, Why: e.Why}
		}
	}
	if u.isDiverged(env) {
		return u.renumber()
	}
	if u.late(env) {
		return Action{Kind: ActSettle, Outcome: &Outcome{Result: OutConflict, Code: CodeLate, Text: textLate}}
	}
	if u.multi() {
		return u.nextAll(known, env)
	}
	e := u.Entries[0]
	switch e.step {
	case stepAlive:
		return read(stepAlive, e.aliveRefs(env)...)
	case stepValidate:
		return read(stepValidate, e.ref())
	case stepHold:
		return send(stepHold, holdCall(e, e.met.on, env))
	case stepClose:
		if e.proves(env) {
			return send(stepClose, madeCall(e, true, false, env))
		}
		return send(stepClose, closeCall(e, e.met.on, env))
	case stepProof:
		return read(stepProof, e.proofRefs(env)...)
	case stepLeave:
		return send(stepLeave, leaveCall(e, env))
	}
	switch {
	case e.lost:
		return read(stepLost, e.lostRefs(env)...)
	case e.replay && e.before && e.creates():
		return read(stepReplay, e.ref())
	}
	return e.next(known[0], env)
}

// ParkedUntil returns until when the entry is parked, by the server's clock; zero: not parked. A rest that ends later than one
// beginning now could, or that has not begun yet, was set by a clock that has been put back since, so it is over. A hold is
// always kept: what it waits for may still arrive.
func (e *Entry) ParkedUntil(now time.Time) time.Time {
	over := false
	switch e.Why {
	case WhyCount, WhyReplay:
		over = e.NotBefore.After(now.Add(longestRest))
	case WhyYield:
		over = now.Before(e.Yields)
	}
	if over {
		return time.Time{}
	}
	return e.NotBefore
}

const textLate = "set aside by this node: it could not be sent within the time that its application allows"

// late reports whether the batch missed its deadline and no request of it has arrived: every send, if any, is known to have done
// nothing. A batch that may be in the cloud, or that is replayed to a restored cloud, is not late.
func (u *Batch) late(env Env) bool {
	if env.SendBy == nil || slices.ContainsFunc(u.Entries, func(e *Entry) bool { return e.Unsure || e.lost || e.replay }) {
		return false
	}
	return slices.ContainsFunc(u.Entries, func(e *Entry) bool {
		by := env.SendBy(&e.Write)
		return !by.IsZero() && env.Now.After(by)
	})
}

// multi reports whether the batch is a transaction of the application.
func (u *Batch) multi() bool { return u.Entries[0].Txn != 0 }

func (e *Entry) ref() Ref { return Ref{Table: e.Table, Key: e.Key} }

func read(s step, refs ...Ref) Action { return Action{Kind: ActRead, Reads: refs, step: s} }

func send(s step, c Call) Action { return Action{Kind: ActSend, Calls: []Call{c}, step: s} }

func settleAction(o Outcome) Action {
	o.Known, o.Met = []*Known{nil}, []attr.Item{nil}
	return Action{Kind: ActSettle, Outcome: &o}
}

func park(why string, until time.Time) *Action {
	return &Action{Kind: ActPark, Why: why, Until: until}
}

// next is Next for a single entry that has nothing to find out first.
func (e *Entry) next(known Known, env Env) Action {
	if a := e.wait(known, env); a != nil {
		return *a
	}
	if a := e.prepare(known, env); a != nil {
		return *a
	}
	noted := e.Proof && e.creates() && !env.Transactions // no proof goes with this send, and none may after a crash
	if noted {
		e.Proof = false
	}
	a := e.itself(known, env)
	a.Noted = a.Noted || noted
	return a
}

// itself sends the entry, or asks for what must be known before.
func (e *Entry) itself(known Known, env Env) Action {
	switch {
	case e.Op == store.OpDelete && e.Life.Kind == LifeNone:
		return settleAction(Outcome{Result: OutApplied})
	case e.overdue(env) && e.proves(env):
		return read(stepProof, e.proofRefs(env)...)
	case e.overdue(env) && e.creates():
		return read(stepAlive, e.aliveRefs(env)...)
	case e.proves(env), e.creates() && e.Unsure:
		return e.create(known, env)
	case e.needsLock(env):
		return e.first(known, env)
	}
	e.remember(known, env.Exprs)
	a := send(stepSend, build(e, known, env))
	a.Attempt = true
	return a
}

// wait returns the action for what the entry waits for; nil: nothing.
func (e *Entry) wait(known Known, env Env) *Action {
	if e.Policy == store.PolicyState && e.Lock != "" && env.Events != nil && !env.Events(e.Lock, e.Fence, e.Group) {
		return park(WhyEvents, env.Now.Add(eventsPoll))
	}
	if hold := known.Side.Hold; e.Op == store.OpDelete && hold >= env.Now.UnixMilli() && known.Item != nil {
		return park(WhyHold, time.UnixMilli(hold+1))
	}
	if e.Yields.IsZero() && e.yield(known.Side, env) {
		a := park(WhyYield, e.NotBefore)
		a.Noted = true
		return a
	}
	return nil
}

// prepare returns what must be sent before the operation; nil: nothing.
func (e *Entry) prepare(known Known, env Env) *Action {
	e.restamp(known.Side, env)
	life := e.Life
	if life.Kind == LifeForeign && life.ID == "" && e.Update == "" && !e.ReplacesExpired {
		a := send(stepLabel, labelCall(e, env))
		return &a
	}
	if e.needsDead(env) {
		a := send(stepDead, deadCall(life.ID, env))
		return &a
	}
	if e.Moved && !e.Dead && e.Life.Kind != LifeNone {
		call := movedCall(e, env)
		if e.hasProof(env) {
			call = madeCall(e, true, true, env)
		}
		a := send(stepDead, call)
		return &a
	}
	if e.needsTurn(known.Side, env) {
		a := send(stepTurn, turnCall(e, env))
		return &a
	}
	return nil
}

// hasProof reports whether a proof row decides whether the entry created its item. A write replayed to a restored cloud is judged by
// the item instead: its proof may have survived what the cloud lost.
func (e *Entry) hasProof(env Env) bool {
	return e.Proof && env.Transactions && e.Txn == 0 && !e.replay
}

// proves reports whether the entry is sent together with its proof.
func (e *Entry) proves(env Env) bool { return e.hasProof(env) && e.creates() }

// overdue reports whether the entry has been unanswered for so long that the rows which could identify it may expire. It is then
// looked for, not sent again. An instant from before the clock was set says nothing.
func (e *Entry) overdue(env Env) bool {
	since := e.Since
	if since.IsZero() {
		since = e.At
	}
	return e.Unsure && !e.replay && since.Year() >= 2000 && env.Now.Sub(since) > unansweredFor
}

// needsDead reports whether the entry ends a life that its maker may not know it began, by a delete or by replacing an item past its
// TTL. The maker is another node, or this one after an older state of its disk, with the create still queued, was restored. What
// the maker has reported settled it will know, except while a restored cloud is being replayed: then it creates again what the
// cloud has lost.
func (e *Entry) needsDead(env Env) bool {
	if e.Op != store.OpDelete && !e.ReplacesExpired || e.Dead || e.Life.Kind != LifeOurs {
		return false
	}
	node, seq, ok := maker(e.Life.ID)
	return ok && (env.Settled == nil || !env.Settled(node, seq) || e.replay || env.Replaying)
}

// restamp replaces a stamp that no server had confirmed by the server's time, once and before sending, and takes back one that
// lies ahead, but never to before what the entry was written on.
func (e *Entry) restamp(side Sidecar, env Env) {
	if e.Stamp == 0 || e.Sent > 0 || !env.Synced {
		return
	}
	upon := e.earliestStampUpon(side, env)
	if e.Provisional {
		e.Stamp += env.Skew.Microseconds()
		e.Provisional = false
	}
	e.Stamp = max(min(e.Stamp, env.Now.UnixMicro()), upon)
}

// earliestStampUpon returns the earliest stamp that follows the base, if the entry was written on that base: its stamp is the next one
// (stampNow), or the base's time is from an earlier write of this run. It returns 0 for another base, which may be from a later
// write, and for a time too far ahead.
func (e *Entry) earliestStampUpon(side Sidecar, env Env) int64 {
	base := Whole(side.Time)
	if base > uint64(limitOf(env)) || e.Stamp != int64(base)+1 && !e.isBehind(side, env.Node) {
		return 0
	}
	return int64(base) + 1
}

// isBehind reports whether the base's time is from an earlier write of this node, in the same incarnation.
func (e *Entry) isBehind(side Sidecar, node string) bool {
	mark := side.Marks[node]
	last := Whole(mark)
	return last < e.Seq && last>>incarnationShift == e.Seq>>incarnationShift && fraction(mark) != "" && fraction(mark) == fraction(side.Time)
}

// needsLock reports whether the entry is a first image, which only the lock's own fence can refuse.
func (e *Entry) needsLock(env Env) bool {
	return e.Policy == store.PolicyState && e.creates() && e.Lock != "" && env.LockTable != ""
}

// first sends a first image of policy state.
func (e *Entry) first(known Known, env Env) Action {
	switch {
	case env.Transactions:
		return Action{
			Kind: ActSend, Calls: []Call{build(e, known, env), lockCheck(e, env)}, Transact: true, Attempt: true, step: stepSend,
		}
	case !e.met.ready:
		return read(stepLock, lockRef(e, env))
	}
	a := send(stepSend, build(e, known, env))
	a.Attempt = true
	return a
}

// create sends a create with its proof. A create that was sent without proof and not answered is sent again, unless it is known to
// have been deleted since.
func (e *Entry) create(known Known, env Env) Action {
	if spec := env.Spec(e.Table); e.Unsure && spec != nil && expired(spec, e.createdItem(env), env.Now) {
		return settleAction(Outcome{Result: OutSuperseded, Code: CodeExpired, Text: textExpired})
	}
	beside := madeCall(e, false, false, env)
	if !e.proves(env) {
		e.Late, beside = true, aliveCheck(e, env)
	}
	if !env.Transactions {
		switch {
		case !e.met.ready:
			return read(stepAlive, e.aliveRefs(env)...)
		default:
			a := send(stepSend, build(e, known, env))
			a.Attempt = true
			return a
		}
	}
	calls := []Call{build(e, known, env), beside}
	if e.needsLock(env) {
		calls = append(calls, lockCheck(e, env))
	}
	return Action{Kind: ActSend, Calls: calls, Transact: true, Attempt: true, step: stepSend}
}

// aliveRefs lists what shows the fate of an unanswered create: its item, its tombstone and, for state, the lock. The item is read
// first, because a deleting node writes the tombstone before it deletes.
func (e *Entry) aliveRefs(env Env) []Ref {
	refs := []Ref{e.ref(), syncRef(DeadID(e.lifeID(env.Node)), env)}
	if e.needsLock(env) {
		refs = append(refs, lockRef(e, env))
	}
	return refs
}

// proofRefs lists what shows the fate of a create sent with its proof. The proof is read first: if it exists, the item shows
// what happened since.
func (e *Entry) proofRefs(env Env) []Ref {
	refs := []Ref{syncRef(MadeID(e.lifeID(env.Node)), env), e.ref()}
	if e.needsLock(env) {
		refs = append(refs, lockRef(e, env))
	}
	return refs
}

// lostRefs lists what shows the fate of an entry in a lost timeline: its item and, for a create, its proof or the record that it
// moved to another life.
func (e *Entry) lostRefs(env Env) []Ref {
	refs := []Ref{e.ref()}
	switch id := e.lifeID(env.Node); {
	case !e.creates() && !e.Moved:
	case e.hasProof(env):
		refs = append(refs, syncRef(MadeID(id), env))
	default:
		refs = append(refs, syncRef(MovedID(id), env))
	}
	return refs
}

// createdItem returns the item that a create creates, as far as the entry alone determines it.
func (e *Entry) createdItem(env Env) attr.Item {
	if e.Item != nil {
		return e.Item
	}
	item, err := e.apply(nil, env.Exprs)
	if err != nil {
		return nil
	}
	return item
}

// Attempt records that an action is about to be sent. The caller stores the entries durably before the first byte leaves.
func (u *Batch) Attempt(a *Action) {
	if !a.Attempt {
		return
	}
	a.unsure = make([]bool, len(u.Entries))
	for i, e := range u.Entries {
		if a.unsure[i] = e.Unsure; !e.Unsure {
			e.Since = a.at
		}
		e.Sent++
		e.Unsure = true
		e.met.ready = false
	}
}
