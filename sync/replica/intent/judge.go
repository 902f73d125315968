package intent

import (
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// verdict is what an image says about an entry that was refused on it.
type verdict uint8

const (
	verdictAgain    verdict = iota // send the entry, which is already changed as needed
	verdictApplied                 // done: applied by an earlier send, or nothing left to do
	verdictDecided                 // see the decision
	verdictTimeline                // no proof: another process writes under our name
	verdictAsk                     // the presence of its tombstone decides
	verdictPark                    // a hold, a count guard, another Put's turn or other nodes' replays: NotBefore is set
)

// facts is what is known about an entry when an image is judged.
type facts struct {
	image  attr.Item // ALL_OLD, or a consistent read; nil: no item
	unsure bool      // a send on the entry's life is unanswered, and nothing proves that it did not apply
	dead   bool      // its tombstone exists
	alive  bool      // its tombstone does not exist
	before Known     // the base so far
}

// Texts of conflict records.
const (
	textCondition   = "the item in the cloud does not satisfy the condition of the write"
	textUnfit       = "the write cannot be applied to the item in the cloud"
	textDeleted     = "the item was deleted in the cloud"
	textGone        = "the item is gone from the cloud, and it is unknown whether the write was applied before"
	textAgain       = "another write created the item, and it is unknown whether this write had created it earlier and it was deleted"
	textUnanswered  = "it has been unanswered for so long that nothing shows whether it was applied"
	textUnknown     = "the item was changed from outside, and it is unknown whether the write was applied before"
	textOverwritten = "the item was replaced from outside, and it is unknown whether the write was applied before"
	textFencedOff   = "another node has taken the lock over: the fence in the cloud is higher"
	textOlder       = "the cloud has a later write"
	textTombstone   = "the item that it created was deleted by another node"
	textExpired     = "the item that it would create is past its TTL"
	textRestored    = "the restored cloud has a later write of this node"
	textReplaced    = "the restored cloud has another item in place of the one that this write created"
	textMissing     = "it was applied before the instant that the cloud was restored to, and the item it created is not there"
	textHalf        = "the restored cloud has part of the transaction, and the rest cannot be verified"
	textNoTrace     = "the restored cloud has nothing of the transaction, and it cannot be applied to the items there"
	textLost        = "another copy of this node may have sent it, and nothing in the cloud shows whether it did"
	textInvalid     = "the cloud can never accept this write"
	textTooLarge    = "the item would be too large"
	textTimeline    = "the mark of another history of this node: a copy or an older file is writing"
)

// judgeRefusal decides what the refusal of an entry means: by the mark, then (policy newest) the time, the application's condition, the guards.
func (e *Entry) judgeRefusal(f facts, env Env) (verdict, decision) {
	item, side := Split(f.image)
	if v, d, ok := e.judgeMark(item, side, f, env); ok {
		return v, d
	}
	if e.hasTimeGuard() && e.Life.matches(item, side) && e.isOlder(side, env) {
		return verdictDecided, supersededAs(CodeOlder, textOlder)
	}
	if !e.holds(item, env.Exprs) {
		return e.judgeFalseCondition(item, side, f, env)
	}
	return e.judgeGuards(item, side, f, env)
}

// judgeMark judges by our mark; ok reports whether that decides.
func (e *Entry) judgeMark(item attr.Item, side Sidecar, f facts, env Env) (verdict, decision, bool) {
	there, mine := side.Marks[env.Node], e.Mark()
	if there.IsZero() || there.Kind() != attr.KindN {
		return 0, decision{}, false
	}
	order, _ := attr.Compare(there, mine)
	switch {
	case order < 0:
		return 0, decision{}, false
	case order == 0 && (f.unsure || e.Sent > 1):
		return verdictApplied, decision{}, true
	case there.Equal(e.closedMark()):
		e.Closed = true
		v, d := e.closedBefore(item, side, f, env)
		return v, d, true
	case order > 0 && e.replay && e.isKeptInRestored(side, env):
		return verdictApplied, decision{}, true
	case order > 0 && e.replay:
		return verdictDecided, conflict(CodeRestored, textRestored), true
	}
	return verdictTimeline, decision{}, true
}

// closedBefore decides about an entry whose mark was closed: the answer was lost, or this process has forgotten the decision. That the
// entry was not applied to this item says nothing about an earlier item that this one may have replaced.
func (e *Entry) closedBefore(item attr.Item, side Sidecar, f facts, env Env) (verdict, decision) {
	if e.labels(side.Life, env.Node) {
		side.Life = "" // closing has labelled it
	}
	if f.unsure {
		if v, d, ok := e.refusedUnsure(item, side, f, env); ok {
			return v, d
		}
	}
	return verdictDecided, conflict(CodeCondition, textCondition)
}

// matches reports whether an image is of the life.
func (l Life) matches(item attr.Item, side Sidecar) bool {
	switch {
	case l.Kind == LifeNone:
		return item == nil
	case l.Kind == LifeOurs && l.ID == "":
		return false
	}
	return item != nil && side.Life == l.ID
}

// namedAgain reports whether an item with the name of a foreign life is not the one that the base shows: within a life the count of sends
// never falls, but a late copy of a label gives its name, and a count that begins anew, to what a foreign writer has made since.
func (l Life) namedAgain(before, there Sidecar) bool {
	return l.Kind == LifeForeign && before.Life == l.ID && there.Life == l.ID && there.Count < before.Count
}

// isOlder reports whether the cloud has a later write. A time too far ahead does not count.
func (e *Entry) isOlder(side Sidecar, env Env) bool {
	if side.Time.Kind() != attr.KindN {
		return false
	}
	order, _ := attr.Compare(side.Time, e.stamp())
	return order >= 0 && int64(Whole(side.Time)) <= limitOf(env)
}

// holds reports whether the application's condition holds on an item or, for policy state, whether the fence permits the write.
func (e *Entry) holds(item attr.Item, exprs *expr.Cache) bool {
	if e.Policy == store.PolicyState {
		there, ok := item[AttrFence].Int()
		return e.Fence == 0 || item[AttrFence].IsZero() || ok && there <= e.Fence
	}
	if e.Condition == "" {
		return true
	}
	b, err := e.bind(exprs)
	if err != nil {
		return false
	}
	ok, err := b.Condition.Match(expr.Item(item))
	return ok && err == nil
}

// bind parses the entry's expressions. Unused names and values of a coalesced or converted entry do not matter.
func (e *Entry) bind(exprs *expr.Cache) (expr.Bound, error) {
	return exprs.Bind(expr.Request{Update: e.Update, Condition: e.Condition, Params: e.Params})
}

// apply returns the item after the entry, ignoring its condition; nil: no item.
func (e *Entry) apply(item attr.Item, exprs *expr.Cache) (attr.Item, error) {
	switch e.Op {
	case store.OpDelete:
		return nil, nil
	case store.OpPut:
		return e.Item, nil
	case store.OpUpdate:
	}
	b, err := e.bind(exprs)
	if err != nil {
		return nil, err
	}
	if item == nil {
		if !b.Update.Creates() {
			return nil, nil
		}
		item = e.Key
	}
	return b.Update.Apply(item)
}

// judgeFalseCondition decides about an entry whose own condition does not hold.
func (e *Entry) judgeFalseCondition(item attr.Item, side Sidecar, f facts, env Env) (verdict, decision) {
	if e.Op == store.OpDelete && e.Txn == 0 && (item == nil || !foreign(side.Life) && !e.Life.matches(item, side)) {
		return verdictApplied, decision{} // what it should delete is gone, whoever did it
	}
	if f.unsure && item != nil {
		if v, d, ok := e.refusedUnsure(item, side, f, env); ok {
			return v, d
		}
	}
	if fence, ok := item[AttrFence].Int(); ok && e.Lock != "" && fence > e.Fence {
		return verdictDecided, e.fencedOff(fence)
	}
	if item == nil && e.Life.Kind != LifeNone && !e.ReplacesExpired {
		return e.judgeEndedLife(f, env)
	}
	return verdictDecided, conflict(CodeCondition, textCondition)
}

// refusedUnsure decides about an entry that may have been applied to an earlier item that this one replaced; ok reports whether it
// decides.
func (e *Entry) refusedUnsure(item attr.Item, side Sidecar, f facts, env Env) (v verdict, d decision, ok bool) {
	on := e.Life.matches(item, side)
	switch {
	case on && e.Life.Kind == LifeForeign && e.Life.ID == "": // a foreign Put may have replaced what it was applied to
		return verdictDecided, conflict(CodeUnknown, textUnknown), true
	case on && e.Life.namedAgain(f.before.Side, side) && !e.replay && !env.Replaying: // a restored cloud puts counts back too
		return verdictDecided, conflict(CodeOverwritten, textOverwritten), true
	case on:
		return 0, decision{}, false
	case foreign(side.Life):
		return verdictDecided, conflict(CodeOverwritten, textOverwritten), true
	case !e.creates():
		v, d = e.judgeEndedLife(f, env)
		return v, d, true
	case f.dead:
		return verdictDecided, supersededAs(CodeTombstone, textTombstone), true
	case !f.alive:
		return verdictAsk, decision{}, true
	}
	return verdictDecided, conflict(CodeUnknown, textAgain), true // a foreign writer leaves no tombstone
}

// fencedOff handles a lock taken by another node. An event is recorded once, and it is there; derived state is dropped.
func (e *Entry) fencedOff(fence int64) decision {
	d := supersededAs(CodeFencedOff, textFencedOff)
	if e.Policy == store.PolicyState {
		d = conflict(CodeFencedOff, textFencedOff)
	}
	d.fence = fence
	return d
}

// judgeEndedLife decides about an update whose life has ended.
func (e *Entry) judgeEndedLife(f facts, env Env) (verdict, decision) {
	switch {
	case f.image != nil:
	case e.replay && env.Replaying:
		e.NotBefore, e.Why = env.Now.Add(replayPoll), WhyReplay
		return verdictPark, decision{}
	case !f.unsure && e.revive(f.before, env):
		return verdictAgain, decision{}
	}
	d := conflict(CodeDeleted, textDeleted)
	if f.unsure {
		d = conflict(CodeGone, textGone)
	}
	if e.Policy == store.PolicyState || e.Policy == store.PolicyNewest && !f.unsure {
		d.result = OutSuperseded
	}
	return verdictDecided, d
}
