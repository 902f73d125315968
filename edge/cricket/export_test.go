package cricket

// MustLast tells whether an event of a type must stay true of the record.
func MustLast(t EventType) bool { return ruleOf(t).lasting }
