package intent

import (
	"slices"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// isDiverged reports whether a batch that waited when a timeline of this node was lost exists in this timeline only and was never sent.
// Its sequences, and so its write id, may belong to other writes in the lost one.
func (u *Batch) isDiverged(env Env) bool {
	for _, e := range u.Entries {
		if !e.lost || e.Sent > 0 || e.Unsure || env.Fork == 0 || e.Earliest() <= env.Fork {
			return false
		}
	}
	return true
}

// MayBeProved reports whether a lost timeline may have sent this same transaction or create, and left its proof.
func (u *Batch) MayBeProved(env Env) bool {
	return (u.multi() || u.Entries[0].proves(env)) && u.Entries[0].lost && !u.isDiverged(env) && !slices.ContainsFunc(u.Entries, func(e *Entry) bool { return e.anothers(env) })
}

// renumber gives a batch new sequences without asking the cloud: nothing there concerns the old ones.
func (u *Batch) renumber() Action {
	o := u.outcome(OutRenumber)
	return Action{Kind: ActSettle, Outcome: &o}
}

// handleLostTimeline handles the read of the item for an entry of a lost timeline.
func (t *answering) handleLostTimeline() {
	if t.fails() {
		return
	}
	image := t.item(0)
	t.recordImage(image)
	item, side := Split(image)
	e := t.e
	there, row := side.Marks[t.env.Node], t.item(1)
	same := item != nil && e.Life.matches(item, side)
	switch {
	case there.Equal(e.Mark()), row[syncMark].Equal(e.Mark()) && !row[syncClosed].Bool():
		t.o.Result = OutApplied
	case e.onlyHere(t.env) && t.leavesNoTrace(there, row) && !(same && e.mustLeave(side, t.env)):
		t.o.Result = OutRenumber
	case there.Equal(e.closedMark()), e.settledThere(t.env), row != nil && !same:
		t.o.Met[0] = image
		t.settleEntry(conflict(CodeLost, textLost))
	case e.outdone(side, t.env) && !(same && (isAfterLoss(there, t.env) || there.Equal(e.leftMark(t.env)))), e.partly(there):
		t.o.Met[0] = image
		t.settleEntry(conflict(CodeLost, textLost))
	case same && e.mustLeave(side, t.env):
		e.step = stepLeave
	case same:
		t.o.Result = OutRenumber
	case e.Sent == 0 && !e.Unsure && t.env.Fork != 0 && e.Seq > t.env.Fork, e.anothers(t.env):
		// Part of it, or it under a new number, may have created what is gone, and its own number may belong to another write:
		// nobody can tell.
		t.o.Met[0] = image
		t.settleEntry(conflict(CodeLost, textLost))
	case e.Moved && !e.creates():
		e.lost = false // no row says that it was sent on this life
	default:
		e.lost, e.Unsure = false, true
		e.Sent = max(e.Sent, 1)
	}
}

// onlyHere reports whether this history alone has had an entry, as far as the node's row shows: it was written after the row's history had
// parted from ours, and the row was never written by a later state of ours. Such a state may have sent it within the minute before it
// ended, so the entry is looked for. Without a trace it was not sent, whatever marks the other history has left.
func (e *Entry) onlyHere(env Env) bool {
	return e.lost && e.Sent == 0 && !e.Unsure && env.Parted != 0 && e.Earliest() > env.Parted
}

// leavesNoTrace reports whether neither the item's mark nor the create's row is of the entry, or of one folded into it.
func (t *answering) leavesNoTrace(mark attr.Value, row attr.Item) bool {
	return !mark.Equal(t.e.closedMark()) && !t.e.partly(mark) && !row[syncMark].Equal(t.e.Mark())
}

// mustLeave reports whether another copy of this node could still apply the entry on its life, under its number there. A repeated
// delete does no harm, and on a life without a name a foreign Put removes every mark. If every copy that has the entry knows
// the number to be another write's, it is not set as a mark either.
func (e *Entry) mustLeave(side Sidecar, env Env) bool {
	order, _ := attr.Compare(side.Marks[env.Node], e.Mark())
	shut := side.Marks[env.Node].Kind() == attr.KindN && order > 0
	never := e.anothers(env) && env.Never != nil && env.Never(e.Seq)
	return !shut && !never && e.Op != store.OpDelete && e.Life.ID != ""
}

// handleClosedMark handles the answer to closing the old mark. If it was refused, a copy may have been faster: look for the entry again.
func (t *answering) handleClosedMark() {
	switch err := t.ans.Err; {
	case err == nil:
		t.recordImage(t.ans.Image)
		t.o.Result = OutRenumber
	case err.Class == ConditionFailed:
		t.recordImage(err.Old)
	default:
		if t.fails() {
			return
		}
	}
	t.e.step = stepSend
}

// anothers reports whether the number of an entry of a lost timeline may be another write's in the cloud. Then an earlier loss had
// given its number twice, and a copy that knew it sent it under a new number, if at all.
func (e *Entry) anothers(env Env) bool {
	return e.lost && e.Sent == 0 && !e.Unsure && env.Twice != nil && env.Twice(e.Seq)
}

// settledThere reports whether an entry of a lost timeline was settled there. A create is identified by the first write folded into
// it: the folds settle with it, and other nodes use that number to decide that no tombstone is needed.
func (e *Entry) settledThere(env Env) bool { return e.KnownBy() <= env.Lost }

// KnownBy returns the sequence by which other nodes know the entry: for a create, that of the life it begins. Once a node has settled
// everything up to it, the entry is settled.
func (e *Entry) KnownBy() uint64 {
	if e.creates() && e.Begun != 0 {
		return e.Begun
	}
	return e.Seq
}

// Earliest returns the first sequence that the entry stands for. It orders the entries of an item as they were written: a renumbered
// entry has a greater number than later ones that were not looked for yet.
func (e *Entry) Earliest() uint64 {
	first := e.Seq
	for _, seq := range e.Folds {
		first = min(first, seq)
	}
	return first
}

// partly reports whether a mark of ours belongs to an entry folded into this one. Here that entry was never sent by
// itself, so another timeline has sent it.
func (e *Entry) partly(mark attr.Value) bool {
	return mark.Kind() == attr.KindN && slices.Contains(e.Folds, Whole(mark))
}

// outdone reports whether an item carries a mark of ours greater than the entry's own, open or closed.
func (e *Entry) outdone(side Sidecar, env Env) bool {
	there := side.Marks[env.Node]
	order, _ := attr.Compare(there, e.closedMark())
	return there.Kind() == attr.KindN && order > 0
}

// isAfterLoss reports whether a mark of ours was made after the timeline was lost. Anything journaled before on that life had had
// no effect there by then, and can have none since.
func isAfterLoss(mark attr.Value, env Env) bool {
	return env.FirstRenumbered != 0 && Whole(mark) >= env.FirstRenumbered
}

// onlyHere is onlyHere of all entries of a batch.
func (u *Batch) onlyHere(env Env) bool {
	return !slices.ContainsFunc(u.Entries, func(e *Entry) bool { return !e.onlyHere(env) })
}

// onlyHere handles the read for a transaction that this history alone has had, as far as is known. A proof without a mark may be another
// write's.
func (t *answeringAll) onlyHere(proof attr.Item, images []attr.Item) {
	if t.isMarked(images) {
		t.settleApplied(images)
		return
	}
	for i := range t.u.Entries {
		t.recordImage(i, images[i])
	}
	if proof != nil {
		t.settleEntries(conflict(CodeLost, textLost))
		return
	}
	t.o.Result = OutRenumber
}

// handleLostTimeline handles the read for a transaction whose number an earlier loss gave twice. The row under its number is another write's proof; only its exact
// mark is its own. It was not sent if that timeline did not report it settled, every item is still on its life, and no item has
// a greater mark.
func (t *answeringAll) handleLostTimeline(images []attr.Item) {
	if t.isMarked(images) {
		t.settleApplied(images)
		return
	}
	t.o.Result = OutRenumber
	settled := t.lead.settledThere(t.env) // under any number; others may have removed its mark since
	for i, e := range t.u.Entries {
		t.recordImage(i, images[i])
		item, side := Split(images[i])
		if settled || item == nil || !e.Life.matches(item, side) || e.outdone(side, t.env) && !isAfterLoss(side.Marks[t.env.Node], t.env) {
			t.settleEntries(conflict(CodeLost, textLost))
		}
	}
}
