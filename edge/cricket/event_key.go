package cricket

import "strconv"

// Keys of events say what happened: the innings, the player, the over, and which of his fours or wickets it was. So everyone
// who sees an event gives it the same key, and a ball that the feed enters again under another id is the same event. They
// follow the catalogue exactly. Maidens and sixes known only from rows have their own keys ("mdr:", "csr:"), because a row does
// not name its overs.

const (
	startKey     = "start"
	resultKey    = "result"
	tossKey      = "toss"
	lineupKey    = "xi"
	followOnKey  = "fo"
	closeKey     = "close"
	closeLastKey = "close:last" // in the last over
	bestKey      = "pom"
	resumedAfter = ":resumed"

	revisedPrefix    = "dls:"
	correctionPrefix = "corr:"
	breakPrefix      = "brk:"
)

// Families of keys that differ only in their numbers; a hole stands for a number.
const (
	familyWicket     = "w:\x00:\x00"
	familyMilestone  = "m\x00:\x00:\x00"
	familyHaul       = "\x00w:\x00:\x00"
	familyHatTrick   = "ht:\x00:\x00:\x00"
	familyOnHatTrick = "oht:\x00:\x00:\x00"
	familySixes      = "cs:\x00:\x00:\x00"
	familyMaiden     = "md:\x00:\x00"
	familyOver       = "ov:\x00:\x00"
	familyInningsEnd = "inn:\x00"
	familySuperOver  = "so:\x00"
	familyDeclared   = "dec:\x00"
	familyTeamRuns   = "t\x00:\x00"
	familyStand      = "p\x00:\x00:\x00"
	familyBowlerFire = "bf:\x00:\x00:\x00"
	familyBatterFire = "tf:\x00:\x00"
	familyNewBatter  = "nb:\x00:\x00"
	familyPowerplay  = "pp:\x00"
	familyBoundary   = "\x00:\x00:\x00:\x00" // fours and sixes
	familyRowMaiden  = "mdr:\x00:\x00:\x00"
	familyRowSixes   = "csr:\x00:\x00:\x00"
)

// Families of earlier versions, whose keys hold the feed's id of a ball. recognise maps events to them.
const (
	oldBall       = "b:\x00"
	oldHatTrick   = "ht:\x00:\x00"
	oldOnHatTrick = "oht:\x00:\x00"
	oldSixes      = "cs:\x00:\x00"
)

// keyOf fills the holes of a family with numbers.
func keyOf(family string, numbers ...int64) string {
	var space [64]byte
	key := space[:0]
	for i := range len(family) {
		if family[i] != hole || len(numbers) == 0 {
			key = append(key, family[i])
			continue
		}
		key = strconv.AppendInt(key, numbers[0], 10)
		numbers = numbers[1:]
	}
	return string(key)
}

func wicketKey(innings, n int) string { return keyOf(familyWicket, int64(innings), int64(n)) }

func milestoneKey(runs, innings int, batter int64) string {
	return keyOf(familyMilestone, int64(runs), int64(innings), batter)
}

func haulKey(wickets, innings int, bowler int64) string {
	return keyOf(familyHaul, int64(wickets), int64(innings), bowler)
}

func hatTrickKey(innings int, bowler int64, n int) string {
	return keyOf(familyHatTrick, int64(innings), bowler, int64(n))
}

func onHatTrickKey(innings int, bowler int64, n int) string {
	return keyOf(familyOnHatTrick, int64(innings), bowler, int64(n))
}

func sixesKey(innings int, batter int64, n int) string {
	return keyOf(familySixes, int64(innings), batter, int64(n))
}

func maidenKey(innings, over int) string { return keyOf(familyMaiden, int64(innings), int64(over)) }

func overKey(innings, over int) string { return keyOf(familyOver, int64(innings), int64(over)) }

func inningsEndKey(innings int) string { return keyOf(familyInningsEnd, int64(innings)) }

func superOverKey(n int) string { return keyOf(familySuperOver, int64(n)) }

func declaredKey(innings int) string { return keyOf(familyDeclared, int64(innings)) }

func teamRunsKey(runs, innings int) string { return keyOf(familyTeamRuns, int64(runs), int64(innings)) }

func standKey(runs, innings, wicket int) string {
	return keyOf(familyStand, int64(runs), int64(innings), int64(wicket))
}

func bowlerFireKey(innings int, bowler int64, wickets int) string {
	return keyOf(familyBowlerFire, int64(innings), bowler, int64(wickets))
}

func batterFireKey(innings int, batter int64) string {
	return keyOf(familyBatterFire, int64(innings), batter)
}

func newBatterKey(innings int, batter int64) string {
	return keyOf(familyNewBatter, int64(innings), batter)
}

func powerplayKey(innings int) string { return keyOf(familyPowerplay, int64(innings)) }

func fourKey(innings int, batter int64, n int) string {
	return keyOf(familyBoundary, 4, int64(innings), batter, int64(n))
}

func sixKey(innings int, batter int64, n int) string {
	return keyOf(familyBoundary, 6, int64(innings), batter, int64(n))
}

func rowMaidenKey(innings int, bowler int64, n int) string {
	return keyOf(familyRowMaiden, int64(innings), bowler, int64(n))
}

func rowSixesKey(innings int, batter int64, sixes int) string {
	return keyOf(familyRowSixes, int64(innings), batter, int64(sixes))
}

func stumpsKey(day string) string { return "stumps:" + day }

func statusKey(word string) string { return "st:" + word }

// putOffKey returns the key of a match that is postponed or cancelled, after before other times that were not kept either.
func putOffKey(word string, before int) string {
	key := statusKey(word)
	if before > 0 {
		key += ":" + strconv.Itoa(before+1)
	}
	return key
}

func breakKey(day int, word string) string { return breakPrefix + strconv.Itoa(day) + ":" + word }

func interruptedKey(overs string) string { return "int:" + overs }

func revisedKey(target int, overs string) string {
	return revisedPrefix + strconv.Itoa(target) + ":" + overs
}
