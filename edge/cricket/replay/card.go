package replay

import (
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// card is the scorecard of one innings as far as it has been played.
type card struct {
	in      *recording.Innings
	no      int // from 1
	runs    int
	wickets int
	legal   int
	wides   int
	noBalls int // number of no-balls
	noRuns  int // runs from no-balls
	byes    int
	legByes int
	penalty int
	batting []batLine
	bowling []bowlLine
	at      time.Time // of the latest change
}

type batLine struct {
	who         recording.Ref
	runs, balls int
	fours       int
	sixes       int
	out         *recording.Wicket // nil: not out
	bowler      recording.Ref     // bowler of the ball
	fallRuns    int
	fallLabel   string
}

type bowlLine struct {
	who     recording.Ref
	legal   int
	maidens int
	runs    int
	wickets int
	wides   int
	noBalls int
}

// cards computes the scorecards at a moment, from the beginning each time: a whole Test takes some tens of
// microseconds, less than copying its reply, and nothing can become stale.
func (m *Match) cards(v *view) []card {
	list := make([]card, v.Begun)
	for i := range list {
		in := &m.rec.Innings[i]
		list[i] = card{in: in, no: i + 1, runs: in.Pre, penalty: in.Pre}
	}
	var over overCount
	for i := range v.Balls {
		b := v.ball(m, i)
		list[b.innings].add(&b, &over, m.rec.BallsPerOver)
	}
	if b := v.phantom; b != nil && b.innings < len(list) && v.torn == 0 {
		list[b.innings].add(b, &over, m.rec.BallsPerOver)
	}
	for i := range min(v.Closed, len(list)) {
		c := &list[i]
		c.runs += c.in.Post
		c.penalty += c.in.Post
		if c.in.Post > 0 {
			c.at = m.closedAt(i)
		}
		if c.at.IsZero() { // forfeited
			c.at = m.begunAt(i)
		}
	}
	return list
}

// closedAt returns when an innings was over.
func (m *Match) closedAt(innings int) time.Time {
	i := slices.IndexFunc(m.moments, func(mo Moment) bool { return mo.Closed > innings })
	return m.moments[i].At
}

// begunAt returns when an innings began.
func (m *Match) begunAt(innings int) time.Time {
	i := slices.IndexFunc(m.moments, func(mo Moment) bool { return mo.Begun > innings })
	return m.moments[i].At
}

// overCount detects a maiden.
type overCount struct {
	bowler   recording.Ref
	shared   bool // bowled by two bowlers
	legal    int
	conceded int
}

func (c *card) add(b *ball, over *overCount, perOver int) {
	d := b.d
	c.at = b.at
	c.runs += d.Total()
	c.wides += d.Wides
	c.noRuns += d.NoBalls
	c.byes += d.Byes
	c.legByes += d.LegByes
	c.penalty += d.Penalty
	if d.NoBalls > 0 {
		c.noBalls++
	}
	if d.Legal() {
		c.legal++
	}
	c.bat(b)
	c.bowl(b, over, perOver)
}

func (c *card) bat(b *ball) {
	d := b.d
	striker := c.batter(d.Batter)
	c.batter(d.NonStriker)
	line := &c.batting[striker]
	line.runs += d.Bat
	if d.Wides == 0 {
		line.balls++
	}
	if !d.Run && d.Bat == 4 {
		line.fours++
	}
	if !d.Run && d.Bat == 6 {
		line.sixes++
	}
	for i := range d.Wickets {
		w := &d.Wickets[i]
		if !w.Kind.IsOut() {
			continue
		}
		c.wickets++
		l := &c.batting[c.batter(w.Out)]
		l.out, l.bowler, l.fallRuns, l.fallLabel = w, d.Bowler, c.runs, b.label
	}
}

// batter returns the index of a batter's line, which it adds if necessary.
func (c *card) batter(r recording.Ref) int {
	for i := range c.batting {
		if c.batting[i].who == r {
			return i
		}
	}
	c.batting = append(c.batting, batLine{who: r})
	return len(c.batting) - 1
}

func (c *card) bowl(b *ball, over *overCount, perOver int) {
	d := b.d
	i := slices.IndexFunc(c.bowling, func(l bowlLine) bool { return l.who == d.Bowler })
	if i < 0 {
		i = len(c.bowling)
		c.bowling = append(c.bowling, bowlLine{who: d.Bowler})
	}
	line := &c.bowling[i]
	conceded := d.Bat + d.Wides + d.NoBalls
	line.runs += conceded
	line.wides += d.Wides
	line.noBalls += d.NoBalls
	if d.Legal() {
		line.legal++
	}
	for _, w := range d.Wickets {
		if w.Kind.IsCredited() {
			line.wickets++
		}
	}
	if over.bowler == 0 {
		over.bowler = d.Bowler
	}
	over.shared = over.shared || over.bowler != d.Bowler
	over.conceded += conceded
	if d.Legal() {
		over.legal++
	}
	if !b.last {
		return
	}
	if over.legal == perOver && over.conceded == 0 && !over.shared {
		line.maidens++
	}
	*over = overCount{}
}
