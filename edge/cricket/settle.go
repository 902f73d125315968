package cricket

import (
	"strings"
	"time"
)

// verdict is how well the scores bear out what the feed says of a match that is over.
type verdict int

const (
	verdictOpen  verdict = iota // they leave it open: nobody is named, or a side that has not won on the scores yet
	verdictWrong                // they say that the other side has won: feeds have named the wrong winner
	verdictSound
)

// openSubject is the subject of a result that was told without a winner.
const openSubject = "open"

// verdict is the gate of a result.
func (s *Snapshot) verdict() verdict {
	if s.Winner == 0 {
		if s.NoResult != "" || s.level() && !s.abandoned() {
			return verdictSound
		}
		return verdictOpen
	}
	in := s.current()
	switch {
	case in == nil || s.decidedOtherwise(in):
		return verdictSound
	case s.MultiDay():
		return s.multiDayVerdict(in)
	case in.No < 2:
		return verdictOpen
	default:
		return s.chaseVerdict(in, s.Target(in))
	}
}

// decidedOtherwise tells a match that the score lines do not decide: tables of the rain rule, a tie's own rules, a side
// that gave up.
func (s *Snapshot) decidedOtherwise(in *Innings) bool {
	if s.RevTarget > 0 || s.IsSuperOver(in.No) {
		return true
	}
	note := strings.ToLower(s.Note)
	for _, word := range []string{"award", "conced", "forfeit", "dls", "d/l", "vjd", "duckworth"} {
		if strings.Contains(note, word) {
			return true
		}
	}
	return false
}

// chaseVerdict judges a winner by a target.
func (s *Snapshot) chaseVerdict(in *Innings, target int) verdict {
	switch batting := s.Winner == in.TeamID; {
	case in.Runs == target-1: // a tie that something else decided
		return verdictSound
	case (in.Runs >= target) != batting:
		return verdictWrong
	case batting || s.Ended(in) != CauseNone:
		return verdictSound
	default:
		return verdictOpen // they chase still
	}
}

func (s *Snapshot) multiDayVerdict(in *Innings) verdict {
	switch {
	case in.No >= 4 && s.Target(in) > 0:
		return s.chaseVerdict(in, s.Target(in))
	case in.No == 3 && in.Wickets >= s.maxWickets(in) && s.lead(in) < 0: // by an innings
		if s.Winner == in.TeamID {
			return verdictWrong
		}
		return verdictSound
	default:
		return verdictOpen
	}
}

// settled tells whether the scores bear the result out.
func (s *Snapshot) settled() bool { return s.verdict() == verdictSound }

// believable holds a result back until the scores bear it out, though not for ever.
func (r *round) believable(c *Candidate, p Pending) bool {
	if c.Key != resultKey && !(c.Type == EventCorrection && c.Detail == resultKey) {
		return true
	}
	wait := resultWait
	switch {
	case c.Type == EventCorrection:
		return true // what it says was judged when it was found
	case c.Type == EventTargetReached:
		wait = targetHold
	case r.snap.settled():
		return true
	case r.snap.abandoned():
		wait = abandonWait
	}
	return r.now.UnixMilli()-p.Since >= wait.Milliseconds()
}

// nameWinner leaves the winner out of a result that had to be told although the scores say otherwise.
func (s *Snapshot) nameWinner(c *Candidate) {
	if c.Type == EventResult && (s.Winner == 0 || s.verdict() == verdictWrong) {
		c.Text, c.Subject = s.scoresText(), openSubject
	}
}

// follow keeps the text of a result up with the feed: its words change after the first of them.
func (st *State) follow(all []Candidate, s *Snapshot, now time.Time) {
	for i := range all {
		if c := &all[i]; c.Key == resultKey && s.settled() {
			switch {
			case !st.FinishedAt.IsZero():
				st.Result = c.Text
			case st.Emitted.Has(resultKey): // it was told by a version that forgot to end the match
				st.FinishedAt, st.Result = now, c.Text
			}
		}
	}
}

// finish notes a confirmed result or that it was taken back, and ends the match when its result has stood long enough.
func (st *State) finish(events []Event, now time.Time) {
	for i := range events {
		switch e := &events[i]; {
		case e.Key == resultKey:
			st.FinishedAt, st.Result = now, e.Text
		case e.Type == EventCorrection && e.Detail == resultKey && !st.Emitted.Has(resultKey):
			st.FinishedAt, st.Result = time.Time{}, ""
		}
	}
	if !st.FinishedAt.IsZero() && st.Status == ActiveLive && now.Sub(st.FinishedAt) >= keepOpen {
		st.end(now)
	}
}
