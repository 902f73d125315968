package intent

import "time"

// Recovery is what is known of an entry since its node or its cloud was put back to an earlier state. Nobody outside this package
// reads it: who sends, settles or adopts asks the methods.
//
//	a snapshot of the machine is restored    -> entries that wait are lost: what another run may have sent is looked for first
//	the cloud's table is restored to 12:00   -> what was settled since is put back, and made sure of
type Recovery struct {
	lost   bool  // of an older timeline of this node: it is looked for before it is sent
	replay bool  // it was settled before the cloud was restored, and is made sure of
	before bool  // of Replay: it was settled before the instant that the cloud was restored to
	again  int64 // of Replay: when that was noticed, epoch ms: its proof is another one than the one it had before
}

// MakesSure reports whether the entry is looked for in a restored table, and sent again where it is not there.
func (e *Entry) MakesSure() bool { return e.replay }

// MakesSureOfBefore reports whether it was settled before the instant that the table was restored to: a restored table that shows
// it shows what was written before it.
func (e *Entry) MakesSureOfBefore() bool { return e.replay && e.before }

// LooksForOtherRun reports whether another run of its node may have sent the entry.
func (e *Entry) LooksForOtherRun() bool { return e.lost }

// MakeSure has a settled or unanswered entry be looked for in a restored table. before: it was settled before the instant that the
// table was restored to; noticed is when the node noticed.
func (e *Entry) MakeSure(before bool, noticed time.Time) {
	e.replay, e.Unsure, e.Sent = true, true, max(e.Sent, 1)
	e.before, e.again = before, noticed.UnixMilli()
	e.NotBefore, e.Why, e.Held, e.Closed, e.Dead = time.Time{}, "", HoldNone, false, false
}

// NoticedAt reports whether a restore that was noticed then is why the entry is made sure of.
func (e *Entry) NoticedAt(at time.Time) bool { return at.UnixMilli() == e.again }

// MarkLost has the entry be looked for: what another run of its node may have sent.
func (e *Entry) MarkLost() { e.lost = true }

// FlaggedSince reports whether the stored form of an entry is made sure of for another restore than the entry in hand.
func (e *Entry) FlaggedSince(inHand *Entry) bool { return e.replay && e.again != inHand.again }

// TakeReplay takes from the stored form of an entry that it is made sure of. The cloud may have lost its closed mark and tombstone.
func (e *Entry) TakeReplay(stored *Entry) {
	e.replay, e.Unsure, e.before, e.again = true, true, stored.before, stored.again
	e.Closed, e.Dead = false, false
}

// Untouched reports whether no byte of the entry has been sent or looked for, and nobody holds it: only then may something be
// folded into it.
func (e *Entry) Untouched() bool {
	return e.Sent == 0 && !e.Unsure && e.Held == HoldNone && !e.lost && !e.replay
}

// Renumbered returns the entry under another number, above all that its node has used: the old one is found as a fold.
func (e *Entry) Renumbered(seq uint64, digits uint32) *Entry {
	moved := *e
	moved.Seq, moved.Digits, moved.Begun, moved.lost = seq, digits, 0, false
	moved.Folds = append(append([]uint64(nil), e.Folds...), e.Seq)
	return &moved
}
