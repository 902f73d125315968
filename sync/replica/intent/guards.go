package intent

import (
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// judgeGuards says what it means that only guards failed: the second table of DESIGN.md, a case a row.
func (e *Entry) judgeGuards(item attr.Item, side Sidecar, f facts, env Env) (verdict, decision) {
	switch {
	case e.Ghost:
		return e.judgeGhost(item, side, f, env)
	case e.Life.on(item, side):
		return e.sameLife(item, side, f, env)
	case item == nil:
		return e.nothing(f, env)
	case e.Life.Kind == LifeNone:
		return e.onNone(item, side, f)
	case e.Life.Kind == LifeForeign && strings.HasPrefix(side.Life, foreignSign):
		return e.labelled(item, side, f)
	case foreign(side.Life):
		return e.overwritten(side, f)
	}
	return e.anotherLife(f, env)
}

// sameLife: the entry's life is there. It is sent again on what is there now. Within a life a mark goes only after it
// settled, so no unanswered send has applied.
func (e *Entry) sameLife(item attr.Item, side Sidecar, f facts, env Env) (verdict, decision) {
	switch {
	case f.unsure && item != nil && e.Life.Kind == LifeForeign && e.Life.ID == "" && !e.untouched(item):
		// Nobody has named this life: a foreign Put may have taken our mark away and kept our effect.
		return verdictDecided, conflict(CodeUnknown, textUnknown)
	case f.dead:
		return verdictDecided, superseded(CodeTombstone, textTombstone)
	case e.Op == store.OpDelete && side.Hold >= env.Now.UnixMilli():
		e.NotBefore, e.Why = time.UnixMilli(side.Hold+1), WhyHold
		return verdictPark, decision{}
	case e.yield(side, env):
		return verdictPark, decision{}
	case e.Op == store.OpPut && item != nil:
		return e.countRefused(env)
	}
	e.met.noPrune = true
	return verdictAgain, decision{}
}

// nothing: there is no item.
func (e *Entry) nothing(f facts, env Env) (verdict, decision) {
	switch {
	case e.Op == store.OpDelete && e.Txn == 0:
		return verdictApplied, decision{}
	case e.Op == store.OpDelete:
		e.moveTo(Sidecar{}, false)
		return verdictAgain, decision{}
	case e.Late && !f.dead && !e.replay && !f.unsure:
		// It was a create, and a copy of that could still make what we would call deleted: it is one again.
		e.moveTo(Sidecar{}, false)
		e.Unsure = true
		return verdictAgain, decision{}
	case e.Late && !f.dead && !e.replay && e.Why != WhyHold:
		// It may have been applied to what is gone, and is not made once more. But what is said of it now such a copy could
		// still make untrue: for as long as one may be under way it waits.
		e.NotBefore, e.Why = env.Now.Add(env.signed()), WhyHold
		return verdictPark, decision{}
	}
	return e.vanished(f, env)
}

// replayPoll is when an entry that waits for the others' replays is looked at again.
const replayPoll = time.Minute

// onNone: there is an item, and the entry was journaled on none.
func (e *Entry) onNone(item attr.Item, side Sidecar, f facts) (verdict, decision) {
	switch {
	case e.Op == store.OpDelete && e.Txn == 0:
		return verdictApplied, decision{}
	case !f.unsure || e.removes(): // on no item it has done nothing, whatever was answered
		e.moveTo(side, true)
		return verdictAgain, decision{}
	case f.dead:
		return verdictDecided, superseded(CodeTombstone, textTombstone)
	case e.replay:
		// Who has made this has done so since, or without our knowledge: it is the newer.
		return verdictDecided, conflict(CodeRestored, textReplaced)
	case foreign(side.Life):
		// No tombstone tells of a foreign Put over what we may have made. Where nothing of it is there, it is as on a foreign
		// life: sent once more.
		if !e.untouched(item) {
			return verdictDecided, conflict(CodeOverwritten, textOverwritten)
		}
	case !f.alive:
		return verdictAsk, decision{}
	}
	e.Late = true
	e.moveTo(side, true)
	return verdictAgain, decision{}
}

// labelled: a foreign life has a label that is not the one the entry knows.
func (e *Entry) labelled(item attr.Item, side Sidecar, f facts) (verdict, decision) {
	if f.unsure && !e.untouched(item) {
		return verdictDecided, conflict(CodeUnknown, textUnknown)
	}
	e.moveTo(side, true)
	return verdictAgain, decision{}
}

// overwritten: a foreign Put lies over a life that was named.
func (e *Entry) overwritten(side Sidecar, f facts) (verdict, decision) {
	if f.unsure {
		return verdictDecided, conflict(CodeOverwritten, textOverwritten)
	}
	e.moveTo(side, true)
	return verdictAgain, decision{}
}

// anotherLife: the entry's life has ended, and a node of ours has begun another.
func (e *Entry) anotherLife(f facts, env Env) (verdict, decision) {
	if e.Op != store.OpDelete {
		return e.vanished(f, env)
	}
	if e.Txn != 0 {
		return verdictDecided, conflict(CodeDeleted, textDeleted)
	}
	return verdictApplied, decision{}
}

// untouched reports whether what the entry touches has the values from before it was first sent.
func (e *Entry) untouched(item attr.Item) bool {
	if e.Op != store.OpUpdate || e.Was == nil {
		return false
	}
	for text, held := range e.Was {
		was := attr.Value{}
		if list := held.List(); len(list) == 1 {
			was = list[0]
		}
		if !attr.Equal(was, expr.ParsePlace(text).In(item)) {
			return false
		}
	}
	return true
}

// moveTo takes the entry to the life that is there, or to none. No send on that life is unanswered; that an earlier one may
// still arrive elsewhere is remembered by Late.
func (e *Entry) moveTo(side Sidecar, exists bool) {
	e.Unsure, e.Refused, e.Label, e.Dead, e.Was, e.Moved = false, 0, "", false, nil, e.Moved || e.Txn == 0 && e.creates()
	switch {
	case !exists:
		e.Life = Life{}
	case foreign(side.Life):
		e.Life = Life{Kind: LifeForeign, ID: side.Life}
	default:
		e.Life = Life{Kind: LifeOurs, ID: side.Life}
	}
}

// remember notes what an update on a foreign life, or on none, will touch, before it is first sent.
func (e *Entry) remember(known Known, exprs *expr.Cache) {
	if e.Life.Kind == LifeOurs || e.Op != store.OpUpdate || e.Ghost || e.Unsure {
		return
	}
	e.Was = attr.Item{}
	b, err := e.bind(exprs)
	if err != nil {
		return
	}
	for _, p := range b.Update.Places() {
		held := attr.L()
		if v := p.In(known.Item); !v.IsZero() && e.Life.Kind != LifeNone {
			held = attr.L(v)
		}
		e.Was[p.String()] = held
	}
}

// judgeGhost: the item past its TTL that the entry takes the place of is not as it was, or no longer there.
func (e *Entry) judgeGhost(item attr.Item, side Sidecar, f facts, env Env) (verdict, decision) {
	switch {
	case f.dead:
		return verdictDecided, superseded(CodeTombstone, textTombstone)
	case item == nil:
		return verdictAgain, decision{}
	case !e.Life.on(item, side):
		if v, d := e.onNone(item, side, f); v != verdictAgain {
			return v, d
		}
	case e.yield(side, env):
		return verdictPark, decision{}
	case e.sameTTL(item):
		return e.countRefused(env)
	default:
		e.Unsure, e.Moved, e.Dead = false, true, false // a copy could still make the item
	}
	e.noGhost()
	return verdictAgain, decision{}
}

// noGhost has an entry that was to take the place of an item past its TTL be what was asked for: somebody has given that time,
// it is an item like any other.
func (e *Entry) noGhost() {
	if !e.Ghost {
		return
	}
	e.Ghost, e.Was = false, nil
	if e.Update != "" {
		e.Op, e.Item = store.OpUpdate, nil
	}
}

func (e *Entry) sameTTL(item attr.Item) bool {
	for name, v := range e.Was {
		if !attr.Equal(item[name], v) {
			return false
		}
	}
	return true
}

// revive makes an update, never sent, of an item that has come to the end of its TTL the create of the whole view.
func (e *Entry) revive(before Known, env Env) bool {
	spec := env.Spec(e.Table)
	if e.Policy != store.PolicyIntent || e.Txn != 0 || e.Ghost || e.Late || e.Moved && e.Proof || e.Op == store.OpDelete ||
		!expired(spec, before.Item, env.Now) || !e.holds(before.Item, env.Exprs) {
		return false
	}
	item, err := e.apply(before.Item, env.Exprs)
	if err != nil {
		return false
	}
	e.From = e.Life.ID
	e.Op, e.Item, e.Update, e.Condition, e.Params = store.OpPut, item, "", "", expr.Params{}
	e.Life = Life{}
	return true
}
