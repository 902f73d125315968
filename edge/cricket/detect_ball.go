package cricket

import (
	"fmt"
	"strconv"
	"strings"
)

// tally follows one innings ball by ball and reports the events of each ball.
type tally struct {
	*detection
	in      *Innings
	balls   []Ball
	code    string // of the batting side
	runs    int
	wickets int
	legal   int
	stand   int // runs since the last wicket
	target  int
	quota   int
	bat     map[int64]*batTally
	bowl    map[int64]*bowlTally
	out     map[int64]bool
	silent  []BattingRow        // dismissals that no ball shows, in the order of their fall
	told    map[string]struct{} // keys that rows must not report again
	lines   bool                // all balls of the innings are known
	overs   overTally
}

type batTally struct {
	runs, balls, fours, sixes int
	seen                      bool
	fire                      bool
	row                       []*Ball // consecutive sixes
}

type bowlTally struct{ wickets, conceded int }

func newTally(d *detection, in *Innings, balls []Ball) *tally {
	t := &tally{
		detection: d, in: in, balls: balls, code: d.s.code(in.TeamID), runs: in.Penalty,
		target: d.s.Target(in), quota: d.s.quota(in),
		bat: map[int64]*batTally{}, bowl: map[int64]*bowlTally{}, out: map[int64]bool{}, told: map[string]struct{}{},
		lines: len(balls) > 0 && d.s.agrees(in),
	}
	t.silent = t.silentWickets()
	t.head()
	return t
}

// head starts the tally of a snapshot whose balls begin in the middle of an innings: rows minus balls.
func (t *tally) head() {
	if len(t.balls) == 0 || t.balls[0].Over == 0 && ballInOver(t.balls[0].Label) <= 1 {
		return
	}
	t.runs, t.legal = t.in.Runs, t.s.legal(t.in)
	for r := range t.s.battingOf(t.in.No) {
		t.bat[r.PlayerID] = &batTally{runs: r.Runs, balls: r.Balls, fours: r.Fours, sixes: r.Sixes, seen: true}
	}
	for r := range t.s.bowlingOf(t.in.No) {
		t.bowl[r.PlayerID] = &bowlTally{r.Wickets, r.Runs}
	}
	for i := range t.balls {
		t.unplay(&t.balls[i])
	}
	t.runs, t.legal = max(0, t.runs), max(0, t.legal)
}

// unplay subtracts a ball from the totals.
func (t *tally) unplay(b *Ball) {
	bat, bowl := entry(t.bat, b.BatterID), entry(t.bowl, b.BowlerID)
	t.runs -= b.Total()
	bat.runs -= b.BatRuns()
	if b.Four {
		bat.fours--
	}
	if b.Six {
		bat.sixes--
	}
	bowl.conceded -= b.Runs
	if !b.Wide {
		bat.balls--
	}
	if b.Legal() {
		t.legal--
	}
	if b.Wicket && dismissalOf(b.Outcome, b.BowlerID, b.CatchID).isCredited() {
		bowl.wickets--
	}
}

// ball adds the next ball.
func (t *tally) ball(b *Ball) {
	t.newOver(b)
	t.newBatter(b)
	bat, bowl := entry(t.bat, b.BatterID), entry(t.bowl, b.BowlerID)
	before, team, stand := bat.runs, t.runs, t.stand
	t.runs += b.Total()
	t.stand += b.Total()
	bat.runs += b.BatRuns()
	bowl.conceded += b.Runs
	if !b.Wide {
		bat.balls++
	}
	if b.Legal() {
		t.legal++
	}
	t.boundary(b, bat)
	t.reportMilestones(b, before, bat)
	t.teamCrossed(b, team, stand)
	t.wicketBall(b, bowl)
	t.sixes(b, bat)
	t.onFire(b, bat)
	t.chase(b)
	t.endOfOver(b)
}

func (t *tally) wicketBall(b *Ball, bowl *bowlTally) {
	streak := t.spells.ball(b)
	if b.Wicket {
		how := dismissalOf(b.Outcome, b.BowlerID, b.CatchID)
		t.silentBefore(b.Label)
		t.wicket(b, bowl, how, streak)
	}
	t.hatTrick(b, streak, t.hauls[b.BowlerID]+bowl.wickets)
}

