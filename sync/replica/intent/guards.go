package intent

import (
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// judgeGuards decides what it means that only guards failed: the second table of DESIGN.md, one case per row.
func (e *Entry) judgeGuards(item attr.Item, side Sidecar, f facts, env Env) (verdict, decision) {
	switch {
	case e.ReplacesExpired:
		return e.judgeExpired(item, side, f, env)
	case e.Life.matches(item, side):
		return e.sameLife(item, side, f, env)
	case item == nil:
		return e.nothing(f, env)
	case e.Life.Kind == LifeNone:
		return e.onNone(item, side, f)
	case e.Life.Kind == LifeForeign && strings.HasPrefix(side.Life, foreignSign):
		return e.judgeLabelledLife(item, side, f)
	case foreign(side.Life):
		return e.overwritten(side, f)
	}
	return e.anotherLife(f, env)
}

// sameLife handles an image that shows the entry's life (for an entry on none: no item). The entry is sent again, based on that image.
// Within a life a mark disappears only after its entry settled, so no unanswered send has applied.
func (e *Entry) sameLife(item attr.Item, side Sidecar, f facts, env Env) (verdict, decision) {
	switch {
	case f.unsure && item != nil && e.Life.Kind == LifeForeign && e.Life.ID == "" && !e.isUnchangedIn(item):
		// This life has no label: a foreign Put may have removed our mark and kept our effect.
		return verdictDecided, conflict(CodeUnknown, textUnknown)
	case f.dead:
		return verdictDecided, supersededAs(CodeTombstone, textTombstone)
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

// nothing handles the absence of an item.
func (e *Entry) nothing(f facts, env Env) (verdict, decision) {
	switch {
	case e.Op == store.OpDelete && e.Txn == 0:
		return verdictApplied, decision{}
	case e.Op == store.OpDelete:
		e.moveTo(Sidecar{}, false)
		return verdictAgain, decision{}
	case e.Late && !f.dead && !e.replay && !f.unsure:
		// It was a create, and a copy of that could still create what we would call deleted: make it a create again.
		e.moveTo(Sidecar{}, false)
		e.Unsure = true
		return verdictAgain, decision{}
	case e.Late && !f.dead && !e.replay && e.Why != WhyHold:
		// It may have been applied to the item that is gone, so it is not created again. A late copy could still contradict
		// what is recorded now, so wait for as long as a copy may be on its way.
		e.NotBefore, e.Why = env.Now.Add(env.signedFor()), WhyHold
		return verdictPark, decision{}
	}
	return e.judgeEndedLife(f, env)
}

// replayPoll is how often an entry that waits for other nodes' replays is looked at.
const replayPoll = time.Minute

// onNone handles an existing item although the entry was journaled on none.
func (e *Entry) onNone(item attr.Item, side Sidecar, f facts) (verdict, decision) {
	switch {
	case e.Op == store.OpDelete && e.Txn == 0:
		return verdictApplied, decision{}
	case !f.unsure || e.removes(): // without an item it did nothing, whatever the answer was
		e.moveTo(side, true)
		return verdictAgain, decision{}
	case f.dead:
		return verdictDecided, supersededAs(CodeTombstone, textTombstone)
	case e.replay:
		// This was created since, or without our knowledge: it is the newer one.
		return verdictDecided, conflict(CodeRestored, textReplaced)
	case foreign(side.Life):
		// A foreign Put over our possible creation leaves no tombstone. If none of our effect is there, treat it as a foreign
		// life: send once more.
		if !e.isUnchangedIn(item) {
			return verdictDecided, conflict(CodeOverwritten, textOverwritten)
		}
	case !f.alive:
		return verdictAsk, decision{}
	}
	e.Late = true
	e.moveTo(side, true)
	return verdictAgain, decision{}
}

// judgeLabelledLife handles a foreign life with a label other than the one the entry knows.
func (e *Entry) judgeLabelledLife(item attr.Item, side Sidecar, f facts) (verdict, decision) {
	if f.unsure && !e.isUnchangedIn(item) {
		return verdictDecided, conflict(CodeUnknown, textUnknown)
	}
	e.moveTo(side, true)
	return verdictAgain, decision{}
}

// overwritten handles a foreign Put over a life that had a name.
func (e *Entry) overwritten(side Sidecar, f facts) (verdict, decision) {
	if f.unsure {
		return verdictDecided, conflict(CodeOverwritten, textOverwritten)
	}
	e.moveTo(side, true)
	return verdictAgain, decision{}
}

// anotherLife handles the end of the entry's life where one of our nodes has begun another.
func (e *Entry) anotherLife(f facts, env Env) (verdict, decision) {
	if e.Op != store.OpDelete {
		return e.judgeEndedLife(f, env)
	}
	if e.Txn != 0 {
		return verdictDecided, conflict(CodeDeleted, textDeleted)
	}
	return verdictApplied, decision{}
}

// isUnchangedIn reports whether everything the entry touches still has the values from before its first send.
func (e *Entry) isUnchangedIn(item attr.Item) bool {
	if e.Op != store.OpUpdate || e.Was == nil {
		return false
	}
	for text, held := range e.Was {
		was := attr.Value{}
		if list := held.List(); len(list) == 1 {
			was = list[0]
		}
		if !attr.Equal(was, expr.ParsePlace(text).ValueIn(item)) {
			return false
		}
	}
	return true
}

// moveTo moves the entry to the life that exists, or to none. On that life no send is unanswered; Late remembers that an earlier
// send may still arrive elsewhere.
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

// remember records what an update on a foreign life, or on none, will touch, before its first send.
func (e *Entry) remember(known Known, exprs *expr.Cache) {
	if e.Life.Kind == LifeOurs || e.Op != store.OpUpdate || e.ReplacesExpired || e.Unsure {
		return
	}
	e.Was = attr.Item{}
	b, err := e.bind(exprs)
	if err != nil {
		return
	}
	for _, p := range b.Update.Places() {
		held := attr.L()
		if v := p.ValueIn(known.Item); !v.IsZero() && e.Life.Kind != LifeNone {
			held = attr.L(v)
		}
		e.Was[p.String()] = held
	}
}

// judgeExpired handles a changed or missing item where the entry was to replace an item past its TTL.
func (e *Entry) judgeExpired(item attr.Item, side Sidecar, f facts, env Env) (verdict, decision) {
	switch {
	case f.dead:
		return verdictDecided, supersededAs(CodeTombstone, textTombstone)
	case item == nil:
		return verdictAgain, decision{}
	case !e.Life.matches(item, side):
		if v, d := e.onNone(item, side, f); v != verdictAgain {
			return v, d
		}
	case e.yield(side, env):
		return verdictPark, decision{}
	case e.sameTTL(item):
		return e.countRefused(env)
	default:
		e.Unsure, e.Moved, e.Dead = false, true, false // a copy could still create the item
	}
	e.notExpired()
	return verdictAgain, decision{}
}

// notExpired turns an entry with ReplacesExpired back into the requested write: the item got a new expiry and is an ordinary item again.
func (e *Entry) notExpired() {
	if !e.ReplacesExpired {
		return
	}
	e.ReplacesExpired, e.Was = false, nil
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

// revive turns an update of which no send is unanswered, of an item ended by its TTL, into a create of the whole view.
func (e *Entry) revive(before Known, env Env) bool {
	spec := env.Spec(e.Table)
	if e.Policy != store.PolicyIntent || e.Txn != 0 || e.ReplacesExpired || e.Late || e.Moved && e.Proof || e.Op == store.OpDelete ||
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
