package intent

import "github.com/touchline/touchline/store/attr"

// handleLabel handles the answer to labelling a foreign life.
func (t *answering) handleLabel() {
	err := t.ans.Err
	if err == nil {
		t.recordImage(t.ans.Image)
		t.e.Label = t.ans.Image[AttrLife].Str()
		t.e.Life.ID = t.e.Label
		return
	}
	switch err.Class {
	case ConditionFailed:
		t.recordImage(err.Old)
		if label := err.Old[AttrLife].Str(); t.e.labels(label, t.env.Node) { // an earlier answer was lost
			t.e.Label, t.e.Life.ID = label, label
			return
		}
		t.decide(facts{image: err.Old, unsure: t.e.Unsure})
	case Validation:
		t.e.step = stepValidate
	default:
		t.fails()
	}
}

// handleLockRead handles the read of a first image's lock, where there are no transactions.
func (t *answering) handleLockRead(lock attr.Item) {
	if t.fails() {
		return
	}
	fence, ok := lock[lockFence].Int()
	if !ok || fence != t.e.Fence {
		t.settleEntry(t.e.fencedOff(fence))
		return
	}
	t.e.met.ready = true
}

// alive handles the reads for an unanswered create: its item, its tombstone, its lock.
func (t *answering) alive() {
	if t.fails() {
		return
	}
	t.recordImage(t.item(0))
	t.e.step = stepSend
	f := facts{image: t.item(0), unsure: t.e.Unsure, dead: t.item(1) != nil}
	f.alive = !f.dead
	item, side := Split(f.image)
	free := item == nil || t.e.ReplacesExpired && t.e.Life.matches(item, side) && t.e.sameTTL(item) // whether the entry can create its item
	if len(t.a.Reads) > 2 {
		if fence, ok := t.item(2)[lockFence].Int(); free && (!ok || fence != t.e.Fence) {
			t.closeFirst(t.e.fencedOff(fence), f.image)
			return
		}
	}
	if f.image != nil && side.Marks[t.env.Node].Equal(t.e.Mark()) {
		t.proven(f.image)
		return
	}
	switch {
	case t.e.overdue(t.env) && !f.dead:
		t.closeFirst(conflict(CodeUnknown, textUnanswered), f.image)
	case free && !f.dead: // nothing speaks against sending it again
		t.e.met.ready = true
	default:
		t.decide(f)
	}
}

// handleInvalid handles the item of an invalid request: either the request or the item is the cause.
func (t *answering) handleInvalid() {
	if t.fails() {
		return
	}
	image := t.item(0)
	t.recordImage(image)
	t.e.step = stepSend
	item, side := Split(image)
	_, err := t.e.apply(item, t.env.Exprs)
	switch {
	case !t.e.Life.matches(item, side) && !t.e.ReplacesExpired:
		t.decide(facts{image: image, unsure: t.e.Unsure})
	case !t.e.holds(item, t.env.Exprs):
		t.closeFirst(conflict(CodeCondition, textCondition), image)
	case err != nil:
		t.closeFirst(conflict(CodeUnfit, textUnfit), image)
	case !t.e.met.again: // it fits the item now, but perhaps did not before
		t.e.met.again = true
	default:
		t.poison(CodeInvalid, textInvalid)
	}
}

// handleMarkClosed handles the answer to closing the mark.
func (t *answering) handleMarkClosed() {
	e := t.e
	if t.ans.Err == nil {
		if !e.proves(t.env) {
			t.recordImage(t.ans.Image)
		}
		t.o.Met[0] = e.met.image
		e.Closed = true
		t.settleEntry(e.met.decision)
		return
	}
	if t.ans.Err.Class != ConditionFailed {
		t.fails()
		return
	}
	if e.proves(t.env) {
		e.step = stepProof
		return
	}
	old := t.ans.Err.Old
	t.recordImage(old)
	_, side := Split(old)
	e.step = stepSend
	switch there := side.Marks[t.env.Node]; {
	case there.Equal(e.Mark()):
		t.proven(old)
	case there.Equal(e.closedMark()):
		t.o.Met[0] = e.met.image
		e.Closed = true
		t.settleEntry(e.met.decision)
	default: // the item has changed again: decide anew
		t.decide(facts{image: old, unsure: e.Unsure})
	}
}
