// Package threefc is three-sided football: leagues, seasons, sessions and games of three teams over three thirds, of which the team
// that conceded least wins.
//
// A goal, a start of a third and a finish are facts, each one conditional write. Tallies, result and tables are computed from facts
// when they are read, and exported into the rows that other readers of the table know:
//
//	scorer: goal, edit, undo ─┐
//	scorer: thirds, finish ───┼─> facts ──(read)──> scoreboard, result, season and players' tables
//	admin: league ... roster ─┘      └──(journal)──> Export: TEAM#, GOAL_STATE, result of the game's row
package threefc
