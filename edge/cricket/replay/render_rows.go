package replay

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// rowBase returns the first id of an innings' rows; there is room for a hundred of each kind.
func (m *Match) rowBase(innings int) int64 { return m.id%1_000_000*10_000 + int64(innings)*100 }

// rows writes the tables: score lines, batting, bowling, extras.
func (m *Match) rows(e *encoder, v *view, inc include) {
	if !inc.has(incRuns | incBatting | incBowling | incScoreboards) {
		return
	}
	cards, other := m.cards(v), []card(nil)
	now := m.rowsAt(v)
	if v.torn != 0 {
		other = m.cards(v.withMoment(v.tornAt))
	}
	tables := []struct {
		part include
		key  string
		rows func(*encoder, *card, time.Time)
	}{
		{incBatting, "batting", m.battingRows},
		{incBowling, "bowling", m.bowlingRows},
		{incRuns, "runs", m.runsRow},
		{incScoreboards, "scoreboards", m.scoreboardRows},
	}
	for _, t := range tables {
		if !inc.has(t.part &^ v.lacks) {
			continue
		}
		list := cards
		switch {
		case v.empties.has(t.part):
			list = nil
		case v.torn.has(t.part):
			list = other
		}
		e.open(t.key, '[')
		for i := range list {
			t.rows(e, &list[i], now)
		}
		e.closeBracket(']')
	}
}

// rowsAt returns the updated_at of batting and bowling rows, which the feed rewrites on all of them with every ball.
func (m *Match) rowsAt(v *view) time.Time {
	if v.Balls == 0 {
		return m.static.updated
	}
	return v.stamp(m, v.Balls-1)
}

func scoreboard(no int) string { return "S" + strconv.Itoa(no) }

func (m *Match) runsRow(e *encoder, c *card, _ time.Time) {
	e.open("", '{')
	e.word("resource", "runs")
	e.id("id", m.rowBase(c.no))
	e.id("fixture_id", m.id)
	e.id("team_id", m.static.teamIDs[c.in.Team])
	e.int("inning", c.no)
	e.int("score", c.runs)
	e.int("wickets", c.wickets)
	e.overs("overs", c.legal, m.rec.BallsPerOver)
	for i, k := range [...]string{"pp1", "pp2", "pp3"} {
		e.textOrNull(k, powerplay(c.in, i))
	}
	e.writeTime("updated_at", c.at)
	e.closeBracket('}')
}

// powerplay returns the range of overs of powerplay i, "1-10"; "" if there is none.
func powerplay(in *recording.Innings, i int) string {
	if i >= len(in.Powerplays) {
		return ""
	}
	over := func(label string) string {
		whole, _, _ := strings.Cut(label, ".")
		n, _ := strconv.Atoi(whole) // checked when the record was read
		return strconv.Itoa(n + 1)
	}
	return over(in.Powerplays[i].From) + "-" + over(in.Powerplays[i].To)
}

func (m *Match) battingRows(e *encoder, c *card, now time.Time) {
	for i := range c.batting {
		m.battingRow(e, c, i, now)
	}
}

func (m *Match) battingRow(e *encoder, c *card, i int, now time.Time) {
	l := &c.batting[i]
	how := m.howOut(l)
	e.open("", '{')
	e.word("resource", "battings")
	e.id("id", m.rowBase(c.no)+int64(i))
	e.int("sort", i+1)
	e.id("fixture_id", m.id)
	e.id("team_id", m.static.teamIDs[c.in.Team])
	e.bool("active", false) // as on every row of the real feed
	e.word("scoreboard", scoreboard(c.no))
	e.id("player_id", m.static.ids[l.who])
	e.id("wicket_id", how.score)
	e.int("ball", l.balls)
	e.id("score_id", how.score)
	e.int("score", l.runs)
	e.int("four_x", l.fours)
	e.int("six_x", l.sixes)
	e.idOrNull("catch_stump_player_id", m.static.ids[how.catch])
	e.idOrNull("runout_by_id", m.static.ids[how.runOutBy])
	e.idOrNull("batsmanout_id", m.static.ids[how.ranOut])
	e.idOrNull("bowling_player_id", m.static.ids[how.bowler])
	e.int("fow_score", l.fallRuns)
	if l.out == nil {
		e.int("fow_balls", 0)
	} else {
		e.raw("fow_balls", l.fallLabel)
	}
	e.int("rate", rate(l.runs*100, l.balls))
	e.writeTime("updated_at", now)
	e.closeBracket('}')
}

