package intent

import "github.com/touchline/touchline/store/attr"

// Where the cloud has transactions, a single create is sent with its proof: a row in our own table that exists as soon as the create
// has applied, whatever happens to the item, and that refuses every later copy. A decision about the create first closes the proof,
// so that no copy can apply afterwards.

// handleProofReads handles the read of a create's proof and then of its item.
func (t *answering) handleProofReads() {
	if t.fails() {
		return
	}
	e, row, image := t.e, t.item(0), t.item(1)
	t.recordImage(image)
	e.step = stepSend
	switch {
	case row == nil:
		t.notMade(image)
	case !row[syncMark].Equal(e.Mark()): // from another history of this node
		t.o.Met[0] = image
		t.settleEntry(conflict(CodeLost, textLost))
	case row[syncMoved].Bool():
		t.goneOn(image)
	case row[syncClosed].Bool():
		e.Closed = true
		t.o.Met[0] = image
		t.settleEntry(t.closedFor())
	case e.Unsure || e.Sent > 1:
		t.o.Result = OutApplied
	default:
		t.o.Result, t.o.Alarm = OutTimeline, textTimeline
	}
}

// notMade handles a create of which nothing has applied, although a copy still may.
func (t *answering) notMade(image attr.Item) {
	_, side := Split(image)
	fence, ok := t.item(2)[lockFence].Int()
	switch {
	case side.Marks[t.env.Node].Equal(t.e.Mark()): // the table of the proofs has lost the row
		t.o.Result = OutApplied
	case t.e.overdue(t.env):
		t.closeFirst(conflict(CodeUnknown, textUnanswered), image)
	case image == nil && t.e.needsLock(t.env) && (!ok || fence != t.e.Fence):
		t.closeFirst(t.e.fencedOff(fence), image)
	default:
		t.decide(facts{image: image})
	}
}

// closedFor returns why a create was closed. This process may have forgotten it.
func (t *answering) closedFor() decision {
	switch {
	case t.e.met.decision.result != 0:
		return t.e.met.decision
	case t.e.overdue(t.env):
		return conflict(CodeUnknown, textUnanswered)
	}
	return conflict(CodeCondition, textCondition)
}

// goneOn handles a create that had moved to an existing life, which this process has forgotten. It was not sent there.
func (t *answering) goneOn(image attr.Item) {
	e := t.e
	item, side := Split(image)
	e.moveTo(side, item != nil)
	e.notExpired()
	e.Moved, e.Dead = true, true
	if item == nil {
		_, d := e.judgeEndedLife(facts{}, t.env)
		t.settleEntry(d)
	}
}

// rowWritten handles the answer to the row that records a deleted life or a moved create.
func (t *answering) rowWritten() {
	e := t.e
	if t.ans.Err != nil && t.ans.Err.Class == ConditionFailed && e.Moved && e.hasProof(t.env) {
		if row := t.ans.Err.Old; !row[syncClosed].Bool() || !row[syncMark].Equal(e.Mark()) { // a copy was faster
			e.Life, e.Unsure, e.step = Life{}, true, stepProof
			return
		}
	} else if t.fails() {
		return
	}
	e.Dead = true
}
