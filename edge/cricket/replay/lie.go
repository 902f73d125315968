package replay

import (
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// liar plays a match with the faults of a real feed, and worse. Its answers are a function of the instant: all faults
// are planned when it is made.
type liar struct {
	m        *Match
	lies     []lie
	troubles []trouble
	stamps   []time.Time // updated_at of each ball in the end
	edges    []time.Time // where what is told changes, but for the moments
}

// lie is something untrue that is told for a while.
type lie struct {
	from, to time.Time
	tell     func(v *view)
	since    time.Time // all is told as it was at this instant; zero: this lie is of another kind
}

func (l *lie) at(t time.Time) bool { return !t.Before(l.from) && t.Before(l.to) }

func newLiar(m *Match, seed uint64) *liar {
	l := &liar{m: m, stamps: make([]time.Time, len(m.balls))}
	for i := range m.balls {
		l.stamps[i] = m.balls[i].at
	}
	p := &planner{liar: l, random: noise(seed ^ uint64(m.id)<<20)}
	p.plan()
	for i := range l.lies {
		l.edges = append(l.edges, l.lies[i].from, l.lies[i].to)
	}
	slices.SortFunc(l.edges, time.Time.Compare)
	slices.SortStableFunc(l.lies, func(a, b lie) int { return a.from.Compare(b.from) })
	return l
}

// longestLie bounds how long a lie is told, so that those of an instant are found quickly.
const longestLie = 10 * time.Minute

// told calls f with each lie of an instant, in the order they began.
func (l *liar) told(at time.Time, f func(*lie)) {
	first := sort.Search(len(l.lies), func(i int) bool { return l.lies[i].from.After(at.Add(-longestLie)) })
	for i := first; i < len(l.lies) && !l.lies[i].from.After(at); i++ {
		if l.lies[i].at(at) {
			f(&l.lies[i])
		}
	}
}

// view is what is told at an instant; the tag stays while it does.
func (l *liar) view(at time.Time) (v *view, tag string) {
	told := at
	l.told(at, func(one *lie) {
		if !one.since.IsZero() && one.since.Before(told) {
			told = one.since
		}
	})
	i := l.m.moment(told)
	v = &view{Moment: l.m.moments[i], stamps: l.stamps}
	l.told(told, func(one *lie) {
		if one.tell != nil {
			one.tell(v)
		}
	})
	edge := sort.Search(len(l.edges), func(i int) bool { return l.edges[i].After(told) })
	return v, strconv.Itoa(i) + "." + strconv.Itoa(edge)
}

// set puts a value into a map that may not be there yet.
func set[V any](m *map[int]V, k int, v V) {
	if *m == nil {
		*m = map[int]V{}
	}
	(*m)[k] = v
}

// otherwise is a ball as a scorer in a hurry posts it: a four for five wides, a six for a four, a wicket for none or
// another batter's, a run too many, a wicket that was none.
func otherwise(d *recording.Delivery, r *noise) *recording.Delivery {
	out := *d
	if w := firstOut(d); w != nil {
		if r.next()%3 == 0 { // the other batter
			other := d.NonStriker
			if w.Out == d.NonStriker {
				other = d.Batter
			}
			out.Wickets = []recording.Wicket{{Kind: recording.RunOut, Out: other}}
			return &out
		}
		out.Wickets = nil
		return &out
	}
	switch {
	case d.Bat == 4 && r.next()%2 == 0:
		out.Bat, out.Run, out.NoBalls, out.Wides = 0, false, 0, 5
	case d.Bat == 6:
		out.Bat = 4
	case d.Wides == 0 && d.NoBalls == 0 && r.next()%3 == 0:
		out.Bat, out.Byes, out.LegByes, out.Wickets = 0, 0, 0, []recording.Wicket{{Kind: recording.Bowled, Out: d.Batter}}
	case d.Wides > 0 || d.Byes > 0 || d.LegByes > 0:
		out.Wides, out.Byes, out.LegByes, out.Bat = 0, 0, 0, 1
	default:
		out.Bat, out.Run = (d.Bat+1)%5, false
	}
	return &out
}