// dismissal is how a batter got out, in the feed's terms.
type dismissal struct {
	score           int64 // id
	catch, runOutBy recording.Ref
	ranOut, bowler  recording.Ref
}

func (m *Match) howOut(l *batLine) dismissal {
	if l.out == nil {
		return dismissal{score: scoreNotOut}
	}
	how := dismissal{score: scoreIDs()[dismissalName(l.out.Kind)]}
	if l.out.Kind.IsCredited() {
		how.bowler = l.bowler
	}
	how.catch, how.runOutBy = helpers(l.out, l.bowler)
	if l.out.Kind == recording.RunOut {
		how.ranOut = l.out.Out
	}
	return how
}

// helpers returns the catcher or stumper, and the fielder of a run out; 0 if there was none or none is named.
func helpers(w *recording.Wicket, bowler recording.Ref) (catch, runOutBy recording.Ref) {
	var first recording.Ref
	if len(w.Fielders) > 0 {
		first = w.Fielders[0].Who
	}
	switch w.Kind {
	case recording.Caught, recording.Stumped:
		return first, 0
	case recording.CaughtAndBowled:
		return bowler, 0
	case recording.RunOut:
		return 0, first
	default:
		return 0, 0
	}
}

func (m *Match) bowlingRows(e *encoder, c *card, now time.Time) {
	perOver := m.rec.BallsPerOver
	for i := range c.bowling {
		l := &c.bowling[i]
		e.open("", '{')
		e.word("resource", "bowlings")
		e.id("id", m.rowBase(c.no)+int64(i))
		e.int("sort", i+1)
		e.id("fixture_id", m.id)
		e.id("team_id", m.static.teamIDs[1-c.in.Team])
		e.bool("active", false)
		e.word("scoreboard", scoreboard(c.no))
		e.id("player_id", m.static.ids[l.who])
		e.overs("overs", l.legal, perOver)
		e.int("medians", l.maidens)
		e.int("runs", l.runs)
		e.int("wickets", l.wickets)
		e.int("wide", l.wides)
		e.int("noball", l.noBalls)
		e.raw("rate", economy(l.runs, l.legal, perOver))
		e.writeTime("updated_at", now)
		e.closeBracket('}')
	}
}

// scoreboardRows writes two rows per innings. Penalty runs appear only here.
func (m *Match) scoreboardRows(e *encoder, c *card, _ time.Time) {
	total := card{runs: c.runs, legal: c.legal, wickets: c.wickets}
	extra := *c
	extra.runs, extra.legal, extra.wickets = c.wides+c.noRuns+c.byes+c.legByes+c.penalty, 0, 0
	for i, row := range []struct {
		kind string
		c    *card
	}{{"extra", &extra}, {"total", &total}} {
		e.open("", '{')
		e.word("resource", "scoreboards")
		e.id("id", m.rowBase(c.no)+int64(i))
		e.id("fixture_id", m.id)
		e.id("team_id", m.static.teamIDs[c.in.Team])
		e.word("type", row.kind)
		e.word("scoreboard", scoreboard(c.no))
		e.int("wide", row.c.wides)
		e.int("noball_runs", row.c.noRuns)
		e.int("noball_balls", row.c.noBalls)
		e.int("bye", row.c.byes)
		e.int("leg_bye", row.c.legByes)
		e.int("penalty", row.c.penalty)
		e.int("total", row.c.runs)
		e.overs("overs", row.c.legal, m.rec.BallsPerOver)
		e.int("wickets", row.c.wickets)
		e.writeTime("updated_at", c.at)
		e.closeBracket('}')
	}
}

// rate returns a rounded quotient; 0 if d is 0.
func rate(n, d int) int {
	if d == 0 {
		return 0
	}
	return (2*n + d) / (2 * d)
}

// economy returns runs per over with up to two decimals: 9, 5.25.
func economy(runs, legal, perOver int) string {
	if legal == 0 {
		return "0"
	}
	hundredths := math.Round(float64(runs*perOver) / float64(legal) * 100)
	return strconv.FormatFloat(hundredths/100, 'f', -1, 64)
}
