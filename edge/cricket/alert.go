package cricket

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// boundaryCooldown is one key for fours and sixes: they share a cooldown.
const boundaryCooldown = "boundary"

// mergedIn is the rule that drops an alert because another of its tick is told instead.
const mergedIn = "merged"

// alerts tells whether phones are told of events of a type.
func (o Options) alerts(t EventType) bool {
	r := ruleOf(t)
	if on, chosen := o.Alerts[t]; chosen && (r.alert || r.optional) {
		return on
	}
	return r.alert
}

// alerts tells whether phones are to be told of a candidate that is sure, if no rule drops it.
func (r *round) alerts(c *confirmed) bool {
	if c.Type == EventCorrection {
		return corrects(r.challenges[c.Key].fact)
	}
	return !c.Quiet && r.options.alerts(c.Type)
}

// decide makes events of what is sure, and at most one alert among them: the most telling that no rule drops. A
// dropped alert is not delayed; the event is recorded with the rule's name. Only a correction that another alert is
// before is held on, and a result for which the hour has no room (a third one, of a feed that took back two): they have
// to be said, later is how.
func (r *round) decide(sure []confirmed) (events []Event, later []Pending) {
	r.leaveToResult(sure)
	best := r.best(sure)
	full := best >= 0 && !r.room(&sure[best])
	wanted := map[string]bool{}
	for i := range sure {
		c := &sure[i]
		if strings.HasPrefix(c.Key, takeBack) {
			continue
		}
		wants := c.dropped == "" && r.alerts(c)
		switch {
		case full && c.Key == resultKey && wants:
			r.state.Result = c.Text
			later = append(later, c.held)
			continue
		case !full && c.Type == EventCorrection && wants && i != best:
			later = append(later, c.held)
			continue
		case full && wants:
			c.dropped = "budget"
		}
		e := c.Event
		e.At = r.now
		if r.alerts(c) {
			e.Dropped, wanted[e.Key] = c.dropped, true
		}
		events = append(events, e)
	}
	if best >= 0 && !full {
		r.claim(events, slices.IndexFunc(events, func(e Event) bool { return e.Key == sure[best].Key }), wanted)
	}
	for i := range events {
		if e := &events[i]; e.Type == EventCorrection {
			r.state.Notice = &Notice{Key: e.Key, Text: e.Text, At: r.now}
		}
	}
	return events, later
}

// leaveToResult drops the end of the innings that decides the match: the result tells it, within seconds. One that takes
// a wicket speaks for that.
func (r *round) leaveToResult(sure []confirmed) {
	fell := slices.ContainsFunc(sure, func(c confirmed) bool {
		return c.Type == EventWicket && c.dropped == "" && r.alerts(&c)
	})
	for i := range sure {
		c := &sure[i]
		if c.Type == EventInningsEnd && c.dropped == "" && r.snap.decides(c.Innings) && (!fell || c.Detail == string(CauseTarget)) {
			c.dropped = mergedIn
		}
	}
}

// best is the index of the most telling that no rule drops, -1 where there is none. It names the rule for those in a
// cooldown.
func (r *round) best(sure []confirmed) int {
	best := -1
	for i := range sure {
		c := &sure[i]
		if strings.HasPrefix(c.Key, takeBack) || !r.alerts(c) || c.dropped != "" {
			continue
		}
		if ruleOf(c.Type).priority > 1 && r.state.cooling(c.Type, r.now) {
			c.dropped = "cooldown"
			continue
		}
		if best < 0 || !moreTelling(sure[best].Type, c.Type) {
			best = i
		}
	}
	return best
}

// moreTelling orders two events of one tick; of equals the later one is told, but an innings end tells the wicket
// that made it, and the first of two corrections goes first.
func moreTelling(a, b EventType) bool {
	pa, pb := ruleOf(a).priority, ruleOf(b).priority
	if pa != pb {
		return pa < pb
	}
	return a == EventInningsEnd || a == EventCorrection
}

// claim makes events[best] the alert of the tick, and merges the others into it.
func (r *round) claim(events []Event, best int, wanted map[string]bool) {
	e := &events[best]
	r.merge(events, best, wanted)
	e.Alert = true
	r.told[e.Key] = true
	r.state.AlertTimes = append(slices.Clone(r.state.AlertTimes), r.now.UnixMilli())
	r.state.cool(e.Type, r.now)
}

// merge has the alert speak for the other events of its tick that would have been one.
func (r *round) merge(events []Event, best int, wanted map[string]bool) {
	e, wickets := &events[best], 1
	for i := range events {
		other := &events[i]
		if i == best || other.Dropped != "" || !wanted[other.Key] {
			continue
		}
		other.Dropped = mergedIn
		if other.Type != EventWicket {
			continue
		}
		switch e.Type {
		case EventInningsEnd:
			wicket, _, _ := strings.Cut(other.Text, " · ")
			e.Text = wicket + ". " + e.Text
			r.told[other.Key] = true
		case EventWicket:
			wickets++
			r.told[other.Key] = true
		case EventHatTrick:
			r.told[other.Key] = true
		default:
		}
	}
	if wickets > 1 {
		e.Text = fmt.Sprintf("%d wickets! %s", wickets, strings.TrimPrefix(e.Text, "WICKET! "))
	}
}

// room tells whether the running hour has room for an alert.
func (r *round) room(c *confirmed) bool {
	r.state.forgetAlerts(r.now)
	return withinBudget(len(r.state.AlertTimes), budgeted(c.Type, c.Detail))
}

// budgeted is the type that an alert counts as: the correction of a result weighs as much as a wicket.
func budgeted(t EventType, detail string) EventType {
	if t == EventCorrection && detail == resultKey {
		return EventWicket
	}
	return t
}

// withinBudget limits the alerts of a match in a running hour: a phone has a budget of its own, and what it drops
// would be the wrong ones.
func withinBudget(alerts int, t EventType) bool {
	priority := ruleOf(t).priority
	switch {
	case alerts < 8:
		return true
	case alerts < 10:
		return priority <= 2
	case alerts == 10:
		return priority == 1
	default:
		return alerts == 11 && tellsState(t) && t != EventSuperOver
	}
}

// forgetAlerts drops what is older than the running hour.
func (st *State) forgetAlerts(now time.Time) {
	hour := now.Add(-time.Hour).UnixMilli()
	st.AlertTimes = slices.DeleteFunc(slices.Clone(st.AlertTimes), func(at int64) bool { return at <= hour })
}

func cooldownKey(t EventType) string {
	if t == EventFour || t == EventSix {
		return boundaryCooldown
	}
	return string(t)
}

func (st *State) cooling(t EventType, now time.Time) bool {
	return st.Cooldowns[cooldownKey(t)] > now.UnixMilli()
}

func (st *State) cool(t EventType, now time.Time) {
	d := ruleOf(t).cooldown
	if d == 0 {
		return
	}
	cooldowns := maps.Clone(st.Cooldowns)
	if cooldowns == nil {
		cooldowns = map[string]int64{}
	}
	maps.DeleteFunc(cooldowns, func(_ string, until int64) bool { return until <= now.UnixMilli() })
	cooldowns[cooldownKey(t)] = now.Add(d).UnixMilli()
	st.Cooldowns = cooldowns
}
