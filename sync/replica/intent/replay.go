package intent

import (
	"strconv"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// replayed has looked for a create that was settled before the instant that the cloud was restored to. What it made was
// there then, or had been deleted: if it is not there now, nobody knows but that it once was.
func (t *taking) replayed() {
	if t.fails() {
		return
	}
	e, image := t.e, t.item(0)
	t.sees(image)
	_, side := Split(image)
	switch {
	case side.Marks[t.env.Node].Equal(e.Mark()), side.Life == e.lifeID(t.env.Node), e.kept(side, t.env):
		t.o.Result = OutApplied
	case e.outdone(side, t.env):
		t.o.Met[0] = image
		t.settle(conflict(CodeRestored, textRestored))
	default:
		t.o.Met[0] = image
		t.settle(conflict(CodeRestored, textMissing))
	}
}

// kept reports whether a restored cloud has a later write of ours, known by its mark, as the original table had it, and
// so this entry too: of one item nothing is sent before what was written earlier is settled.
func (e *Entry) kept(side Sidecar, env Env) bool {
	there := side.Marks[env.Node]
	order, _ := attr.Compare(there, e.Mark())
	return there.Kind() == attr.KindN && order > 0 && env.Kept != nil && env.Kept(e.Table, e.Key, there)
}

// proofID is the key of the proof of a transaction. One that is sent again to a cloud that was restored has another one:
// the old one may still be there, and proves nothing about what was restored.
func (e *Entry) proofID(env Env) string {
	id := TxnID(e.writeID(env.Node))
	if e.again != 0 {
		id += "~" + strconv.FormatInt(e.again, 10)
	}
	return id
}

// replayed judges the items of a transaction in a cloud that was restored: all of it is there, or nothing, else nobody
// knows.
func (t *takingAll) replayed(images []attr.Item) {
	there, none := 0, 0
	for i, e := range t.u.Entries {
		t.sees(i, images[i])
		item, side := Split(images[i])
		switch {
		case side.Marks[t.env.Node].Equal(e.Mark()), e.Op == store.OpDelete && item == nil, e.kept(side, t.env):
			there++
		case !e.outdone(side, t.env) && e.fits(item, side, t.env) && !(e.before && e.creates()):
			none++
		}
	}
	switch n := len(t.u.Entries); {
	case there == n:
		t.applied(images)
	case none == n && t.lead.met.decision.result != 0: // a condition on another row: sent again it would be refused again
		t.act(ruling{v: verdictDecided, d: t.lead.met.decision})
	case none == n:
		t.lead.met.ready = true
	case t.env.Replaying && t.lacks(images):
		for _, e := range t.u.Entries {
			e.NotBefore, e.Why = t.env.Now.Add(replayPoll), WhyReplay
		}
		t.o.Result, t.o.After = OutParked, replayPoll
	case there > 0: // somebody has to say what becomes of the rest
		t.act(ruling{v: verdictDecided, d: conflict(CodeHalf, textHalf)})
	default:
		t.act(ruling{v: verdictDecided, d: conflict(CodeRestored, textNoTrace)})
	}
}

// lacks reports whether an item is absent that another node may yet make again.
func (t *takingAll) lacks(images []attr.Item) bool {
	for i, e := range t.u.Entries {
		if images[i] == nil && !e.creates() && e.Op != store.OpDelete {
			return true
		}
	}
	return false
}
