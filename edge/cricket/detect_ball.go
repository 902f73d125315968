package cricket

import (
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
}

type batTally struct{ runs, balls int }

type bowlTally struct{ wickets, conceded int }

func newTally(s *Snapshot, in *Innings, r *runs) *tally {
	r.nextInnings()
	return &tally{
		s: s, in: in, code: s.team(in.TeamID).Code, runs: in.Penalty,
		bat: map[int64]*batTally{}, bowl: map[int64]*bowlTally{}, out: map[int64]bool{}, runsOf: r,
	}
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
			out = append(out, t.candidate(b, m.kind, milestoneKey(m.runs, t.in.No, b.BatterID), text))
		}
	}
	return out
}

func (t *tally) wicket(b *Ball, bowl *bowlTally, how dismissal) []Candidate {
	who := b.OutID
	if who == 0 {
		who = b.BatterID
	}
	t.wickets++
	t.out[who] = true
	c := t.candidate(b, EventWicket, wicketKey(t.in.No, t.wickets), t.wicketText(who, how, b.BowlerID, b.CatchID))
	c.Detail = string(how)
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
	return []Candidate{t.candidate(b, kind, haulKey(bowl.wickets, t.in.No, b.BowlerID), text)}
}

// unseen finds what no ball shows: a second wicket on one ball, a batter timed out, and, where balls were not asked
// for, wickets and milestones from the rows.
func (t *tally) unseen() []Candidate {
	rows := slices.DeleteFunc(slices.Clone(t.s.Batting), func(r BattingRow) bool {
		return r.Innings != t.in.No
	})
	slices.SortStableFunc(rows, func(a, b BattingRow) int {
		per := t.s.BallsPerOver()
		return ballsOf(a.FoWOvers, per) - ballsOf(b.FoWOvers, per)
	})
	byBall := len(t.s.ballsIn(t.in.No)) > 0
	var out []Candidate
	for i := range rows {
		row := &rows[i]
		if !byBall {
			t.bat[row.PlayerID] = &batTally{row.Runs, row.Balls}
			out = append(out, t.rowMilestones(row)...)
		}
		if row.Out && !t.out[row.PlayerID] && t.wickets < t.in.Wickets {
			out = append(out, t.rowWicket(row))
		}
	}
	return out
}

func (t *tally) rowWicket(row *BattingRow) Candidate {
	t.wickets++
	t.out[row.PlayerID] = true
	if row.FoWRuns > 0 {
		t.runs = row.FoWRuns
	}
	how := dismissalOf(row.HowOut, row.BowlerID, row.CatchID)
	return Candidate{
		Event: Event{
			Key: wicketKey(t.in.No, t.wickets), Type: EventWicket, Innings: t.in.No, Over: row.FoWOvers,
			Text:   t.wicketText(row.PlayerID, how, row.BowlerID, row.CatchID),
			Detail: string(how),
		},
		SeenAt: t.in.UpdatedAt,
		Mark:   strconv.FormatInt(row.PlayerID, 10),
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
				SeenAt: t.in.UpdatedAt,
				Mark:   strconv.FormatInt(row.PlayerID, 10),
			})
		}
	}
	return out
}
