package intent

import (
	"slices"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// parted reports whether a batch that waited when a timeline of this node was lost is of this one alone and was never
// sent: its sequences, and with them its write id, may be those of other writes there.
func (u *Batch) parted(env Env) bool {
	for _, e := range u.Entries {
		if !e.lost || e.Sent > 0 || e.Unsure || env.Fork == 0 || e.Earliest() <= env.Fork {
			return false
		}
	}
	return true
}

// MayBeProved reports whether a lost timeline may have sent a transaction, or a create, as it is here, and had its proof.
func (u *Batch) MayBeProved(env Env) bool {
	return (u.multi() || u.Entries[0].proves(env)) && u.Entries[0].lost && !u.parted(env) && !slices.ContainsFunc(u.Entries, func(e *Entry) bool { return e.anothers(env) })
}

// renumber has a batch be sent under new sequences, without a question: nothing that the cloud has is about the old ones.
func (u *Batch) renumber() Action {
	o := u.outcome(OutRenumber)
	return Action{Kind: ActSettle, Outcome: &o}
}

// lost has looked for an entry of a lost timeline.
func (t *taking) lost() {
	if t.fails() {
		return
	}
	image := t.item(0)
	t.sees(image)
	item, side := Split(image)
	e := t.e
	there, row := side.Marks[t.env.Node], t.item(1)
	same := item != nil && e.Life.on(item, side)
	switch {
	case there.Equal(e.Mark()), row[syncMark].Equal(e.Mark()) && !row[syncClosed].Bool():
		t.o.Result = OutApplied
	case there.Equal(e.closedMark()), e.settledThere(t.env), row != nil && !same:
		t.o.Met[0] = image
		t.settle(conflict(CodeLost, textLost))
	case e.outdone(side, t.env) && !(same && (renumbered(there, t.env) || there.Equal(e.leftMark(t.env)))), e.partly(there):
		t.o.Met[0] = image
		t.settle(conflict(CodeLost, textLost))
	case same && e.mustLeave(side, t.env):
		e.step = stepLeave
	case same:
		t.o.Result = OutRenumber
	case e.Sent == 0 && !e.Unsure && t.env.Fork != 0 && e.Seq > t.env.Fork, e.anothers(t.env):
		// A part of it, or it under a new number, may have made there what is gone, and its own number may be another's: nothing
		// can tell.
		t.o.Met[0] = image
		t.settle(conflict(CodeLost, textLost))
	case e.Moved && !e.creates():
		e.lost = false // no row tells that it was sent on this life
	default:
		e.lost, e.Unsure = false, true
		e.Sent = max(e.Sent, 1)
	}
}

// mustLeave reports whether another copy of this node could still have the entry apply on its life, under the number that
// it has there. A delete does no harm twice, and on a life without a name a foreign Put takes every mark away. A number
// that all who have the entry know to be another write's is not set as a mark either.
func (e *Entry) mustLeave(side Sidecar, env Env) bool {
	order, _ := attr.Compare(side.Marks[env.Node], e.Mark())
	shut := side.Marks[env.Node].Kind() == attr.KindN && order > 0
	never := e.anothers(env) && env.Never != nil && env.Never(e.Seq)
	return !shut && !never && e.Op != store.OpDelete && e.Life.ID != ""
}

// left is the answer to closing the old mark. Where it was refused a copy may have been faster: the entry is looked for anew.
func (t *taking) left() {
	switch err := t.ans.Err; {
	case err == nil:
		t.sees(t.ans.Image)
		t.o.Result = OutRenumber
	case err.Class == ConditionFailed:
		t.sees(err.Old)
	default:
		if t.fails() {
			return
		}
	}
	t.e.step = stepSend
}

// anothers reports whether the number of an entry of a lost timeline may be another write's in the cloud: an earlier
// loss had parted it, and whoever knew of that has sent it under a new number, if at all.
func (e *Entry) anothers(env Env) bool {
	return e.lost && e.Sent == 0 && !e.Unsure && env.Twice != nil && env.Twice(e.Seq)
}

// settledThere reports whether an entry of a lost timeline was settled there. A create is known by the first of the writes
// that it stands for: they are settled with it, and by that one's number the others know that no tombstone is needed.
func (e *Entry) settledThere(env Env) bool { return e.KnownBy() <= env.Lost }

// KnownBy returns the sequence by which others know the entry: of a create that of the life which it begins. When a node
// has settled all up to it, the entry is settled.
func (e *Entry) KnownBy() uint64 {
	if e.creates() && e.Begun != 0 {
		return e.Begun
	}
	return e.Seq
}

// Earliest returns the first of the sequences that the entry stands for. By it the entries of an item stand in the order
// in which they were written: a renumbered one has a greater number than what is behind it and is not looked for yet.
func (e *Entry) Earliest() uint64 {
	first := e.Seq
	for _, seq := range e.Folds {
		first = min(first, seq)
	}
	return first
}

// partly reports whether a mark of ours is of an entry that was folded into this one: here that was never sent, so
// another timeline has sent it by itself.
func (e *Entry) partly(mark attr.Value) bool {
	return mark.Kind() == attr.KindN && slices.Contains(e.Folds, Whole(mark))
}

// outdone reports whether an item carries a greater mark of ours than the entry's, closed or not.
func (e *Entry) outdone(side Sidecar, env Env) bool {
	there := side.Marks[env.Node]
	order, _ := attr.Compare(there, e.closedMark())
	return there.Kind() == attr.KindN && order > 0
}

// renumbered reports whether a mark of ours was made since the timeline was lost. What was journaled before it on that
// life had no effect there until then, and can have none since.
func renumbered(mark attr.Value, env Env) bool {
	return env.FirstRenumbered != 0 && Whole(mark) >= env.FirstRenumbered
}

// lost has looked for a transaction that was parted by an earlier loss: a row under its number is another's proof, its exact
// mark is its own. It was not sent where that timeline has not told that it is settled, each item is still on its life, and none
// has a mark that is greater.
func (t *takingAll) lost(images []attr.Item) {
	if t.marked(images) {
		t.applied(images)
		return
	}
	t.o.Result = OutRenumber
	settled := t.lead.settledThere(t.env) // under whatever number, and others have taken the mark of that away since
	for i, e := range t.u.Entries {
		t.sees(i, images[i])
		item, side := Split(images[i])
		if settled || item == nil || !e.Life.on(item, side) || e.outdone(side, t.env) && !renumbered(side.Marks[t.env.Node], t.env) {
			t.settle(conflict(CodeLost, textLost))
		}
	}
}
