package replay

import "time"

// A feed numbers balls anew, deletes one and enters it again after the others, and moves the ids of an over along by one. What it
// says in the end is the same match under other ids.

// lasts bounds how long a ball keeps its first id, with what the fault itself takes.
const lasts = longestFault - time.Minute

// newIDs gives balls other ids for good. They are shown under their first ones until the feed changes its mind.
type newIDs struct {
	*planner
	next int64 // above all first ids
}

// identities plans the balls whose ids change. Its random numbers are its own, so that the other faults of a seed stay as they are.
func (l *faultyFeed) identities(seed uint64) {
	l.ids = make([]int64, len(l.m.balls))
	for i := range l.m.balls {
		l.ids[i] = l.m.balls[i].id
	}
	n := newIDs{&planner{faultyFeed: l, random: noise(seed ^ uint64(l.m.id)<<20 ^ 0x1d5)}, l.ids[len(l.ids)-1] + 1000}
	for i := range l.m.balls {
		at := l.m.balls[i].at.Add(n.randomDuration(2, 25))
		switch {
		case n.chance(60):
			n.renumber(i, 1+n.pickNumber(8), at)
		case n.chance(60):
			n.again(max(0, i-n.pickNumber(8)), at)
		case l.m.balls[i].last && n.chance(12):
			n.shiftOver(i, at)
		}
	}
}

// free reports whether balls still have their first ids, belong to one innings and were bowled recently. Of two wides before one ball
// only the ids tell which came first, so both change or none.
func (n *newIDs) free(from, to int, at time.Time) bool {
	if to+1 < len(n.m.balls) && n.m.balls[to].label == n.m.balls[to+1].label && !n.m.balls[to+1].d.Legal() {
		return false
	}
	if from < 0 || at.Sub(n.m.balls[from].at) > lasts || n.m.balls[from].innings != n.m.balls[to].innings {
		return false
	}
	for i := from; i <= to; i++ {
		if n.ids[i] != n.m.balls[i].id {
			return false
		}
	}
	return true
}

// change gives a ball an id from a time on.
func (n *newIDs) change(i int, id int64, at time.Time) {
	b := &n.m.balls[i]
	n.ids[i] = id
	n.addFault(b.at, at.Sub(b.at), func(v *view) { set(&v.ids, i, b.id) })
}

// renumber plans other ids for the last balls up to ball i.
func (n *newIDs) renumber(i, balls int, at time.Time) {
	if from := i - balls + 1; n.free(from, i, at) {
		for j := from; j <= i; j++ {
			n.change(j, n.next, at)
			n.next += 1 + int64(n.pickNumber(5))
		}
	}
}

// again plans a ball that is deleted, and entered again after those bowled since.
func (n *newIDs) again(i int, at time.Time) {
	if n.free(i, i, at) && at.After(n.m.balls[i].at) {
		d := n.randomDuration(2, 20)
		n.addFault(at, d, func(v *view) { set(&v.missing, i, true) })
		n.change(i, n.next, at)
		n.next += 1 + int64(n.pickNumber(5))
	}
}

// shiftOver plans an over whose balls take each the id of the next one.
func (n *newIDs) shiftOver(last int, at time.Time) {
	from := last
	for from > 0 && n.m.balls[from-1].over == n.m.balls[last].over && n.m.balls[from-1].innings == n.m.balls[last].innings {
		from--
	}
	if n.free(from, last, at) {
		for j := from; j < last; j++ {
			n.change(j, n.m.balls[j+1].id, at)
		}
		n.change(last, n.next, at)
		n.next += 1 + int64(n.pickNumber(5))
	}
}
