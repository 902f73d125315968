package cricket

// MustLast reports whether an event of the type is one that stays true once it has happened.
func MustLast(t EventType) bool { return ruleOf(t).lasting }

// Detect returns all events that the snapshot shows.
func Detect(prev *State, s *Snapshot) []Candidate {
	if prev == nil {
		prev = &State{}
	}
	return detect(prev, s, prev.Seen.unpack()).out
}
