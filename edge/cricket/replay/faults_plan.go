package replay

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// planner plans the faults of a feed.
type planner struct {
	*faultyFeed
	random noise
}

// chance returns true once in n times.
func (p *planner) chance(n int) bool { return p.random.next()%uint64(n) == 0 }

// pickNumber returns a number from 0 to n-1.
func (p *planner) pickNumber(n int) int { return int(p.random.next() % uint64(n)) }

// randomDuration returns a random duration between from and to seconds of real play, at the pace of the match.
func (p *planner) randomDuration(from, to int) time.Duration {
	d := time.Duration(from*1000+p.pickNumber((to-from)*1000)) * time.Millisecond
	if p.m.pace > 0 {
		d = time.Duration(float64(d) * p.m.pace)
	}
	return d
}

// addFault adds a fault.
func (p *planner) addFault(from time.Time, d time.Duration, f func(*view)) {
	p.faults = append(p.faults, feedFault{from: from, to: from.Add(min(d, longestFault)), tell: f})
}

func (p *planner) plan() {
	for i := range p.m.balls {
		p.ball(i)
		p.row(i)
		p.order(i)
		p.whole(i)
		p.outage(p.m.balls[i].at)
	}
	p.phases()
	p.ending()
}

// next returns when the ball after ball i is bowled, or some time after the last one.
func (p *planner) next(i int) time.Time {
	if i+1 < len(p.m.balls) {
		return p.m.balls[i+1].at
	}
	return p.m.balls[i].at.Add(ballToBall)
}

// ball plans the faults of one ball: one in seven is revised within ten seconds, some vanish for a while, and some were never bowled.
func (p *planner) ball(i int) {
	b := &p.m.balls[i]
	if p.chance(7) {
		wrong, rows, d := otherwise(b.d, &p.random), !p.chance(3), p.randomDuration(1, 10)
		p.addFault(b.at, d, func(v *view) {
			if rows {
				set(&v.altered, i, wrong)
			} else {
				set(&v.only, i, wrong)
			}
		})
		p.stamps[i] = b.at.Add(d)
	}
	if p.chance(100) {
		gone := max(0, i-p.pickNumber(8))
		p.addFault(b.at.Add(p.randomDuration(4, 20)), p.randomDuration(2, 15), func(v *view) { set(&v.missing, gone, true) })
	}
	if p.chance(100) {
		p.addFault(b.at.Add(p.randomDuration(4, 20)), p.randomDuration(2, 15), func(v *view) { // together with its runs
			if v.Balls > 0 && v.Begun == v.Closed+1 && v.Balls-1 == i {
				v.Balls--
			}
		})
	}
	if p.chance(100) {
		p.phantom(i)
	}
}

// phantom plans a ball that was never bowled.
func (p *planner) phantom(i int) {
	b := p.m.balls[i]
	from := b.at.Add(p.randomDuration(3, 15))
	to := from.Add(p.randomDuration(3, 20))
	if i+1 == len(p.m.balls) || p.m.balls[i+1].id-b.id < 2 || !to.Before(p.m.balls[i+1].at) {
		return
	}
	b.id, b.at, b.last = b.id+1, from, false
	b.d = otherwise(b.d, &p.random)
	p.addFault(from, to.Sub(from), func(v *view) {
		if v.Balls == i+1 && v.Begun == v.Closed+1 {
			v.phantom = &b
		}
	})
}

// row plans score lines and rows from another moment than the balls.
func (p *planner) row(i int) {
	b := &p.m.balls[i]
	mo := p.m.moment(b.at)
	tables := []include{
		incRuns, incBatting, incBowling, incRuns | incScoreboards, incBatting | incBowling,
		incRuns | incScoreboards | incBatting | incBowling,
	}
	torn := func(from time.Time, d time.Duration, other int) {
		if other < 0 || other >= len(p.m.moments) || p.m.moments[other].Begun != p.m.moments[mo].Begun {
			return
		}
		parts := tables[p.pickNumber(len(tables))]
		p.addFault(from, d, func(v *view) {
			if v.Balls == i+1 && v.Begun == p.m.moments[mo].Begun {
				v.torn, v.tornAt = parts, p.m.moments[other]
			}
		})
	}
	if p.chance(25) { // the score is a ball ahead
		lead := p.randomDuration(1, 5)
		torn(p.next(i).Add(-lead), lead, mo+1)
	}
	if p.chance(25) { // or behind
		torn(b.at, p.randomDuration(1, 8), mo-1)
	}
	if p.chance(60) {
		torn(b.at.Add(p.randomDuration(2, 20)), p.randomDuration(2, 12), mo-1-p.pickNumber(6))
	}
}

