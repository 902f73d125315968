package replay

import (
	"time"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// view is what one answer shows of a match: its state at a moment and, for a feed with faults, the deviations
// from it. Without deviations it is the truth.
type view struct {
	Moment
	stamps  []time.Time                 // updated_at of each ball if balls are revised; nil: when it was bowled
	numbers []int64                     // final id of each ball if ids change; nil: the first ones
	ids     map[int]int64               // ids that change later
	altered map[int]*recording.Delivery // wrong balls, in score lines and rows too
	only    map[int]*recording.Delivery // the same, but only in the balls
	phantom *ball                       // shown after the last ball, though never bowled
	torn    include                     // tables from another moment
	tornAt  Moment
	verdict *verdict // the result shown for a finished match; nil: the true one
	lacks   include  // missing includes
	empties include  // includes that are empty arrays
	missing map[int]bool
	twice   int  // how often the last ball is repeated
	shuffle int  // number of balls at the end that are out of order
	absent  bool // not in the live list
}

// verdict is the result shown for a match.
type verdict struct {
	winner int // index of the side, -1 for none
	note   string
}

// stamp returns the updated_at of a ball.
func (v *view) stamp(m *Match, i int) time.Time {
	if v.stamps == nil || v.altered[i] != nil || v.only[i] != nil {
		return m.balls[i].at
	}
	return v.stamps[i]
}

// ball returns ball i as score lines and rows show it.
func (v *view) ball(m *Match, i int) ball {
	b := m.balls[i]
	b.at = v.stamp(m, i)
	if v.numbers != nil {
		b.id = v.numbers[i]
	}
	if id, earlier := v.ids[i]; earlier {
		b.id = id
	}
	if d := v.altered[i]; d != nil {
		b.d = d
	}
	return b
}

// withMoment returns the view with the tables of another moment.
func (v *view) withMoment(mo Moment) *view {
	other := *v
	other.Moment = mo
	return &other
}

// tail returns how many balls from the first on are shown unchanged, and what follows them.
func (v *view) tail(m *Match) (prefix int, tail []ball) {
	prefix = v.Balls
	for _, set := range []map[int]*recording.Delivery{v.altered, v.only} {
		for i := range set {
			prefix = min(prefix, i)
		}
	}
	for i := range v.missing {
		prefix = min(prefix, i)
	}
	for i := range v.ids {
		prefix = min(prefix, i)
	}
	if v.twice > 0 || v.shuffle > 0 {
		prefix = min(prefix, v.Balls-max(v.shuffle, 1))
	}
	prefix = max(prefix, 0)
	for i := prefix; i < v.Balls; i++ {
		if v.missing[i] {
			continue
		}
		b := v.ball(m, i)
		if d := v.only[i]; d != nil {
			b.d = d
		}
		tail = append(tail, b)
	}
	if v.phantom != nil {
		tail = append(tail, *v.phantom)
	}
	for range v.twice {
		if len(tail) > 0 {
			tail = append(tail, tail[len(tail)-1])
		}
	}
	if n := len(tail); v.shuffle > 0 && n > 1 {
		for i := range n / 2 { // any order but the right one
			tail[i], tail[n-1-i] = tail[n-1-i], tail[i]
		}
	}
	return prefix, tail
}
