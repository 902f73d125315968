package intent

import (
	"strconv"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// handleReplayRead handles the read for a create settled before the instant the cloud was restored to. At that instant its item existed or
// had been deleted; if it is missing now, nothing shows which.
func (t *answering) handleReplayRead() {
	if t.fails() {
		return
	}
	e, image := t.e, t.item(0)
	t.recordImage(image)
	_, side := Split(image)
	switch {
	case side.Marks[t.env.Node].Equal(e.Mark()), side.Life == e.lifeID(t.env.Node), e.isKeptInRestored(side, t.env):
		t.o.Result = OutApplied
	case e.outdone(side, t.env):
		t.o.Met[0] = image
		t.settleEntry(conflict(CodeRestored, textRestored))
	default:
		t.o.Met[0] = image
		t.settleEntry(conflict(CodeRestored, textMissing))
	}
}

// isKeptInRestored reports whether a restored cloud still has a later write of ours, known by its mark. Then it has this entry too, because
// writes of one item are settled in order.
func (e *Entry) isKeptInRestored(side Sidecar, env Env) bool {
	there := side.Marks[env.Node]
	order, _ := attr.Compare(there, e.Mark())
	return there.Kind() == attr.KindN && order > 0 && env.Kept != nil && env.Kept(e.Table, e.Key, there)
}

// proofID returns the key of a transaction's proof. A transaction replayed to a restored cloud gets another key: the old proof may
// still exist, and proves nothing about the restored data.
func (e *Entry) proofID(env Env) string {
	id := TxnID(e.writeID(env.Node))
	if e.again != 0 {
		id += "~" + strconv.FormatInt(e.again, 10)
	}
	return id
}

// handleReplayRead judges the items of a transaction in a restored cloud: all of it is there, or nothing; otherwise nobody knows.
func (t *answeringAll) handleReplayRead(images []attr.Item) {
	there, none := 0, 0
	for i, e := range t.u.Entries {
		t.recordImage(i, images[i])
		item, side := Split(images[i])
		switch {
		case side.Marks[t.env.Node].Equal(e.Mark()), e.Op == store.OpDelete && item == nil, e.isKeptInRestored(side, t.env):
			there++
		case !e.outdone(side, t.env) && e.fits(item, side, t.env) && !(e.before && e.creates()):
			none++
		}
	}
	switch n := len(t.u.Entries); {
	case there == n:
		t.settleApplied(images)
	case none == n && t.lead.met.decision.result != 0: // a condition on another row, which would refuse it again
		t.act(ruling{v: verdictDecided, d: t.lead.met.decision})
	case none == n:
		t.lead.met.ready = true
	case t.env.Replaying && t.lacks(images):
		for _, e := range t.u.Entries {
			e.NotBefore, e.Why = t.env.Now.Add(replayPoll), WhyReplay
		}
		t.o.Result, t.o.After = OutParked, replayPoll
	case there > 0: // a person has to decide about the rest
		t.act(ruling{v: verdictDecided, d: conflict(CodeHalf, textHalf)})
	default:
		t.act(ruling{v: verdictDecided, d: conflict(CodeRestored, textNoTrace)})
	}
}

// lacks reports whether an item is absent that another node may create again.
func (t *answeringAll) lacks(images []attr.Item) bool {
	for i, e := range t.u.Entries {
		if images[i] == nil && !e.creates() && e.Op != store.OpDelete {
			return true
		}
	}
	return false
}
