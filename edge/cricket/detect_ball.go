package cricket

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// tally follows one innings ball by ball and tells what each ball made happen.
type tally struct {
	s       *Snapshot
	in      *Innings
	code    string // of the batting side
	runs    int
	wickets int
	legal   int
	bat     map[int64]*batTally
	bowl    map[int64]*bowlTally
	out     map[int64]bool
	runsOf  *runs
	silent  []BattingRow // dismissals that no ball shows, in the order they fell
	byBall  bool         // the balls of the innings are known
}

type batTally struct{ runs, balls int }

type bowlTally struct{ wickets, conceded int }

func newTally(s *Snapshot, in *Innings, r *runs) *tally {
	r.nextInnings()
	t := &tally{
		s: s, in: in, code: s.team(in.TeamID).Code, runs: in.Penalty,
		bat: map[int64]*batTally{}, bowl: map[int64]*bowlTally{}, out: map[int64]bool{}, runsOf: r,
		byBall: len(s.ballsIn(in.No)) > 0,
	}
	t.silent = t.silentWickets()
	return t
}

// silentWickets are the batters who are out without a ball that says so: a second wicket on one ball, a batter timed
// out or retired out, and all of them where balls were not asked for.
func (t *tally) silentWickets() []BattingRow {
	shown := map[int64]bool{}
	for _, b := range t.s.ballsIn(t.in.No) {
		if b.Wicket {
			shown[b.out()] = true
		}
	}
	rows := slices.DeleteFunc(slices.Clone(t.s.Batting), func(r BattingRow) bool {
		return r.Innings != t.in.No || !r.Out || shown[r.PlayerID]
	})
	slices.SortStableFunc(rows, func(a, b BattingRow) int {
		return cmp.Or(cmp.Compare(t.when(a.FoWOvers), t.when(b.FoWOvers)), cmp.Compare(a.FoWRuns, b.FoWRuns))
	})
	return rows
}

// when is a label as a number that orders.
func (t *tally) when(label string) int { return ballsOf(label, t.s.BallsPerOver()) }

// silentBefore takes the silent wickets in that fell before a ball, so that every wicket has the number of its fall.
func (t *tally) silentBefore(label string) []Candidate {
	var out []Candidate
	for len(t.silent) > 0 && t.when(t.silent[0].FoWOvers) < t.when(label) {
		out = append(out, t.nextSilent()...)
	}
	return out
}

func (t *tally) nextSilent() []Candidate {
	row := t.silent[0]
	t.silent = t.silent[1:]
	if t.wickets >= t.in.Wickets || t.out[row.PlayerID] {
		return nil // the score does not have it yet
	}
	return []Candidate{t.rowWicket(&row)}
}

// ball takes the next ball in.
func (t *tally) ball(b *Ball) []Candidate {
	bat, bowl := entry(t.bat, b.BatterID), entry(t.bowl, b.BowlerID)
	before := bat.runs
	t.runs += b.Total()
	bat.runs += b.BatRuns()
	bowl.conceded += b.Runs
	if !b.Wide {
		bat.balls++
	}
	if b.Legal() {
		t.legal++
	}
	var out []Candidate
	switch {
	case b.Four:
		out = append(out, t.boundary(b, EventFour, "FOUR!"))
	case b.Six:
		out = append(out, t.boundary(b, EventSix, "SIX!"))
	}
	out = append(out, t.crossed(b, before, bat)...)
	credited := false
	if b.Wicket {
		how := dismissalOf(b.Outcome, b.BowlerID, b.CatchID)
		credited = how.credited()
		out = append(out, t.silentBefore(b.Label)...)
		out = append(out, t.wicket(b, bowl, how)...)
	}
	out = append(out, t.hatTrick(b, credited)...)
	out = append(out, t.sixes(b)...)
	return append(out, t.maiden(b)...)
}

func entry[T any](m map[int64]*T, id int64) *T {
	e := m[id]
	if e == nil {
		e = new(T)
		m[id] = e
	}
	return e
}

// candidate is an event of this ball. The mark is all of the ball that a revision can change.
func (t *tally) candidate(b *Ball, kind EventType, key, text string) Candidate {
	return Candidate{
		Event:  Event{Key: key, Type: kind, Text: text, Innings: t.in.No, Over: b.Label, BallID: b.ID},
		SeenAt: b.UpdatedAt,
		Mark:   b.Outcome + "/" + strconv.Itoa(b.Total()) + "/" + strconv.FormatInt(b.OutID, 10),
	}
}

// subject names a player or a team as what an event is about.
func subject(id int64) string { return strconv.FormatInt(id, 10) }