func entry[T any](m map[int64]*T, id int64) *T {
	e := m[id]
	if e == nil {
		e = new(T)
		m[id] = e
	}
	return e
}

// candidate returns an event of this ball. Its mark covers everything about the ball that a revision can change.
func (t *tally) candidate(b *Ball, kind EventType, key, text string) Candidate {
	return Candidate{
		Event:  Event{Key: key, Type: kind, Text: text, Innings: t.in.No, Over: b.Label, BallID: b.ID},
		SeenAt: b.UpdatedAt, Untimed: b.Untimed,
		Mark: b.Outcome + "/" + strconv.Itoa(b.Total()) + "/" + strconv.FormatInt(b.OutID, 10),
	}
}

// addOnce adds an event that rows may report too.
func (t *tally) addOnce(c Candidate) {
	if _, ok := t.told[c.Key]; !ok {
		t.told[c.Key] = struct{}{}
		t.add(c)
	}
}

// score returns the score of the innings, "IND 182/4 (32.1)".
func (t *tally) score() string {
	overs := wholeOvers(oversOf(t.legal, t.s.BallsPerOver()))
	if t.wickets >= t.s.maxWickets(t.in) {
		return fmt.Sprintf("%s %d all out (%s)", t.code, t.runs, overs)
	}
	return fmt.Sprintf("%s %d/%d (%s)", t.code, t.runs, t.wickets, overs)
}

// boundary reports a four or a six by its number among the batter's.
func (t *tally) boundary(b *Ball, bat *batTally) {
	var kind EventType
	var word, key string
	switch {
	case b.Four:
		bat.fours++
		kind, word, key = EventFour, "FOUR!", fourKey(t.in.No, b.BatterID, bat.fours)
	case b.Six:
		bat.sixes++
		kind, word, key = EventSix, "SIX!", sixKey(t.in.No, b.BatterID, bat.sixes)
	default:
		return
	}
	c := t.candidate(b, kind, key, fmt.Sprintf("%s %s · %s", word, t.s.playerName(b.BatterID, batterWord), t.score()))
	c.Subject, c.Was = string(kind), keyOf(oldBall, b.ID)
	t.addOnce(c)
}

// reportMilestones reports the milestones that the batter reached with this ball.
func (t *tally) reportMilestones(b *Ball, before int, bat *batTally) {
	for _, m := range milestones() {
		if before >= m.runs || m.runs > bat.runs {
			continue
		}
		text := fmt.Sprintf("%s! %s %d (%d)", m.word, t.s.playerName(b.BatterID, batterWord), bat.runs, bat.balls)
		c := t.candidate(b, m.kind, milestoneKey(m.runs, t.in.No, b.BatterID), text)
		c.Subject = withRuns(b.BatterID, bat.runs)
		t.addOnce(c)
	}
}

// withRuns returns the subject of a milestone: the batter, and the runs after the ball that reached it.
func withRuns(batter int64, runs int) string { return fmt.Sprintf("%d+%d", batter, runs) }

// runStep is the step of team milestones and partnerships, in runs.
const runStep = 50

// teamCrossed reports the team milestones and partnership fifties reached with this ball.
func (t *tally) teamCrossed(b *Ball, team, stand int) {
	for n := (team/runStep + 1) * runStep; n <= t.runs; n += runStep {
		text := fmt.Sprintf("%s %d up in %s", t.code, n, wholeOvers(oversOf(t.legal, t.s.BallsPerOver())))
		c := t.candidate(b, EventTeamMilestone, teamRunsKey(n, t.in.No), text)
		c.Quiet = n%100 != 0
		t.addOnce(c)
	}
	for n := (stand/runStep + 1) * runStep; n <= t.stand; n += runStep {
		t.addOnce(t.candidate(b, EventPartnership, standKey(n, t.in.No, t.wickets+1), standText(n, t.wickets+1)))
	}
}

func standText(runs, wicket int) string {
	return fmt.Sprintf("%d stand for the %s wicket", runs, ordinal(wicket))
}

func ordinal(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
		return strconv.Itoa(n) + "th"
	case n%10 == 1:
		return strconv.Itoa(n) + "st"
	case n%10 == 2:
		return strconv.Itoa(n) + "nd"
	case n%10 == 3:
		return strconv.Itoa(n) + "rd"
	default:
		return strconv.Itoa(n) + "th"
	}
}

