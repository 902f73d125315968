package cricket

import "time"

// MustLast reports whether an event of a type must stay true of the record.
func MustLast(t EventType) bool { return ruleOf(t).lasting }

// StepInFull is Step that looks at the whole match with all its words, whatever was recorded.
func StepInFull(prev State, s *Snapshot, o Options, now time.Time) Outcome {
	return step(prev, s, o, now, false)
}

// Detect returns everything that has happened in a match as the snapshot has it.
func Detect(prev *State, s *Snapshot) []Candidate {
	if prev == nil {
		prev = &State{}
	}
	return detect(prev, s, prev.Seen.unpack(), nil).out
}
