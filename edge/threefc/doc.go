// Package threefc implements three-sided football: leagues, seasons, sessions and games. Three teams play three thirds, and the team
// that concedes fewest goals wins.
//
// Goals, starts of thirds and finishes are facts, each stored by one conditional write. Tallies, results and tables are computed from
// the facts on every read, and exported to the rows that other readers of the table expect:
//
//	scorer: goal, edit, undo ─┐
//	scorer: thirds, finish ───┼─> facts ──(read)──> scoreboard, result, season and players' tables
//	admin: league ... roster ─┘      └──(journal)──> Export: TEAM#, GOAL_STATE, result of the game's row
package threefc
