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

// decide makes events of what is sure, and at most one alert among them: the most telling that no rule drops. A
// dropped alert is not delayed; the event is recorded with the rule's name.
func (st *State) decide(sure []confirmed, now time.Time) []Event {
	events := make([]Event, 0, len(sure))
	best := -1
	for i := range sure {
		e := sure[i].Event
		e.At = now
		e.Dropped = sure[i].dropped
		r := ruleOf(e.Type)
		switch {
		case !r.alert:
			e.Dropped = ""
		case e.Dropped == "" && r.priority > 1 && st.cooling(e.Type, now):
			e.Dropped = "cooldown"
		}
		if r.alert && e.Dropped == "" && (best < 0 || !moreTelling(events[best].Type, e.Type)) {
			best = i
		}
		events = append(events, e)
	}
	if best >= 0 {
		st.claim(events, best, now)
	}
	return events
}

// moreTelling orders two events of one tick; of equals the later one is told, but an innings end tells the wicket
// that made it.
func moreTelling(a, b EventType) bool {
	pa, pb := ruleOf(a).priority, ruleOf(b).priority
	if pa != pb {
		return pa < pb
	}
	return a == EventInningsEnd
}

// claim makes events[best] the alert of the tick if the budget allows, and merges the others into it.
func (st *State) claim(events []Event, best int, now time.Time) {
	st.forgetAlerts(now)
	e := &events[best]
	if !withinBudget(len(st.AlertTimes), e.Type) {
		for i := range events {
			if events[i].Dropped == "" && ruleOf(events[i].Type).alert {
				events[i].Dropped = "budget"
			}
		}
		return
	}
	merge(events, best)
	e.Alert = true
	st.AlertTimes = append(slices.Clone(st.AlertTimes), now.UnixMilli())
	st.cool(e.Type, now)
}

// merge has the alert speak for the other events of its tick that would have been one.
func merge(events []Event, best int) {
	e, wickets := &events[best], 1
	for i := range events {
		other := &events[i]
		if i == best || other.Dropped != "" || !ruleOf(other.Type).alert {
			continue
		}
		other.Dropped = "merged"
		if other.Type != EventWicket {
			continue
		}
		wickets++
		if e.Type == EventInningsEnd {
			wicket, _, _ := strings.Cut(other.Text, " · ")
			e.Text = wicket + ". " + e.Text
		}
	}
	if e.Type == EventWicket && wickets > 1 {
		e.Text = fmt.Sprintf("%d wickets! %s", wickets, strings.TrimPrefix(e.Text, "WICKET! "))
	}
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
