// Package hacktracker implements a softball scorebook: teams with rosters, games with lineups, and each plate appearance as it was
// scored.
//
// A plate appearance is a fact, one row that nothing else overwrites. Inning, outs, who is up, box scores and averages are
// computed from these facts whenever they are read, so no figure can stay wrong:
//
//	scorer: at-bats ──> facts ──(Replay)──> inning, outs, batter, bases
//	                          ├─(Count)───> PA, AB, H ... and averages as exact fractions
//	                          └─(NewBox)──> box score and line score of a game
package hacktracker
