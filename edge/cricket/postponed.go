package cricket

import (
	"slices"
	"time"
)

// KeepPostponed is how long the followers of a match that is postponed or cancelled are kept while the feed gives it no other time.
const KeepPostponed = 30 * 24 * time.Hour

// register sets the match's status: idle before play, live once it has begun, postponed while it waits for another time, ended
// if it will not be played.
func (st *State) register(prev *State, s *Snapshot, now time.Time) {
	switch {
	case st.Status == ActiveEnded && !prev.reopens(st.MatchPhase):
	case st.PreviousStatus.NotPlayed():
		if st.Seen.Has(putOffKey(st.PreviousStatus.word(), st.PutOff)) {
			st.postpone(s.StartsAt, now)
		}
	default:
		st.takeUp(s.StartsAt)
		st.begin(s, now)
	}
}

// begin sets the status of a match that is to be played or is played.
func (st *State) begin(s *Snapshot, now time.Time) {
	switch waits := st.MatchPhase == PhasePrematch || st.MatchPhase == PhasePostponed || st.MatchPhase == ""; {
	case !waits:
		st.Status = ActiveLive
	case len(s.Innings) == 0 && !s.StartsAt.IsZero() && now.Sub(s.StartsAt) > idleLife:
		st.end(now)
	default:
		st.Status = ActiveIdle
	}
}

// postpone records that a match is told as postponed or cancelled. It keeps everything, because a match may continue on a reserve day.
func (st *State) postpone(start, now time.Time) {
	if st.Status == ActivePostponed {
		return
	}
	st.Status, st.PutOffAt = ActivePostponed, start
	st.TTL = now.Add(KeepPostponed).Unix()
}

// TakeUp makes a match that waits for another time one that is about to start; false if it does not wait.
func (st *State) TakeUp(start, now time.Time) bool {
	if st.Status != ActivePostponed && !st.IsUndecided() {
		return false
	}
	st.takeUp(start)
	st.Status, st.LastTickAt = ActiveIdle, now
	if len(st.PreviousScore) == 0 {
		st.MatchPhase = PhasePrematch
	}
	return true
}

// takeUp makes a match that was postponed, cancelled or ended without a decision one that is on again. Putting off another start is
// news again, putting off the same one is not: feeds waver.
func (st *State) takeUp(start time.Time) {
	if st.Status != ActivePostponed && st.Status != ActiveEnded {
		return
	}
	if st.Status == ActivePostponed && !start.Equal(st.PutOffAt) {
		st.PutOff++
	}
	if st.MatchPhase == PhaseAbandoned {
		st.MatchPhase = PhasePostponed // it was cancelled with a score, and is not played yet
	}
	st.TTL, st.FinishedAt, st.Result = 0, time.Time{}, ""
}

// reopens reports whether a match that has ended is played after all: one that was abandoned, and continues on a reserve day, or that
// had not begun.
func (st *State) reopens(phase Phase) bool { return st.IsUndecided() && phase == PhaseLive }

// UndecidedPhases are the phases in which a match ends without a decision.
func UndecidedPhases() []Phase { return []Phase{PhasePrematch, PhasePostponed, PhaseAbandoned} }

// IsUndecided reports whether a match has ended without a decision, so that it may still be played.
func (st *State) IsUndecided() bool {
	return st.Status == ActiveEnded && slices.Contains(UndecidedPhases(), st.MatchPhase)
}

func (st *State) end(now time.Time) {
	st.Status = ActiveEnded
	st.TTL = now.Add(KeepEnded).Unix()
}