func (t *tally) wicket(b *Ball, bowl *bowlTally, how dismissal, streak *Streak) {
	who := b.batterOut()
	t.wickets++
	t.stand = 0
	t.out[who] = true
	text := t.wicketText(who, how, b.BowlerID, b.CatchID)
	if n := streak.length(); n > 3 {
		text = strings.Replace(text, " · ", fmt.Sprintf(", %d in %d · ", n, n), 1)
	}
	c := t.candidate(b, EventWicket, wicketKey(t.in.No, t.wickets), text)
	c.Detail, c.Subject = string(how), t.s.wicketSubject(who, how, b.BowlerID, b.CatchID, entry(t.bat, who).runs)
	t.add(c)
	if how.isCredited() {
		bowl.wickets++
		t.haul(b, bowl)
	}
}

func (t *tally) wicketText(who int64, how dismissal, bowler, catcher int64) string {
	bat, name := entry(t.bat, who), t.s.playerName(who, batterWord)
	if words := t.s.howOut(how, bowler, catcher); words != string(outUnknown) {
		name += " " + words
	}
	return fmt.Sprintf(wicketCry+"%s %d (%d) · %s", name, bat.runs, bat.balls, t.score())
}

// haul reports a bowler's third and later wickets, and the fifth and tenth. In a multi-day match the ten may be of the whole match.
func (t *tally) haul(b *Ball, bowl *bowlTally) {
	name := t.s.playerName(b.BowlerID, bowlerWord)
	if bowl.wickets >= fireWickets {
		key := bowlerFireKey(t.in.No, b.BowlerID, bowl.wickets)
		t.addOnce(t.candidate(b, EventBowlerOnFire, key, fmt.Sprintf("%s %d-%d", name, bowl.wickets, bowl.conceded)))
	}
	match := t.hauls[b.BowlerID] + bowl.wickets
	tell := func(kind EventType, wickets int, text string) {
		c := t.candidate(b, kind, haulKey(wickets, t.in.No, b.BowlerID), text)
		c.Subject = subject(b.BowlerID)
		t.addOnce(c)
	}
	if bowl.wickets == 5 {
		tell(EventFiveFor, 5, fmt.Sprintf("Five for %s %d-%d", name, bowl.wickets, bowl.conceded))
	}
	switch {
	case bowl.wickets == 10:
		tell(EventTenFor, 10, fmt.Sprintf("Ten for %s %d-%d", name, bowl.wickets, bowl.conceded))
	case t.s.MultiDay() && match == 10:
		tell(EventTenFor, 10, "Ten in the match for "+name)
	}
}

// A bowler is on fire from fireWickets wickets, a batter from fireRuns runs at fireRate runs per hundred balls.
const (
	fireWickets = 3
	fireRuns    = 20
	fireRate    = 200
)

func onFire(runs, balls int) bool { return runs >= fireRuns && runs*100 >= fireRate*balls }

// onFire reports a batter who has scored enough, fast enough.
func (t *tally) onFire(b *Ball, bat *batTally) {
	if bat.fire || t.out[b.BatterID] || !onFire(bat.runs, bat.balls) {
		return
	}
	bat.fire = true
	text := fmt.Sprintf("%s %d (%d)", t.s.playerName(b.BatterID, batterWord), bat.runs, bat.balls)
	t.addOnce(t.candidate(b, EventBatsmanOnFire, batterFireKey(t.in.No, b.BatterID), text))
}

// newBatter reports batters who are at the crease for the first time; the opening pair is no news.
func (t *tally) newBatter(b *Ball) {
	opening := b == &t.balls[0]
	for _, id := range [...]int64{b.PairIDs[0], b.PairIDs[1], b.BatterID} {
		if id == 0 {
			continue
		}
		bat := entry(t.bat, id)
		if !bat.seen && !opening {
			t.addOnce(t.candidate(b, EventNewBatsman, newBatterKey(t.in.No, id), t.newBatterText(id)))
		}
		bat.seen = true
	}
}

func (t *tally) newBatterText(id int64) string {
	return fmt.Sprintf("%s comes in · %s", t.s.playerName(id, "New batter"), t.score())
}