// order plans balls that are repeated or out of order, and parts that are left out.
func (p *planner) order(i int) {
	b := &p.m.balls[i]
	if p.chance(30) {
		n := 1 + p.pickNumber(2)
		p.addFault(b.at.Add(p.randomDuration(0, 15)), p.randomDuration(2, 15), func(v *view) { v.twice = n })
	}
	if p.chance(20) {
		n := 2 + p.pickNumber(6)
		p.addFault(b.at.Add(p.randomDuration(0, 15)), p.randomDuration(2, 20), func(v *view) { v.shuffle = min(n, v.Balls) })
	}
	if p.chance(60) {
		parts := []include{
			incBalls, incBatting, incBowling, incRuns, incScoreboards, incLineup, incLocal, incVisitor, incLeague | incStage,
			incRuns | incBatting | incBowling | incBalls | incScoreboards,
		}
		part, empty := parts[p.pickNumber(len(parts))], p.chance(2)
		p.addFault(b.at.Add(p.randomDuration(0, 20)), p.randomDuration(2, 9), func(v *view) {
			if empty {
				v.empties |= part
			} else {
				v.lacks |= part
			}
		})
	}
}

// whole plans faults of the whole answer: an older one is repeated, the match is not listed, or its status is wrong.
func (p *planner) whole(i int) {
	b := &p.m.balls[i]
	late := func(from time.Time, d, age time.Duration) {
		p.faults = append(p.faults, feedFault{from: from, to: from.Add(d), since: from.Add(-age)})
	}
	if p.chance(30) {
		late(b.at.Add(p.randomDuration(0, 25)), p.randomDuration(1, 4), p.randomDuration(5, 90))
	}
	if p.chance(150) { // the feed is stuck, then catches up
		late(b.at.Add(p.randomDuration(0, 25)), p.randomDuration(40, 150), p.randomDuration(1, 5))
	}
	if p.chance(100) {
		p.addFault(b.at.Add(p.randomDuration(0, 25)), p.randomDuration(3, 40), func(v *view) { v.absent = true })
	}
	if p.chance(100) {
		p.status(b.at.Add(p.randomDuration(0, 25)), p.randomDuration(1, 9))
	}
	if p.chance(400) {
		p.planFalseEnd(b.at.Add(p.randomDuration(0, 25)), p.randomDuration(2, 20))
	}
	if p.chance(1500) {
		p.planFalseEnd(b.at.Add(p.randomDuration(0, 25)), p.randomDuration(40, 240))
	}
}

// status plans a wrong status.
func (p *planner) status(from time.Time, d time.Duration) {
	words := []string{
		"Int.", "Innings Break", "1st Innings", "2nd Innings", "Weather Watch", "Delayed", "Lunch", "NS", "", "Aban.",
	}
	word := words[p.pickNumber(len(words))]
	p.addFault(from, d, func(v *view) { v.Status = word })
}

// planFalseEnd plans a false end of the match, with or without a winner.
func (p *planner) planFalseEnd(from time.Time, d time.Duration) {
	told := &verdict{winner: p.pickNumber(3) - 1}
	if told.winner >= 0 && p.chance(2) {
		told.note = fmt.Sprintf("%s won by %s", p.m.rec.Teams[told.winner].Name, plural(1+p.pickNumber(90), "run"))
	}
	p.addFault(from, d, func(v *view) {
		v.Status, v.Finished = statusFinished, true
		v.verdict = told
	})
}

// phases plans faults at breaks and before the start.
func (p *planner) phases() {
	for i := 1; i < len(p.m.moments); i++ {
		mo := &p.m.moments[i]
		if mo.Balls != p.m.moments[i-1].Balls || mo.Finished || !mo.Live {
			continue
		}
		if p.chance(3) {
			p.status(mo.At.Add(p.randomDuration(1, 200)), p.randomDuration(1, 60))
		}
		if p.chance(4) {
			p.planFalseEnd(mo.At.Add(p.randomDuration(1, 200)), p.randomDuration(1, 200))
		}
		if p.chance(3) {
			p.outage(mo.At.Add(p.randomDuration(1, 300)))
		}
	}
	if p.chance(2) {
		from := p.m.balls[0].at.Add(-p.randomDuration(1, 50))
		p.addFault(from, p.randomDuration(5, 30), func(v *view) { v.lacks |= incLineup })
	}
}

// ending plans faults at the end of the match: no winner yet, or a wrong one, for minutes.
func (p *planner) ending() {
	end := p.m.End()
	if p.chance(2) {
		p.planFalseEnd(end, p.randomDuration(2, 280))
	}
	if p.chance(3) { // the winner is there, the note is not
		won := &verdict{winner: winner(p.m.rec)}
		p.addFault(end, p.randomDuration(2, 60), func(v *view) {
			if v.Finished {
				v.verdict = won
			}
		})
	}
	if p.chance(4) {
		live := p.m.moments[p.m.moment(end)-1].Status
		p.addFault(end.Add(p.randomDuration(5, 60)), p.randomDuration(2, 60), func(v *view) { v.Status, v.Finished = live, false })
	}
	last := p.m.balls[len(p.m.balls)-1].d
	if firstOut(last) == nil && p.chance(5) {
		i := len(p.m.balls) - 1
		wrong := &recording.Delivery{Batter: last.Batter, NonStriker: last.NonStriker, Bowler: last.Bowler}
		p.addFault(p.m.balls[i].at, p.randomDuration(5, 40), func(v *view) { set(&v.altered, i, wrong) })
	}
}
