package cricket

import (
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
	merged := 0
	for i := range events {
		e := &events[i]
		if i == best || e.Dropped != "" || !ruleOf(e.Type).alert {
			continue
		}
		e.Dropped = "merged"
		if e.Type == EventWicket {
			merged++
			if events[best].Type == EventInningsEnd {
				wicket, _, _ := strings.Cut(e.Text, " · ")
				events[best].Text = wicket + ". " + events[best].Text
			}
		}
	}
	e := &events[best]
	if e.Type == EventWicket && merged > 0 {
		e.Text = "2 wickets! " + strings.TrimPrefix(e.Text, "WICKET! ")
	}
	st.forgetAlerts(now)
	if !withinBudget(len(st.AlertTimes), e.Type) {
		e.Dropped = "budget"
		return
	}
	e.Alert = true
	st.AlertTimes = append(slices.Clone(st.AlertTimes), now.UnixMilli())
	st.cool(e.Type, now)
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
