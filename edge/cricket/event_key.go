package cricket

import "fmt"

// Keys of the events that need no ball, or more than one; those of a ball are in keys.go. All are the catalogue's to
// the letter. What is known from rows alone has keys of its own ("4:", "6:", "mdr:", "csr:"): a row counts and does not
// name its balls.

const (
	tossKey      = "toss"
	lineupKey    = "xi"
	followOnKey  = "fo"
	closeKey     = "close"
	bestKey      = "pom"
	resumedAfter = ":resumed"
)

func statusKey(word string) string { return "st:" + word }

func breakKey(day int, word string) string { return fmt.Sprintf("brk:%d:%s", day, word) }

func interruptedKey(overs string) string { return "int:" + overs }

func revisedKey(target int, overs string) string { return fmt.Sprintf("dls:%d:%s", target, overs) }

func declaredKey(innings int) string { return fmt.Sprintf("dec:%d", innings) }

func onHatTrickKey(bowler, second int64) string { return fmt.Sprintf("oht:%d:%d", bowler, second) }

func teamRunsKey(runs, innings int) string { return fmt.Sprintf("t%d:%d", runs, innings) }

func standKey(runs, innings, wicket int) string {
	return fmt.Sprintf("p%d:%d:%d", runs, innings, wicket)
}

func overKey(innings, over int) string { return fmt.Sprintf("ov:%d:%d", innings, over) }

func bowlerFireKey(innings int, bowler int64, wickets int) string {
	return fmt.Sprintf("bf:%d:%d:%d", innings, bowler, wickets)
}

func batterFireKey(innings int, batter int64) string { return fmt.Sprintf("tf:%d:%d", innings, batter) }

func newBatterKey(innings int, batter int64) string { return fmt.Sprintf("nb:%d:%d", innings, batter) }

func powerplayKey(innings int) string { return fmt.Sprintf("pp:%d", innings) }

func rowFourKey(innings int, batter int64, n int) string {
	return fmt.Sprintf("4:%d:%d:%d", innings, batter, n)
}

func rowSixKey(innings int, batter int64, n int) string {
	return fmt.Sprintf("6:%d:%d:%d", innings, batter, n)
}

func rowMaidenKey(innings int, bowler int64, n int) string {
	return fmt.Sprintf("mdr:%d:%d:%d", innings, bowler, n)
}

func rowSixesKey(innings int, batter int64, sixes int) string {
	return fmt.Sprintf("csr:%d:%d:%d", innings, batter, sixes)
}
