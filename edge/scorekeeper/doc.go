// Package scorekeeper is the daily word puzzle: one word of five letters a day, six guesses, teams that compare how they did.
//
// What people did is a row each: the guesses of a player on a day, the answer of a day, a team and its members. Everything else
// is computed when it is read: grades, scores, boards, streaks. So an answer that is corrected re-grades what was guessed.
package scorekeeper
