package cricket

import "time"

// EventType names what happened; the names are the event catalogue's.
type EventType string

// The events this node finds.
const (
	EventMatchStart       EventType = "match_start"
	EventWicket           EventType = "wicket"
	EventFour             EventType = "four"
	EventSix              EventType = "six"
	EventFifty            EventType = "fifty"
	EventHundred          EventType = "hundred"
	EventHundred50        EventType = "hundred_fifty"
	EventTwoHundred       EventType = "two_hundred"
	Event250              EventType = "two_hundred_fifty"
	Event300              EventType = "three_hundred"
	EventFiveFor          EventType = "five_for"
	EventTenFor           EventType = "ten_for"
	EventHatTrick         EventType = "hat_trick"
	EventConsecutiveSixes EventType = "consecutive_sixes"
	EventMaiden           EventType = "maiden"
	EventInningsEnd       EventType = "innings_end"
	EventSuperOver        EventType = "super_over_start"
	EventStumps           EventType = "stumps"
	EventResult           EventType = "result"
	EventTie              EventType = "tie"
	EventDraw             EventType = "draw"
	EventNoResult         EventType = "no_result"
)

// Event is something that happened in a match. Its Key comes from the source (innings, ball, batter), never from
// the poller, so that two pollers, a restart and a revision all mean the same event by the same key.
type Event struct {
	Key     string    `dynamodbav:"eventKey" json:"key"`
	Type    EventType `dynamodbav:"type" json:"type"`
	Text    string    `dynamodbav:"text" json:"text"`
	At      time.Time `dynamodbav:"at" json:"at"` // when it was confirmed
	Innings int       `dynamodbav:"innings" json:"innings"`
	Over    string    `dynamodbav:"over,omitempty" json:"over,omitempty"` // label of the ball, "12.4"
	BallID  int64     `dynamodbav:"ballId,omitempty" json:"ballId,omitempty"`
	Detail  string    `dynamodbav:"detail,omitempty" json:"detail,omitempty"`   // kind of wicket, cause of an innings end
	Alert   bool      `dynamodbav:"alert" json:"alert"`                         // claimed: phones are told, once
	Dropped string    `dynamodbav:"dropped,omitempty" json:"dropped,omitempty"` // why not: the rule's name
}
