package replay

import (
	"time"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// view is what one answer tells of a match: how it stands at a moment, and, of a feed with faults, what is told
// otherwise. The zero value but for the moment is the truth.
type view struct {
	Moment
	stamps  []time.Time                 // updated_at of each ball where balls are revised; nil: when they were bowled
	altered map[int]*recording.Delivery // balls that are told wrong, in score lines and rows too
	only    map[int]*recording.Delivery // the same, in the balls alone
	phantom *ball                       // posted after the last ball, though never bowled
	torn    include                     // tables that tell of another moment
	tornAt  Moment
	verdict *verdict // of a match that is told to be finished; nil: the true one
	lacks   include  // includes that are left out
	empties include  // includes that come as empty arrays
	missing map[int]bool
	twice   int  // the last ball is there so many times more
	shuffle int  // so many balls at the end are in another order
	absent  bool // the live list does not have the match
}

// verdict is how a match is told to have ended.
type verdict struct {
	winner int // index of the side, -1 nobody
	note   string
}

// stamp is the updated_at of a ball.
func (v *view) stamp(m *Match, i int) time.Time {
	if v.stamps == nil || v.altered[i] != nil || v.only[i] != nil {
		return m.balls[i].at
	}
	return v.stamps[i]
}

// ball is the i-th ball as score lines and rows have it.
func (v *view) ball(m *Match, i int) ball {
	b := m.balls[i]
	b.at = v.stamp(m, i)
	if d := v.altered[i]; d != nil {
		b.d = d
	}
	return b
}

// at is the same view with the tables of another moment.
func (v *view) at(mo Moment) *view {
	other := *v
	other.Moment = mo
	return &other
}

// tail returns how many balls from the first on are told as they were, and what comes after them.
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
		for i := range n / 2 { // any order but the true one
			tail[i], tail[n-1-i] = tail[n-1-i], tail[i]
		}
	}
	return prefix, tail
}
