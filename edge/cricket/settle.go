package cricket

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// verdict is how well the scores support the feed's result of a finished match.
type verdict int

const (
	verdictOpen  verdict = iota // undecided: no winner is named, or one that has not won by the scores yet
	verdictWrong                // by the scores the other side has won: feeds have named the wrong winner
	verdictSound
)

// openSubject is the subject of a result that was announced without a winner.
const openSubject = "open"

// verdict decides whether a result may be announced.
func (s *Snapshot) verdict() verdict {
	if s.Winner == 0 {
		if s.NoResult != "" || s.level() && !s.isAbandoned() && (!s.hasSuperOvers() || s.saysTied()) {
			return verdictSound
		}
		return verdictOpen
	}
	in := s.current()
	switch {
	case in == nil || s.noteHas("award", "conced", "forfeit"):
		return verdictSound // score lines do not decide this: a side gave up
	case !s.MultiDay() && s.RevTarget > 0 && in.No == 2:
		return s.revisedVerdict(in)
	case s.RevTarget == 0 && s.noteHas("dls", "d/l", "vjd", "duckworth"):
		return verdictSound // decided by the tables of the rain rule, whose number the feed does not give
	case s.MultiDay():
		return s.multiDayVerdict(in)
	case s.Target(in) == 0:
		return verdictOpen
	default:
		return s.chaseVerdict(in, s.Target(in))
	}
}

// hasSuperOvers reports whether a tie in this format is usually decided by a super over: "tied" alone may be the feed's haste.
func (s *Snapshot) hasSuperOvers() bool {
	const longest = 20
	in := s.current()
	return !s.MultiDay() && s.Overs <= longest && in != nil && !s.IsSuperOver(in.No)
}

// noteHas reports whether the feed's note contains one of the words.
func (s *Snapshot) noteHas(words ...string) bool {
	note := strings.ToLower(s.Note)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(note, w) })
}

// revisedVerdict checks a winner against the feed's revised target. If rain ended the chase, only the rule's
// tables, and so the note, tell who was ahead: the revised overs may then be those that were bowled.
func (s *Snapshot) revisedVerdict(in *Innings) verdict {
	cause, batting := s.CauseOfEnd(in), s.Winner == in.TeamID
	switch {
	case in.Runs >= s.RevTarget || cause != CauseNone && cause != CauseOvers:
		return s.chaseVerdict(in, s.RevTarget)
	case s.noteNames(s.opponentOf(s.Winner)):
		return verdictWrong
	case cause == CauseNone, batting && s.noteNames(s.Winner):
		return verdictSound
	default:
		return s.chaseVerdict(in, s.RevTarget)
	}
}

// noteNames reports whether the note names a side as the winner.
func (s *Snapshot) noteNames(team int64) bool {
	name := s.Team(team).Name
	return name != "" && s.noteHas(strings.ToLower(name)+" won")
}

// chaseVerdict checks a winner against a target. The note has to name what decided a tie: a winner without that
// may be a mistake, and is worth the wait.
func (s *Snapshot) chaseVerdict(in *Innings, target int) verdict {
	switch batting := s.Winner == in.TeamID; {
	case in.Runs == target-1:
		if s.noteHas("tie", "super", "bound", "bowl", "count") {
			return verdictSound
		}
		return verdictOpen
	case (in.Runs >= target) != batting:
		return verdictWrong
	case !batting && s.CauseOfEnd(in) == CauseNone: // the chase is still on
		return verdictOpen
	case s.Note != "" && !s.marginFits(in, target):
		return verdictOpen
	default:
		return verdictSound
	}
}

// marginFits reports whether a margin in runs given in the note agrees with the scores.
func (s *Snapshot) marginFits(in *Innings, target int) bool {
	var runs int
	_, by, found := strings.Cut(strings.ToLower(s.Note), " won by ")
	if n, err := fmt.Sscanf(by, "%d run", &runs); !found || err != nil || n != 1 || s.MultiDay() {
		return true
	}
	return in.Runs < target && runs == target-1-in.Runs && !s.IsSuperOver(in.No)
}

