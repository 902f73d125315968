package cricket

import "time"

// MustLast reports whether an event of the type is one that stays true once it has happened.
func MustLast(t EventType) bool { return ruleOf(t).lasting }

// StepInFull is Step, but detects the whole match and makes all texts, whatever is recorded already.
func StepInFull(prev State, s *Snapshot, o Options, now time.Time) Outcome {
	return step(prev, s, o, now, false)
}

// Detect returns all events that the snapshot shows.
func Detect(prev *State, s *Snapshot) []Candidate {
	if prev == nil {
		prev = &State{}
	}
	return detect(prev, s, prev.Seen.unpack(), nil).out
}
