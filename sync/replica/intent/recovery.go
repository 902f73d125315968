package intent

import "time"

// Recovery is what is known of an entry since its node or its cloud was restored to an earlier state. Other packages use the
// methods instead of the fields.
//
//	a snapshot of the machine is restored    -> waiting entries are lost: look first for what another run may have sent
//	the cloud's table is restored to 12:00   -> entries settled since are put back, looked for, and sent again if missing
type Recovery struct {
	lost   bool  // from an older timeline of this node: look for it before sending
	replay bool  // settled before the cloud was restored: verify it
	before bool  // with replay: settled before the instant the cloud was restored to
	again  int64 // with replay: when the restore was noticed, epoch ms; it gives the entry a new proof
}

// Verifying reports whether the entry is being verified in a restored table: looked for, and sent again if missing.
func (e *Entry) Verifying() bool { return e.replay }

// VerifyingBefore reports whether a verified entry was settled before the instant the table was restored to. If the table shows
// it, the table also shows what was written before it.
func (e *Entry) VerifyingBefore() bool { return e.replay && e.before }

// MaybeSentByOtherRun reports whether another run of this node may have sent the entry.
func (e *Entry) MaybeSentByOtherRun() bool { return e.lost }

// Verify marks a settled or unanswered entry for verification in a restored table. before says that it was settled before the
// instant the table was restored to; noticed is when the node noticed the restore.
func (e *Entry) Verify(before bool, noticed time.Time) {
	e.replay, e.Unsure, e.Sent = true, true, max(e.Sent, 1)
	e.before, e.again = before, noticed.UnixMilli()
	e.NotBefore, e.Why, e.Held, e.Closed, e.Dead = time.Time{}, "", HoldNone, false, false
}

// NoticedAt reports whether the entry is verified because of the restore noticed at that instant.
func (e *Entry) NoticedAt(at time.Time) bool { return at.UnixMilli() == e.again }

// MarkLost marks the entry as one that another run of this node may have sent, so that it is looked for.
func (e *Entry) MarkLost() { e.lost = true }

// FlaggedSince reports whether the stored entry is verified because of a restore that the entry in hand does not know of.
func (e *Entry) FlaggedSince(inHand *Entry) bool { return e.replay && e.again != inHand.again }

// TakeReplay copies the verification flags of the stored entry. The cloud may have lost the entry's closed mark and tombstone.
func (e *Entry) TakeReplay(stored *Entry) {
	e.replay, e.Unsure, e.before, e.again = true, true, stored.before, stored.again
	e.Closed, e.Dead = false, false
}

// IsUntouched reports whether the entry was never sent or looked for and is not held. Only then may another entry be folded into it.
func (e *Entry) IsUntouched() bool {
	return e.Sent == 0 && !e.Unsure && e.Held == HoldNone && !e.lost && !e.replay
}

// WithNewNumber returns the entry under a new number above all that its node has used. The old number becomes a fold.
func (e *Entry) WithNewNumber(seq uint64, digits uint32) *Entry {
	moved := *e
	moved.Seq, moved.Digits, moved.Begun, moved.lost = seq, digits, 0, false
	moved.Folds = append(append([]uint64(nil), e.Folds...), e.Seq)
	return &moved
}
