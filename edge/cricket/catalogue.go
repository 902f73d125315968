package cricket

import "time"

// rule is a line of the event catalogue: how telling an event is, and whether phones are told.
type rule struct {
	priority int           // 1 is highest
	alert    bool          // by default
	cooldown time.Duration // per match and type, after an alert
}

// ruleOf is the event catalogue. Boundaries never alert by default: at 60 of them a match, priority is what keeps
// a phone quiet, not a cooldown.
func ruleOf(t EventType) rule {
	switch t {
	case EventResult, EventTie, EventDraw, EventNoResult, EventSuperOver, EventHatTrick:
		return rule{priority: 1, alert: true}
	case EventWicket, EventInningsEnd, EventHundred, EventHundred50, EventTwoHundred, Event250, Event300:
		return rule{priority: 2, alert: true}
	case EventFifty:
		return rule{priority: 3, alert: true, cooldown: 30 * time.Second}
	case EventFiveFor, EventTenFor:
		return rule{priority: 3, alert: true}
	case EventMatchStart, EventStumps:
		return rule{priority: 4, alert: true}
	case EventConsecutiveSixes:
		return rule{priority: 4, alert: true, cooldown: 2 * time.Minute}
	case EventSix:
		return rule{priority: 5}
	case EventMaiden:
		return rule{priority: 7}
	default:
		return rule{priority: 6}
	}
}

// wireType is the name of an event in keyEvent.type, where Sightscreen's clients know an older one.
func wireType(t EventType) string {
	switch t {
	case EventResult, EventTie, EventDraw, EventNoResult:
		return "match_end"
	case EventHatTrick:
		return "hattrick"
	default:
		return string(t)
	}
}

// milestone is a score of a batter that counts.
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