func (s *Snapshot) multiDayVerdict(in *Innings) verdict {
	switch {
	case in.No >= 4 && s.Target(in) > 0:
		return s.chaseVerdict(in, s.Target(in))
	case in.No == 3 && in.Wickets >= s.maxWickets(in) && s.lead(in) < 0: // won by an innings
		if s.Winner == in.TeamID {
			return verdictWrong
		}
		return verdictSound
	default:
		return verdictOpen
	}
}

// isSettled reports whether the scores support the result.
func (s *Snapshot) isSettled() bool { return s.verdict() == verdictSound }

// believable reports whether a candidate may be announced. A result waits until the scores support it, but not forever; a milestone that
// only a row shows waits for longer than most wrong rows last.
func (r *round) believable(c *Candidate, p Pending) bool {
	if c.Key != resultKey && !(c.Type == EventCorrection && c.Detail == resultKey) {
		return !r.onlyRow(c) || r.now.UnixMilli()-p.Since >= rowHold.Milliseconds()
	}
	wait := resultWait
	switch {
	case c.Type == EventCorrection && c.Instead == "":
		return true // play continues
	case c.Detail == detailTarget:
		wait = targetHold
	case r.snap.isSettled():
		return true
	case r.snap.isAbandoned():
		wait = abandonWait
	case r.snap.Winner == 0 && r.snap.level() && r.snap.hasSuperOvers():
		wait = tieWait
	}
	return r.now.UnixMilli()-p.Since >= wait.Milliseconds()
}

// onlyRow reports whether only rows show a milestone: no ball will correct it.
func (r *round) onlyRow(c *Candidate) bool {
	family, _ := splitKey(c.Key)
	return family == familyMilestone && r.snap.NoBalls && len(r.snap.Balls) == 0
}

// nameWinner removes the winner from a result that had to be announced although the scores disagree with it or nobody is named.
func (s *Snapshot) nameWinner(c *Candidate) {
	if c.Type == EventResult && c.Detail != detailTarget && (s.Winner == 0 || s.verdict() == verdictWrong) {
		c.Text, c.Subject = s.scoresText(), openSubject
	}
}

// follow keeps the text of an announced result up to date, because feeds reword it. A match whose result came
// from the score is finished once the feed says so. known are the keys recorded by now.
func (st *State) follow(all []Candidate, s *Snapshot, known keySet, now time.Time) {
	i := slices.IndexFunc(all, func(c Candidate) bool { return c.Key == resultKey })
	phase := s.phase()
	told := i >= 0 && known.has(resultKey)
	if i < 0 && st.FinishedAt.IsZero() {
		st.Result = ""
	}
	if told && st.FinishedAt.IsZero() && (phase == PhaseCompleted || phase == PhaseAbandoned) {
		st.FinishedAt = now // the score announced it before the feed did
	}
	if told && s.isSettled() {
		st.Result = all[i].Text
	}
}

// finish notes when a result is confirmed or withdrawn, and ends the match once its result has stood for keepOpen.
func (st *State) finish(events []Event, now time.Time) {
	for i := range events {
		switch e := &events[i]; {
		case e.Key == resultKey:
			st.Result = e.Text
			if e.Detail != detailTarget {
				st.FinishedAt = now
			}
		case e.Type == EventCorrection && e.Detail == resultKey && e.Instead != "":
			st.Result = e.Instead
		case e.Type == EventCorrection && e.Detail == resultKey && !st.Seen.Has(resultKey):
			st.FinishedAt, st.Result = time.Time{}, ""
		}
	}
	if st.FinishedAt.IsZero() || st.Status != ActiveLive {
		return
	}
	if latest := now.Add(lastCall - keepOpen); st.owes() && st.FinishedAt.Before(latest) {
		st.FinishedAt = latest
	}
	if now.Sub(st.FinishedAt) >= keepOpen {
		st.end(now)
	}
}

// owes reports whether a correction, or an event true again after one, is still held. The match ends only after it is announced.
func (st *State) owes() bool {
	withdrawn := st.Announced.withdrawnKeys()
	return slices.ContainsFunc(st.Pending, func(p Pending) bool {
		return strings.HasPrefix(p.Key, correctionPrefix) || withdrawn[p.Key] ||
			withdrawn[targetFact] && strings.HasPrefix(p.Key, revisedPrefix)
	})
}
