package cricket

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Estimated time per ball and per run, to age events that only rows show, so that they leave the banner.
const (
	perBall = 40 * time.Second
	perRun  = 40 * time.Second
)

// silentWickets returns the batters whose dismissal no ball shows: a second wicket on one ball, a batter timed
// out or retired out, and all of them if balls were not requested.
func (t *tally) silentWickets() []BattingRow {
	shown := map[int64]bool{}
	for i := range t.balls {
		if b := &t.balls[i]; b.Wicket {
			shown[b.batterOut()] = true
		}
	}
	rows := slices.DeleteFunc(slices.Clone(t.s.Batting), func(r BattingRow) bool {
		return r.Innings != t.in.No || !r.Out || shown[r.PlayerID]
	})
	slices.SortStableFunc(rows, func(a, b BattingRow) int {
		return cmp.Or(cmp.Compare(t.ballNumber(a.FoWOvers), t.ballNumber(b.FoWOvers)), cmp.Compare(a.FoWRuns, b.FoWRuns))
	})
	return rows
}

// ballNumber converts a label to a number of balls, for ordering.
func (t *tally) ballNumber(label string) int { return ballsOf(label, t.s.BallsPerOver()) }

// silentBefore counts the silent wickets that fell before a ball, so that every wicket is numbered by its fall.
func (t *tally) silentBefore(label string) {
	for len(t.silent) > 0 && t.ballNumber(t.silent[0].FoWOvers) < t.ballNumber(label) {
		t.nextSilent()
	}
}

func (t *tally) nextSilent() {
	row := t.silent[0]
	t.silent = t.silent[1:]
	if t.wickets < t.in.Wickets && !t.out[row.PlayerID] { // otherwise the score does not include it yet
		t.rowWicket(&row)
	}
}

// rows reports what no ball has shown: the remaining silent wickets, and milestones and hauls in which the rows are
// ahead. If balls were not requested or some are missing, it also reports everything else that rows and score show.
func (t *tally) rows() {
	for row := range t.s.battingOf(t.in.No) {
		if len(t.balls) == 0 {
			t.bat[row.PlayerID] = &batTally{runs: row.Runs, balls: row.Balls}
		}
		t.rowMilestones(row)
	}
	for len(t.silent) > 0 {
		t.nextSilent()
	}
	t.namelessWickets()
	for row := range t.s.bowlingOf(t.in.No) {
		t.rowHaul(row)
	}
	t.chaseNow()
	if t.lines {
		return
	}
	if t.in.No == t.m.Innings || !slices.Contains(t.m.Balled, t.in.No) {
		t.rowBoundaries()
		t.rowMaidens()
	}
	t.rowBatters()
	t.rowScore()
}

// rowEvent returns an event known from a row about its player. ago is how long it has been so.
func (t *tally) rowEvent(kind EventType, key, text string, player int64, ago time.Duration) Candidate {
	return Candidate{
		Event:   Event{Key: key, Type: kind, Text: text, Innings: t.in.No},
		SeenAt:  t.in.UpdatedAt.Add(-max(0, ago)),
		Mark:    subject(player),
		Subject: rowSubject(kind, player),
	}
}

// rowSubject returns the subject that the event of a ball would have. Events that need not stay true have none.
func rowSubject(kind EventType, player int64) string {
	switch {
	case kind == EventFour || kind == EventSix:
		return string(kind)
	case ruleOf(kind).lasting:
		return subject(player)
	default:
		return ""
	}
}

// sinceLabel estimates how long ago a ball was bowled.
func (t *tally) sinceLabel(label string) time.Duration {
	return time.Duration(t.s.legal(t.in)-t.ballNumber(label)) * perBall
}

func (t *tally) rowWicket(row *BattingRow) {
	t.wickets++
	t.stand = 0
	t.out[row.PlayerID] = true
	how, runs, legal := rowDismissal(row), t.runs, t.legal
	if fell := t.ballNumber(row.FoWOvers); fell > 0 || len(t.balls) == 0 {
		t.runs, t.legal = row.FoWRuns, fell // balls may have been bowled since
	}
	text := t.wicketText(row.PlayerID, how, row.BowlerID, row.CatchID)
	t.runs, t.legal = runs, legal
	c := t.rowEvent(EventWicket, wicketKey(t.in.No, t.wickets), text, row.PlayerID, t.sinceLabel(row.FoWOvers))
	c.Over, c.Detail = row.FoWOvers, string(how)
	c.Subject = t.s.wicketSubject(row.PlayerID, how, row.BowlerID, row.CatchID, entry(t.bat, row.PlayerID).runs)
	t.add(c)
}

// namelessWickets reports wickets known only from the score: no row says yet who is out.
func (t *tally) namelessWickets() {
	if t.wickets < t.in.Wickets && len(t.balls) == 0 {
		t.runs, t.legal = t.in.Runs, t.s.legal(t.in)
	}
	for t.wickets < t.in.Wickets {
		t.wickets++
		c := t.rowEvent(EventWicket, wicketKey(t.in.No, t.wickets), wicketCry+t.score(), 0, 0)
		c.Detail, c.Subject = string(outUnknown), unknownSubject
		t.add(c)
	}
}

