package cricket

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// boundaryCooldown is the cooldown that fours and sixes share.
const boundaryCooldown = "boundary"

// mergedIn is the rule that drops an alert because another alert of its tick speaks for it.
const mergedIn = "merged"

// alerts reports whether events of a type alert.
func (o Options) alerts(t EventType) bool {
	r := ruleOf(t)
	if on, chosen := o.Alerts[t]; chosen && (r.alert || r.optional) {
		return on
	}
	return r.alert
}

// alerts reports whether a confirmed candidate alerts unless a rule drops it.
func (r *round) alerts(c *confirmed) bool {
	if c.Type == EventCorrection {
		return corrects(r.challenges[c.Key].fact)
	}
	return !c.Quiet && r.options.alerts(c.Type)
}

// owes reports whether phones must hear of a candidate, even late: a correction, the result, or an event that is true after
// it was withdrawn. Until it is announced its text follows the snapshots, and it is dropped once there is nothing left to
// correct.
func (r *round) owes(c *Candidate) bool {
	return c.Type == EventCorrection || c.Key == resultKey || r.owed[factKey(&c.Event)]
}

// decide turns confirmed candidates into events. The most important one that no rule drops becomes the alert. A
// dropped alert is not delayed: its event is recorded with the name of the rule. What phones are owed stays held
// instead, while another alert takes precedence or the hour is full.
func (r *round) decide(sure []confirmed, held []Pending) (events []Event, later []Pending) {
	sure, later = r.waitForMilestones(sure, held)
	r.leaveToResult(sure)
	best := r.best(sure)
	with := r.announcedWith(sure, best)
	wanted := map[string]bool{}
	for i := range sure {
		c := &sure[i]
		if strings.HasPrefix(c.Key, takeBack) {
			continue
		}
		wants, merges := c.dropped == "" && r.alerts(c), slices.Contains(with, i)
		if wants && i != best && r.owes(&c.Candidate) && !merges {
			if c.Key == resultKey {
				r.state.Result = c.Text
			}
			later = append(later, c.held)
			continue
		}
		if wants && c.full && !merges && (best < 0 || r.owes(&sure[best].Candidate)) {
			c.dropped = "budget"
		}
		e := c.Event
		e.At = r.now
		if r.alerts(c) {
			e.Dropped, wanted[e.Key] = c.dropped, true
		}
		events = append(events, e)
	}
	if best >= 0 {
		i := slices.IndexFunc(events, func(e Event) bool { return e.Key == sure[best].Key })
		r.claim(events, i, r.owes(&sure[best].Candidate), wanted)
	}
	for i := range events {
		if e := &events[i]; e.Type == EventCorrection {
			r.state.Notice = &Notice{Key: e.Key, Text: e.Text, At: r.now}
		}
	}
	return events, later
}

// waitForMilestones keeps a boundary that would alert while a milestone of its batter is held: rows show both at once, but a milestone is
// held for longer, and the two are one alert.
func (r *round) waitForMilestones(sure []confirmed, held []Pending) (now []confirmed, later []Pending) {
	for i := range sure {
		c := &sure[i]
		if innings, batter := hitter(c.Key); batter != 0 && c.dropped == "" && r.alerts(c) && holdsMilestone(held, innings, batter) {
			later = append(later, c.held)
			continue
		}
		now = append(now, *c)
	}
	return now, later
}

// holdsMilestone reports whether a milestone of a batter is held.
func holdsMilestone(held []Pending, innings, batter int64) bool {
	return slices.ContainsFunc(held, func(p Pending) bool {
		family, made := splitKey(p.Key)
		return family == familyMilestone && made[1] == innings && made[2] == batter
	})
}

// longestTogether bounds the length of corrections combined in one alert, in bytes: phones cut longer texts.
const longestTogether = 160

// announcedWith lists what is announced with the candidate at best: further corrections as far as they fit, or the
// wickets and hauls that the alert of a wicket, an innings end or a hat-trick speaks for.
func (r *round) announcedWith(sure []confirmed, best int) (with []int) {
	if best < 0 {
		return nil
	}
	room := longestTogether - len(sure[best].Text)
	for i := range sure {
		c := &sure[i]
		if i == best || c.dropped != "" || !r.alerts(c) || strings.HasPrefix(c.Key, takeBack) {
			continue
		}
		switch kind := sure[best].Type; {
		case c.Type == EventCorrection && kind == EventCorrection:
			if room -= len(andAlso(c.Text)); room >= 0 {
				with = append(with, i)
			}
		case speaksFor(&sure[best].Event, &c.Event):
			with = append(with, i)
		}
	}
	return with
}

