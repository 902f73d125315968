// Package pickem is a league of predictions: before an event people pick who wins each match of its card, an hour before the start
// the card locks, and when the results are in the points make the standings of the year.
//
// A pick and a result are facts; points of an event and standings are computed from them when an event is scored, and written to rows
// that the original reads.
//
//	admin: event, matches ─┐
//	user: picks ───────────┼─> facts ──(lock: EVENT.state = broadcast)──> results ──(score)──> prediction rows, STANDINGS rows
//	lock job: state ───────┘
package pickem