func (t *tally) rowMilestones(row *BattingRow) {
	for _, m := range milestones() {
		if row.Runs < m.runs || t.lines && entry(t.bat, row.PlayerID).runs < m.runs {
			break // the balls are all known, and the row alone is ahead: it is wrong for a moment
		}
		text := fmt.Sprintf("%s! %s %d (%d)", m.word, t.s.playerName(row.PlayerID, batterWord), row.Runs, row.Balls)
		ago := time.Duration(row.Runs-m.runs) * perRun
		if row.Out {
			ago = max(ago, t.sinceLabel(row.FoWOvers))
		}
		t.addOnce(t.rowEvent(m.kind, milestoneKey(m.runs, t.in.No, row.PlayerID), text, row.PlayerID, ago))
	}
}

// rowHaul reports a bowler's wickets from the row.
func (t *tally) rowHaul(row *BowlingRow) {
	name := t.s.playerName(row.PlayerID, bowlerWord)
	seen := entry(t.bowl, row.PlayerID)
	seen.wickets = max(seen.wickets, row.Wickets)
	tell := func(kind EventType, key, text string, nth int) {
		t.addOnce(t.rowEvent(kind, key, text, row.PlayerID, t.sinceHaul(row.PlayerID, nth)))
	}
	if !t.lines {
		for n := fireWickets; n <= row.Wickets; n++ {
			text := fmt.Sprintf("%s %d-%d", name, n, row.Runs)
			tell(EventBowlerOnFire, bowlerFireKey(t.in.No, row.PlayerID, n), text, n)
		}
	}
	if row.Wickets >= 5 {
		text := fmt.Sprintf("Five for %s %d-%d", name, row.Wickets, row.Runs)
		tell(EventFiveFor, haulKey(5, t.in.No, row.PlayerID), text, 5)
	}
	before := t.hauls[row.PlayerID]
	switch {
	case row.Wickets >= 10:
		text := fmt.Sprintf("Ten for %s %d-%d", name, row.Wickets, row.Runs)
		tell(EventTenFor, haulKey(10, t.in.No, row.PlayerID), text, 10)
	case t.s.MultiDay() && before < 10 && before+row.Wickets >= 10:
		tell(EventTenFor, haulKey(10, t.in.No, row.PlayerID), "Ten in the match for "+name, 10-before)
	}
}

// sinceHaul estimates how long ago a bowler took the nth wicket, from the falls of that bowler's wickets.
func (t *tally) sinceHaul(bowler int64, nth int) time.Duration {
	var falls []int
	for r := range t.s.battingOf(t.in.No) {
		if r.Out && r.BowlerID == bowler {
			falls = append(falls, t.ballNumber(r.FoWOvers))
		}
	}
	if len(falls) < nth {
		return 0
	}
	slices.Sort(falls)
	return time.Duration(t.s.legal(t.in)-falls[nth-1]) * perBall
}

// rowBoundaries reports fours and sixes that no ball shows, each by its number among the batter's.
func (t *tally) rowBoundaries() {
	for row := range t.s.battingOf(t.in.No) {
		seen, _ := t.seenOf(row.PlayerID)
		t.rowBoundary(row, EventFour, "FOUR!", row.Fours, fourKey)
		t.rowBoundary(row, EventSix, "SIX!", row.Sixes, sixKey)
		if seen.Jump > 0 && len(t.balls) == 0 {
			text := fmt.Sprintf("Two sixes in the over! %s · %s", t.s.playerName(row.PlayerID, batterWord), t.nowScore())
			key := rowSixesKey(t.in.No, row.PlayerID, seen.Jump)
			t.addOnce(t.rowEvent(EventConsecutiveSixes, key, text, row.PlayerID, time.Duration(row.Sixes-seen.Jump)*5*perRun))
		}
	}
}

func (t *tally) seenOf(player int64) (BatterSeen, bool) {
	if t.m.Innings != t.in.No {
		return BatterSeen{}, false
	}
	i := slices.IndexFunc(t.m.Batters, func(b BatterSeen) bool { return b.Player == player })
	if i < 0 {
		return BatterSeen{}, false
	}
	return t.m.Batters[i], true
}

func (t *tally) rowBoundary(row *BattingRow, kind EventType, word string, count int, key func(int, int64, int) string) {
	for n := 1; n <= count; n++ {
		text := fmt.Sprintf("%s %s · %s", word, t.s.playerName(row.PlayerID, batterWord), t.nowScore())
		k := key(t.in.No, row.PlayerID, n)
		ago := time.Duration(count-n) * 5 * perRun
		if t.known.has(k) {
			ago += 5 * perRun
		}
		t.addOnce(t.rowEvent(kind, k, text, row.PlayerID, ago)) // a feed can list a batter twice
	}
}