// score is how the innings stands, "IND 182/4 (32.1)".
func (t *tally) score() string {
	return fmt.Sprintf("%s %d/%d (%s)", t.code, t.runs, t.wickets, oversOf(t.legal, t.s.BallsPerOver()))
}

func (t *tally) boundary(b *Ball, kind EventType, word string) Candidate {
	text := fmt.Sprintf("%s %s · %s", word, t.s.lastName(b.BatterID), t.score())
	return t.candidate(b, kind, ballKey(b.ID), text)
}

// crossed finds the milestones that the ball took the batter over.
func (t *tally) crossed(b *Ball, before int, bat *batTally) []Candidate {
	var out []Candidate
	for _, m := range milestones() {
		if before < m.runs && m.runs <= bat.runs {
			text := fmt.Sprintf("%s! %s %d (%d)", m.word, t.s.lastName(b.BatterID), bat.runs, bat.balls)
			c := t.candidate(b, m.kind, milestoneKey(m.runs, t.in.No, b.BatterID), text)
			c.Subject = subject(b.BatterID)
			out = append(out, c)
		}
	}
	return out
}

func (t *tally) wicket(b *Ball, bowl *bowlTally, how dismissal) []Candidate {
	who := b.out()
	t.wickets++
	t.out[who] = true
	c := t.candidate(b, EventWicket, wicketKey(t.in.No, t.wickets), t.wicketText(who, how, b.BowlerID, b.CatchID))
	c.Detail, c.Subject = string(how), subject(who)
	out := []Candidate{c}
	if how.credited() {
		bowl.wickets++
		out = append(out, t.haul(b, bowl)...)
	}
	return out
}

func (t *tally) wicketText(who int64, how dismissal, bowler, catcher int64) string {
	bat := entry(t.bat, who)
	return fmt.Sprintf("WICKET! %s %s %d (%d) · %s",
		t.s.lastName(who), t.s.howOut(how, bowler, catcher), bat.runs, bat.balls, t.score())
}

// haul finds a bowler's fifth and tenth wicket.
func (t *tally) haul(b *Ball, bowl *bowlTally) []Candidate {
	kind, word := EventFiveFor, "Five"
	switch bowl.wickets {
	case 5:
	case 10:
		kind, word = EventTenFor, "Ten"
	default:
		return nil
	}
	text := fmt.Sprintf("%s for %s %d-%d", word, t.s.lastName(b.BowlerID), bowl.wickets, bowl.conceded)
	c := t.candidate(b, kind, haulKey(bowl.wickets, t.in.No, b.BowlerID), text)
	c.Subject = subject(b.BowlerID)
	return []Candidate{c}
}

// unseen finds what no ball has shown in the end: the silent wickets that are left and, where balls were not asked
// for, the milestones of the rows.
func (t *tally) unseen() []Candidate {
	var out []Candidate
	if !t.byBall {
		for i := range t.s.Batting {
			if row := &t.s.Batting[i]; row.Innings == t.in.No {
				t.bat[row.PlayerID] = &batTally{row.Runs, row.Balls}
				out = append(out, t.rowMilestones(row)...)
			}
		}
	}
	for len(t.silent) > 0 {
		out = append(out, t.nextSilent()...)
	}
	return out
}

func (t *tally) rowWicket(row *BattingRow) Candidate {
	t.wickets++
	t.out[row.PlayerID] = true
	if !t.byBall {
		t.runs, t.legal = row.FoWRuns, t.when(row.FoWOvers)
	}
	how := dismissalOf(row.HowOut, row.BowlerID, row.CatchID)
	return Candidate{
		Event: Event{
			Key: wicketKey(t.in.No, t.wickets), Type: EventWicket, Innings: t.in.No, Over: row.FoWOvers,
			Text:   t.wicketText(row.PlayerID, how, row.BowlerID, row.CatchID),
			Detail: string(how),
		},
		SeenAt:  t.in.UpdatedAt,
		Mark:    subject(row.PlayerID),
		Subject: subject(row.PlayerID),
	}
}

func (t *tally) rowMilestones(row *BattingRow) []Candidate {
	var out []Candidate
	for _, m := range milestones() {
		if row.Runs >= m.runs {
			out = append(out, Candidate{
				Event: Event{
					Key: milestoneKey(m.runs, t.in.No, row.PlayerID), Type: m.kind, Innings: t.in.No,
					Text: fmt.Sprintf("%s! %s %d (%d)", m.word, t.s.lastName(row.PlayerID), row.Runs, row.Balls),
				},
				SeenAt:  t.in.UpdatedAt,
				Mark:    subject(row.PlayerID),
				Subject: subject(row.PlayerID),
			})
		}
	}
	return out
}
