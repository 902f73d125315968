package replay

import (
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// faultyFeed plays a match with the faults of a real feed, and worse ones. All faults are planned when it is
// created, so its answers are a function of time.
type faultyFeed struct {
	m       *Match
	faults  []feedFault
	outages []outage
	stamps  []time.Time // final updated_at of each ball
	ids     []int64     // final id of each ball
	edges   []time.Time // times, besides the moments, at which the answers change
}

// feedFault is a temporary fault of the feed: a four that was really five wides, shown for six seconds.
type feedFault struct {
	from, to time.Time
	tell     func(v *view)
	since    time.Time // the feed is stuck at this time; zero: the fault is of another kind
}

func (l *feedFault) isActive(t time.Time) bool { return !t.Before(l.from) && t.Before(l.to) }

func newFaultyFeed(m *Match, seed uint64) *faultyFeed {
	l := &faultyFeed{m: m, stamps: make([]time.Time, len(m.balls))}
	for i := range m.balls {
		l.stamps[i] = m.balls[i].at
	}
	p := &planner{faultyFeed: l, random: noise(seed ^ uint64(m.id)<<20)}
	p.plan()
	l.identities(seed)
	for i := range l.faults {
		l.edges = append(l.edges, l.faults[i].from, l.faults[i].to)
	}
	slices.SortFunc(l.edges, time.Time.Compare)
	slices.SortStableFunc(l.faults, func(a, b feedFault) int { return a.from.Compare(b.from) })
	return l
}

// longestFault bounds the length of a fault, so that those at a given time are found quickly.
const longestFault = 10 * time.Minute

// active calls f with each fault active at a time, in the order they began.
func (l *faultyFeed) active(at time.Time, f func(*feedFault)) {
	first := sort.Search(len(l.faults), func(i int) bool { return l.faults[i].from.After(at.Add(-longestFault)) })
	for i := first; i < len(l.faults) && !l.faults[i].from.After(at); i++ {
		if l.faults[i].isActive(at) {
			f(&l.faults[i])
		}
	}
}

// view returns what the feed shows at a time; tag stays the same while that does.
func (l *faultyFeed) view(at time.Time) (v *view, tag string) {
	shown := at
	l.active(at, func(one *feedFault) {
		if !one.since.IsZero() && one.since.Before(shown) {
			shown = one.since
		}
	})
	i := l.m.moment(shown)
	v = &view{Moment: l.m.moments[i], stamps: l.stamps, numbers: l.ids}
	l.active(shown, func(one *feedFault) {
		if one.tell != nil {
			one.tell(v)
		}
	})
	edge := sort.Search(len(l.edges), func(i int) bool { return l.edges[i].After(shown) })
	return v, strconv.Itoa(i) + "." + strconv.Itoa(edge)
}

// set stores a value in a map, which it creates if necessary.
func set[V any](m *map[int]V, k int, v V) {
	if *m == nil {
		*m = map[int]V{}
	}
	(*m)[k] = v
}

// otherwise returns a ball as a scorer in a hurry might post it: a four for five wides, a six for a four, a
// wicket for none or another batter's, a run too many, or a wicket that did not fall.
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