// nowScore returns the score of the innings in the snapshot.
func (t *tally) nowScore() string { return t.s.scoreNow(t.in) }

// scoreNow returns an innings' score in the snapshot, "IND 96/1 (10.2)".
func (s *Snapshot) scoreNow(in *Innings) string {
	return fmt.Sprintf("%s %d/%d (%s)", s.code(in.TeamID), in.Runs, in.Wickets, wholeOvers(in.Overs))
}

// rowMaidens reports maidens in the bowling rows that no ball shows.
func (t *tally) rowMaidens() {
	for row := range t.s.bowlingOf(t.in.No) {
		seen := 0
		if k := slices.IndexFunc(t.m.Bowlers, func(b BowlerSeen) bool { return b.Player == row.PlayerID }); k >= 0 {
			seen = t.m.Bowlers[k].Maidens
		}
		for n := 1; n <= row.Maidens-seen; n++ {
			key := rowMaidenKey(t.in.No, row.PlayerID, n)
			ago := time.Duration(row.Maidens-seen-n) * 12 * perBall
			text := "Maiden: " + t.s.playerName(row.PlayerID, bowlerWord)
			t.addOnce(t.rowEvent(EventMaiden, key, text, row.PlayerID, ago))
		}
	}
}

// rowBatters reports new batters, and batters on fire.
func (t *tally) rowBatters() {
	n := 0
	for row := range t.s.battingOf(t.in.No) {
		name := t.s.playerName(row.PlayerID, batterWord)
		if n++; n > 2 {
			text := fmt.Sprintf("%s comes in", t.s.playerName(row.PlayerID, "New batter"))
			ago := time.Duration(2*row.Balls) * perBall
			t.addOnce(t.rowEvent(EventNewBatsman, newBatterKey(t.in.No, row.PlayerID), text, row.PlayerID, ago))
		}
		if onFire(row.Runs, row.Balls) {
			text := fmt.Sprintf("%s %d (%d)", name, row.Runs, row.Balls)
			ago := time.Duration(row.Runs-fireRuns) * perRun
			t.addOnce(t.rowEvent(EventBatsmanOnFire, batterFireKey(t.in.No, row.PlayerID), text, row.PlayerID, ago))
		}
	}
}

// rowScore reports overs, the powerplay, team milestones and partnerships from the score.
func (t *tally) rowScore() {
	legal, per := t.s.legal(t.in), t.s.BallsPerOver()
	for n := 1; n*per <= legal; n++ {
		text := "End of over " + strconv.Itoa(n)
		if (n+1)*per > legal {
			text += ": " + t.nowScore()
		}
		c := t.rowEvent(EventOverEnd, overKey(t.in.No, n), text, 0, time.Duration(legal-n*per)*perBall)
		t.addOnce(c)
	}
	if pp := t.in.Powerplay; pp > 0 && pp*per <= legal && !t.s.IsSuperOver(t.in.No) {
		text := "Powerplay over"
		if legal-pp*per < per {
			text = fmt.Sprintf("Powerplay: %s %d/%d", t.code, t.in.Runs, t.in.Wickets)
		}
		c := t.rowEvent(EventPowerplayEnd, powerplayKey(t.in.No), text, 0, time.Duration(legal-pp*per)*perBall)
		t.addOnce(c)
	}
	for n := runStep; n <= t.in.Runs; n += runStep {
		text := fmt.Sprintf("%s %d up", t.code, n)
		if t.in.Runs-n <= 6 {
			text += " in " + wholeOvers(t.in.Overs)
		}
		c := t.rowEvent(EventTeamMilestone, teamRunsKey(n, t.in.No), text, 0, time.Duration(t.in.Runs-n)*perRun)
		c.Quiet = n%100 != 0
		t.addOnce(c)
	}
	t.rowStands()
}

// rowStands reports partnerships from the falls of wickets.
func (t *tally) rowStands() {
	var falls []int
	for r := range t.s.battingOf(t.in.No) {
		if r.Out {
			falls = append(falls, r.FoWRuns)
		}
	}
	slices.Sort(falls)
	falls = append(falls, t.in.Runs)
	before := 0
	for i, fall := range falls {
		for n := runStep; n <= fall-before; n += runStep {
			t.addOnce(t.rowEvent(EventPartnership, standKey(n, t.in.No, i+1), standText(n, i+1), 0,
				time.Duration(t.in.Runs-before-n)*perRun))
		}
		before = fall
	}
}

// nineties adds a batter in the nineties, for the banner.
func (t *tally) nineties() {
	for r := range t.s.battingOf(t.in.No) {
		if r.Out || r.Runs < 90 || r.Runs > 99 {
			continue
		}
		text := fmt.Sprintf("%s %d*", t.s.playerName(r.PlayerID, batterWord), r.Runs)
		t.add(t.rowEvent(EventNineties, "", text, r.PlayerID, 0))
	}
}