// leaveToResult drops the end of the innings that decides the match: the result follows within seconds. It stays
// if the innings ended with a wicket, short of the target, because it speaks for the wicket.
func (r *round) leaveToResult(sure []confirmed) {
	fell := slices.ContainsFunc(sure, func(c confirmed) bool {
		return c.Type == EventWicket && c.dropped == "" && r.alerts(&c)
	})
	for i := range sure {
		c := &sure[i]
		if c.Type == EventInningsEnd && c.dropped == "" && !r.owes(&c.Candidate) && r.snap.decides(c.Innings) && (!fell || c.Detail == string(CauseTarget)) {
			c.dropped = mergedIn
		}
	}
}

// best returns the index of the most important candidate that no rule drops, -1 if there is none. It marks those that a cooldown drops.
func (r *round) best(sure []confirmed) int {
	best := -1
	for i := range sure {
		c := &sure[i]
		if strings.HasPrefix(c.Key, takeBack) || !r.alerts(c) || c.dropped != "" {
			continue
		}
		owed := r.owes(&c.Candidate)
		if !owed && ruleOf(c.Type).priority > 1 && r.state.cooling(c.Type, r.now) {
			c.dropped = "cooldown"
			continue
		}
		if c.full = !r.room(c, owed); c.full {
			continue
		}
		if best < 0 || !moreTelling(sure[best].Type, c.Type) {
			best = i
		}
	}
	return best
}

// moreTelling orders two events of one tick by priority. Of equals the later one is announced, except that an
// innings end includes its wicket, and the first of two corrections goes first.
func moreTelling(a, b EventType) bool {
	pa, pb := ruleOf(a).priority, ruleOf(b).priority
	if pa != pb {
		return pa < pb
	}
	return a == EventInningsEnd || a == EventCorrection
}

// claim makes events[best] the alert of the tick, and merges the others into it.
func (r *round) claim(events []Event, best int, owed bool, wanted map[string]bool) {
	e := &events[best]
	r.merge(events, best, wanted)
	e.Alert, e.Owed = true, owed
	r.told[e.Key] = true
	r.state.AlertTimes = append(slices.Clone(r.state.AlertTimes), r.now.UnixMilli())
	r.state.LastAlert = e.Key
	r.state.cool(e.Type, r.now)
}

// merge marks the other would-be alerts of the tick as merged. The text of the alert includes wickets, the hauls
// they complete, milestones, and corrections.
func (r *round) merge(events []Event, best int, wanted map[string]bool) {
	e := &events[best]
	var words tickWords
	for i := range events {
		other := &events[i]
		if i == best {
			words.addFeat(e)
			continue
		}
		if other.Dropped != "" || !wanted[other.Key] {
			continue
		}
		other.Dropped = mergedIn
		words.addFeat(other)
		if r.told[other.Key] = r.told[other.Key] || tells(e, other); r.told[other.Key] {
			words.addRest(other)
		}
	}
	e.Text = words.text(e)
}

// tells reports whether an alert that another event of its tick is merged into says that event.
func tells(alert, other *Event) bool {
	return other.Type == EventCorrection || speaksFor(alert, other) || other.Type == EventTargetRevised && saysTarget(alert, other)
}

// saysTarget reports whether the text of an innings end has the target of a revision: "ALP 77/4 (10). BET need 88 off 10".
func saysTarget(e, revision *Event) bool {
	target, overs, _ := strings.Cut(strings.TrimPrefix(revision.Key, revisedPrefix), ":")
	need := " need " + target
	if overs != "" {
		need += " off " + overs
	}
	return e.Type == EventInningsEnd && target != "0" && strings.HasSuffix(e.Text, need)
}

// Alerts per match in a running hour. A phone has a budget of its own, and would drop the wrong ones.
const (
	usualAlerts = 8  // any kind
	finerAlerts = 10 // priority 1 and 2
	firstAlerts = 12 // priority 1; the limit for news
	mostAlerts  = 15 // including corrections and the result; the last place is for the result or its correction
)

// room reports whether the running hour has room for an alert.
func (r *round) room(c *confirmed, owed bool) bool {
	r.state.forgetAlerts(r.now)
	n, priority := len(r.state.AlertTimes), ruleOf(c.Type).priority
	switch {
	case c.Key == resultKey || c.Detail == resultKey:
		return n < mostAlerts
	case owed:
		return n < mostAlerts-1
	case n < usualAlerts:
		return true
	case n < finerAlerts:
		return priority <= 2
	default:
		return n < firstAlerts && priority == 1
	}
}

// forgetAlerts drops alert times older than an hour.
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
