// Package pickem implements the rules of a prediction league. Before an event, users pick the winner of each match on its card. Picks lock an
// hour before the start. Once the results are in, the event is scored, and its points count in the year's standings.
//
// Picks and results are facts. Points and standings are computed from them when an event is scored, and stored in rows that the original
// application reads.
//
//	admin: event, matches ─┐
//	user: picks ───────────┼─> facts ──(lock: EVENT.state = broadcast)──> results ──(score)──> prediction rows, STANDINGS rows
//	lock job: state ───────┘
package pickem
