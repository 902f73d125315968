package cricket

import "time"

// rule is an entry of the event catalogue.
type rule struct {
	priority int           // 1 is highest
	alert    bool          // by default
	optional bool          // no alert unless it is switched on
	cooldown time.Duration // per match and type, after an alert
	lasting  bool          // must stay true of the record once recorded, or a correction follows
}

// The cooldowns of the catalogue.
const (
	fiftyCooldown     = 30 * time.Second
	batsmanCooldown   = 30 * time.Second
	boundaryWait      = time.Minute // fours and sixes share it
	sixesCooldown     = 2 * time.Minute
	fireCooldown      = 10 * time.Minute
	interruptCooldown = 10 * time.Minute
)

// ruleOf is the event catalogue. Boundaries do not alert by default: there are about 60 in a match, and only
// their priority keeps a phone quiet, not a cooldown.
func ruleOf(t EventType) rule {
	if r, ok := ruleOfPlay(t); ok {
		return r
	}
	switch t {
	case EventResult, EventTie, EventDraw, EventNoResult, EventAbandoned, EventSuperOver:
		return rule{priority: 1, alert: true, lasting: true}
	case EventInningsEnd:
		return rule{priority: 2, alert: true, lasting: true}
	case EventTargetRevised:
		return rule{priority: 2, alert: true, lasting: true}
	case EventDelayed: // like stumps and interruptions it may be withdrawn and happen again
		return rule{priority: 2, alert: true, cooldown: interruptCooldown}
	case EventPostponed, EventCancelled:
		return rule{priority: 2, alert: true}
	case EventFollowOn:
		return rule{priority: 3, alert: true, lasting: true}
	case EventCorrection: // whether it alerts depends on what was announced
		return rule{priority: 3}
	case EventDeclared: // the innings end announces it
		return rule{priority: 3, lasting: true}
	case EventMatchStart:
		return rule{priority: 4, alert: true}
	case EventChaseClose:
		return rule{priority: 4, alert: true, lasting: true}
	case EventInterrupted, EventStumps:
		return rule{priority: 4, alert: true, cooldown: interruptCooldown}
	case EventResumed:
		return rule{priority: 4, cooldown: interruptCooldown}
	case EventToss:
		return rule{priority: 5, optional: true, lasting: true}
	case EventDrinks, EventLunch, EventTea, EventDinner:
		return rule{priority: 5}
	case EventPowerplayEnd:
		return rule{priority: 7}
	case EventPlayerOfMatch:
		return rule{priority: 7, lasting: true}
	default: // including EventLineup
		return rule{priority: 6}
	}
}

// ruleOfPlay is the part of the catalogue for events made by balls.
func ruleOfPlay(t EventType) (rule, bool) {
	switch t {
	case EventHatTrick:
		return rule{priority: 1, alert: true, lasting: true}, true
	case EventWicket, EventHundred, EventHundred50, EventTwoHundred, Event250, Event300:
		return rule{priority: 2, alert: true, lasting: true}, true
	case EventFifty:
		return rule{priority: 3, alert: true, cooldown: fiftyCooldown, lasting: true}, true
	case EventFiveFor, EventTenFor:
		return rule{priority: 3, alert: true, lasting: true}, true
	case EventConsecutiveSixes:
		return rule{priority: 4, alert: true, cooldown: sixesCooldown, lasting: true}, true
	case EventOnHatTrick:
		return rule{priority: 4, optional: true}, true
	case EventSix:
		return rule{priority: 5, optional: true, cooldown: boundaryWait}, true
	case EventFour:
		return rule{priority: 6, optional: true, cooldown: boundaryWait}, true
	case EventTeamMilestone:
		return rule{priority: 6, optional: true}, true
	case EventPartnership:
		return rule{priority: 6}, true
	case EventBowlerOnFire, EventBatsmanOnFire:
		return rule{priority: 6, cooldown: fireCooldown}, true
	case EventNewBatsman:
		return rule{priority: 7, cooldown: batsmanCooldown}, true
	case EventNineties, EventOverEnd, EventMaiden:
		return rule{priority: 7}, true
	default:
		return rule{}, false
	}
}

// WireType returns an event's name in keyEvent.type: Sightscreen's older name if it has one.
func WireType(t EventType) string {
	switch t {
	case EventResult, EventTie, EventDraw, EventNoResult, EventAbandoned:
		return "match_end"
	case EventHatTrick:
		return "hattrick"
	case EventOnHatTrick:
		return "on_hattrick"
	case EventNineties:
		return "batsman_on_90s"
	default:
		return string(t)
	}
}

// milestone is a batter's score worth an event.
type milestone struct {
	runs int
	kind EventType
	word string
}

// milestones in ascending order.
func milestones() []milestone {
	return []milestone{
		{50, EventFifty, "FIFTY"},
		{100, EventHundred, "HUNDRED"},
		{150, EventHundred50, "150"},
		{200, EventTwoHundred, "DOUBLE HUNDRED"},
		{250, Event250, "250"},
		{300, Event300, "TRIPLE HUNDRED"},
	}
}
